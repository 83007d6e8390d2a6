"""Loops that may be endless, noticed early. The NumPy back end says whether one is.

Every warp has a budget of instructions, so large that most launches never use it up. When it is spent, Python looks at
the loop in which the warp is, as `emulator.loops` does: if a thread comes back to the head of a loop with the control
state that it had before, or if the threads have gone round more often than any number that the loop could be counting
to, the launch is left to the NumPy back end. So it is if the warp has executed `step_limit` instructions, for then some
thread may have.
"""

from __future__ import annotations

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.structures import WINDOW, seen
from gemm_lab.emulator.llvm.values import stored
from gemm_lab.emulator.loops import Control

BUDGET = 2**20     # instructions of a warp before the first look
LOOKS = 64         # basic blocks, one after the other, that make one look; after it the budget is twice as large
_LANES = np.arange(WARP)


class Watch:
    """Looks at the warps of one worker."""

    def __init__(self, worker):
        self.worker, self.execution = worker, worker.setting.execution
        self.loops = worker.code.program.controls     # (tail, head) -> Control
        self.block = 0                                # the block of the grid, counted by the worker,
        self.executed = np.zeros(0)                   # and `worker.executed()` when it was looked at first
        self.looks: dict[int, int] = {}               # warp -> basic blocks at which it was looked at
        self.states: dict[tuple, np.ndarray] = {}     # warp and loop -> control state, with a column for each lane

    def look(self, block: int) -> None:
        """The warp that runs has spent its budget as it enters a basic block."""
        worker, warp = self.worker, int(self.worker.context["warp"])
        if worker.started != self.block:
            self.block, self.executed, self.looks, self.states = worker.started, worker.executed(), {}, {}
        looks = self.looks[warp] = self.looks.get(warp, 0) + 1
        loops = [(loop, control) for loop, control in self.loops.items() if loop[1] == block]
        if self.execution.step_limit is not None or any(
                self.repeats(warp, *loop) or self.runs_away(*loop) for loop in loops):
            worker.stop()
        seen(worker.arena, WINDOW, WINDOW.pcs.at)["budget"] = 0 if looks % LOOKS else BUDGET << looks // LOOKS

    def runs_away(self, loop: tuple[int, int], control: Control) -> bool:
        """Whether the threads have gone round more often, on average, than any number that they could count to."""
        rounds = (self.worker.executed() - self.executed)[loop[1]] / self.execution.launch.threads
        return rounds > max(self.execution.largest, control.largest, self.execution.memory.largest())

    def repeats(self, warp: int, loop: tuple[int, int], control: Control) -> bool:
        """Whether an active lane is at the head of the loop with the same control state as at an earlier look."""
        active, now = int(self.worker.context["active"]) >> _LANES & 1 != 0, self.state(control)
        before, looks = self.states.get((warp, *loop)), self.looks[warp]
        if before is None or looks & (looks - 1) == 0:    # at powers of two: Brent's way to find a cycle
            self.states[warp, *loop] = now
        return before is not None and bool(((now == before).all(axis=0) & active).any())

    def state(self, control: Control) -> np.ndarray:
        """What decides whether a loop goes on: a row for each byte of a register, with a column for each lane."""
        arena, rows = self.worker.code.arena, [np.zeros((1, WARP), np.uint8)]
        for name in control.registers:
            kind, place = arena.kinds[name], arena.lasting[name]
            memory = self.worker.arena[place:place + stored(kind, WARP)]
            rows.append(np.unpackbits(memory, bitorder="little")[None] if kind == "pred" else
                        memory.reshape(WARP, -1).T.copy())
        return np.concatenate(rows)
