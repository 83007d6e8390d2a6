"""Whose turn it is. On a GPU the warps of a block run in any order; a correct kernel gives the same result in each."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gemm_lab.emulator.threads import Launch, Threads


class Lockstep:
    """All threads that can run are candidates: the whole block advances together."""

    def __init__(self, threads: Threads):
        pass

    def ready(self, runnable: np.ndarray) -> np.ndarray:
        """Which of the runnable threads may run now."""
        return runnable

    def opened(self, blocks: np.ndarray) -> None:
        """A barrier has opened in these blocks."""


class Turns:
    """In each block one warp runs until it blocks at a barrier or ends.

    Then comes the next warp of `order` that can run, and when `order` is used up, the lowest-numbered one.
    """

    def __init__(self, threads: Threads, order: tuple[int, ...] = ()):
        self.threads = threads
        self.left = [list(order) for _ in range(threads.blocks)]
        self.turn = np.full(threads.blocks, -1)

    def ready(self, runnable: np.ndarray) -> np.ndarray:
        t = self.threads
        warps = np.bincount(t.warp[runnable], minlength=t.blocks * t.launch.warps).reshape(t.blocks, -1) > 0
        has_turn = (self.turn >= 0) & warps[np.arange(t.blocks), self.turn]
        for block in np.flatnonzero(~has_turn & warps.any(axis=1)):
            self.turn[block] = self.next_warp(self.left[block], warps[block])
        return runnable & (t.warp_in_block == self.turn[t.block])

    @staticmethod
    def next_warp(left: list[int], can_run: np.ndarray) -> int:
        while left:
            warp = left.pop(0)
            if can_run[warp]:
                return warp
        return int(can_run.argmax())

    def opened(self, blocks: np.ndarray) -> None:
        """A barrier has opened in these blocks. Reaching one ends a turn, also for the warp that came last."""
        self.turn[blocks] = -1


def schedule_maker(schedule, launch: Launch):
    """A function from Threads to a schedule; ValueError for a schedule that does not exist."""
    if isinstance(schedule, str):
        if schedule not in ("lockstep", "warps"):
            raise ValueError(f"schedule is {schedule!r}; it must be 'lockstep', 'warps' or a sequence of warp numbers")
        return Lockstep if schedule == "lockstep" else Turns
    order = tuple(schedule) if isinstance(schedule, Iterable) else None
    if order is None or not all(isinstance(w, (int, np.integer)) and not isinstance(w, bool) for w in order):
        raise ValueError(f"schedule is {schedule!r}; it must be 'lockstep', 'warps' or a sequence of warp numbers")
    wrong = [w for w in order if not 0 <= w < launch.warps]
    if wrong:
        raise ValueError(f"schedule names warp {wrong[0]}; a block of {launch.threads} threads has "
                         f"{launch.warps} warps, numbered from 0")
    return lambda threads: Turns(threads, order)
