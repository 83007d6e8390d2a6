"""Where the value in each register comes from, for each thread of the recorded block.

A *tag* is 4 * step + element for what a recorded step loaded or computed, -1 for anything else. Moves and selections
pass tags on; whatever else writes a register clears its tags.
"""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.operands import constant
from gemm_lab.emulator.ptx import Immediate, Instruction, Register
from gemm_lab.emulator.tracing.columns import Columns

MOVES = ("mov", "selp", "cvt")


class Tags:
    """The tags of all registers. `members` are numbers of threads in the block, `values` their entries."""

    def __init__(self, threads: int, columns: Columns):
        self.threads, self.columns = threads, columns
        self.of_register: dict[str, np.ndarray] = {}

    def of(self, operand, members: np.ndarray) -> np.ndarray:
        """The tags of an operand."""
        tags = self.of_register.get(operand.name) if isinstance(operand, Register) else None
        return np.full(len(members), -1) if tags is None else tags[members]

    def set(self, target, members: np.ndarray, tags) -> None:
        if isinstance(target, Register):
            if target.name not in self.of_register:
                self.of_register[target.name] = np.full(self.threads, -1)
            self.of_register[target.name][members] = tags

    def clear(self, i: Instruction) -> None:
        """An instruction writes something else into its registers."""
        for name in i.writes:
            self.of_register.pop(name, None)

    def move(self, i: Instruction, members: np.ndarray, predicate: np.ndarray | None) -> None:
        """mov, selp or cvt; `predicate` is what selp chooses by."""
        target, first, *others = i.operands
        if not isinstance(target, Register) or isinstance(first, tuple):
            return self.clear(i)
        tags = self.of(first, members)
        if predicate is not None:
            tags = np.where(predicate, tags, self.of(others[0], members))
        if target.name in self.of_register or (tags >= 0).any():
            self.set(target, members, tags)

    def source(self, operand, members: np.ndarray) -> int:
        """Where an operand comes from, as it is written down: see `trace`."""
        tags = self.of(operand, members)
        if (tags == tags[0]).all():
            return int(tags[0])
        return -2 - self.columns.put("mixed", tags)

    def operand(self, operand, members: np.ndarray, values) -> tuple[int, float]:
        """(source, constant) of an operand. `values`: a function that gives a register's values."""
        if isinstance(operand, Immediate):
            return -1, float(constant(operand.text, np.float32))
        source = self.source(operand, members)
        if source != -1 or not isinstance(operand, Register):
            return source, np.nan
        now = values(operand)
        same = now.dtype.kind == "f" and (now == now[0]).all()
        return -1, float(now[0]) if same else np.nan
