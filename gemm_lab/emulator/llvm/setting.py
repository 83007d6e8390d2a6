"""What all workers of a launch share: how an arena starts, what the warps of a block start with, shared memory."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator import memory as mem
from gemm_lab.emulator import watched
from gemm_lab.emulator.flow import EXIT
from gemm_lab.emulator.llvm.code import Code
from gemm_lab.emulator.llvm.loops import BUDGET
from gemm_lab.emulator.llvm.structures import WINDOW, seen, zeros
from gemm_lab.emulator.machine import Execution
from gemm_lab.emulator.threads import Launch, Threads


@lru_cache(maxsize=64)
def special_registers(launch: Launch) -> dict[str, np.ndarray]:
    """The special registers of the threads of a block."""
    return Threads(launch, 0, 1).special_registers()


class Setting:
    """A kernel, made ready for one launch. Puts the kernel's own variables into the launch's memory."""

    def __init__(self, code: Code, execution: Execution):
        self.code, self.execution, self.launch = code, execution, execution.launch
        addresses = mem.symbols(execution.program.variables, execution.memory)
        self.watched = watched.written(execution.program.targets, execution.memory, execution.arguments, addresses)
        variables = [v for v in execution.program.variables.values() if v.space == "shared"]
        places, size = mem.layout(variables, self.launch.shared_bytes)
        self.shared = mem.Shared(places, size, 1, mem.SHARED_FILL)
        self.local = mem.Local(code.arena.local_variables, 0, 1, 0)
        self.symbols = addresses | self.shared.addresses() | self.local.addresses()
        self.specials = special_registers(self.launch)
        self.next_block = np.zeros(1, np.int64)

    @cached_property
    def start(self) -> np.ndarray:
        """How an arena starts."""
        start = self.code.start.copy()
        for (what, kind, *value), place in self.code.constants.items():
            data = np.frombuffer(self.constant(what, kind, *value), np.uint8)
            start[place:place + len(data)] = data
        return start

    def constant(self, what: str, kind: str, *value) -> bytes:
        """A constant in every lane: see `operands`."""
        if what == "symbol":
            name, offset = value
            return np.full(WARP, self.symbols.get(name, 0) + offset, np.int64).tobytes()
        if what == "special":    # the same in all warps
            return np.resize(self.specials[value[0]], WARP).tobytes()
        if what == "parameter":
            name, first = value
            return self.execution.arguments[name][first:first + int(kind[1:]) // 8] * WARP
        if what == "nothing":
            return b""
        if kind == "pred":
            return (b"\0" if value[0] == b"\0" else b"\xff") * 4
        return value[0] * WARP

    @cached_property
    def windows(self) -> np.ndarray:
        """A row for each warp of a block: its window at the start."""
        first, size = WINDOW.pcs.at, self.code.arena.window_end - WINDOW.pcs.at
        windows = zeros(self.launch.warps * size).reshape(-1, size)
        limit = self.execution.step_limit
        for warp, window in enumerate(windows):
            lanes = np.arange(warp * WARP, (warp + 1) * WARP)
            row = seen(window, WINDOW)
            row["pcs"] = np.where(lanes < self.launch.threads, 0, EXIT)
            row["budget"] = BUDGET if limit is None else limit
            for name, place in self.code.arena.special.items():
                values = np.resize(self.specials[name], self.launch.threads)[lanes % self.launch.threads]
                window[place - first:][:values.nbytes] = values.view(np.uint8)
        return windows

    @cached_property
    def numbers(self) -> np.ndarray:
        """The number of each lane of a block, from 1, for those who touch a word: see `races`."""
        lanes = np.arange(self.launch.warps * WARP, dtype=np.uint32)
        return 1 + (lanes if self.execution.check else lanes // WARP)

    @property
    def numbers_in_block(self) -> int:
        return self.launch.warps * (WARP if self.execution.check else 1)
