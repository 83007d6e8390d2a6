"""Loops that may be endless, noticed early. The NumPy back end says whether one is.

Every warp has a budget of instructions, so large that most launches never use it up. When it is spent, Python looks at
the loop in which the warp is: if a thread comes back to the head of a loop with the control state that it had before
(see `emulator.loops`), the launch is left to the NumPy back end. So it is if the warp has executed `step_limit`
instructions, for then some thread may have.
"""

from __future__ import annotations

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.structures import WINDOW, seen
from gemm_lab.emulator.llvm.values import stored
from gemm_lab.emulator.loops import Control

BUDGET = 2**20     # instructions of a warp before the first look
LOOKS = 64         # basic blocks, one after the other, that make one look
LONGER = 4         # the budget until the next look is so much larger
_LANES = np.arange(WARP)


class Watch:
    """Looks at the warps of one worker."""

    def __init__(self, worker):
        self.worker, self.controls = worker, worker.code.program.controls
        self.block = 0                                # the block of the grid, counted by the worker
        self.looks: dict[int, int] = {}               # warp -> basic blocks at which it was looked at
        self.states: dict[tuple, np.ndarray] = {}     # warp and loop -> control state, with a column for each lane

    def look(self, block: int) -> None:
        """The warp that runs has spent its budget as it enters a basic block."""
        worker, warp = self.worker, int(self.worker.context["warp"])
        if worker.started != self.block:
            self.block, self.looks, self.states = worker.started, {}, {}
        looks = self.looks[warp] = self.looks.get(warp, 0) + 1
        if worker.setting.execution.step_limit is not None or self.repeats(warp, block):
            worker.stop()
        seen(worker.arena, WINDOW, WINDOW.pcs.at)["budget"] = (
            0 if looks % LOOKS else BUDGET * LONGER ** (looks // LOOKS))

    def repeats(self, warp: int, block: int) -> bool:
        """Whether an active lane is at the head of a loop again, and the loop in the state of the last look."""
        active, found = int(self.worker.context["active"]) >> _LANES & 1 != 0, False
        for (tail, head), control in self.controls.items():
            if head == block:
                before, now = self.states.get((warp, tail)), self.state(control)
                found |= before is not None and bool(((now == before).all(axis=0) & active).any())
                self.states[warp, tail] = now
        return found

    def state(self, control: Control) -> np.ndarray:
        """What decides whether a loop goes on: a row for each byte of a register, with a column for each lane."""
        arena, rows = self.worker.code.arena, [np.zeros((1, WARP), np.uint8)]
        for name in control.registers:
            kind, place = arena.kinds[name], arena.lasting[name]
            memory = self.worker.arena[place:place + stored(kind, WARP)]
            rows.append(np.unpackbits(memory, bitorder="little")[None] if kind == "pred" else
                        memory.reshape(WARP, -1).T.copy())
        return np.concatenate(rows)
