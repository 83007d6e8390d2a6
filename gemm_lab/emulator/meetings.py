"""Named barriers at which some warps of a block meet: what each warp knows of the others of its block.

A warp has a clock that ticks whenever it comes to such a barrier, and remembers the last tick of every other warp that
it knows to be over: a vector clock, as in `races`. Who waits learns what all know that have come; who only arrives
(bar.arrive) learns nothing.

A barrier begins anew as soon as enough threads have come. Whoever comes then must know that it has: by having waited
there, or by a later barrier. Otherwise warps may meet that were not meant to.
"""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.threads import Threads

NAMED = 16    # a block has 16 barriers, numbered from 0
NOBODY = np.iinfo(np.int32).max


class Meetings:
    """Of one batch. A warp is numbered in the batch, a barrier is block * NAMED + its number."""

    def __init__(self, threads: Threads):
        self.per_block = threads.launch.warps
        warps, barriers = threads.blocks * self.per_block, threads.blocks * NAMED
        self.now = np.ones(warps, np.int32)
        self.over = np.zeros((warps, self.per_block), np.int32)          # what each warp knows of each of its block
        self.news = np.zeros((barriers, self.per_block), np.int32)       # what those know that have come, and
        self.come = np.zeros((barriers, self.per_block), bool)           # who they are
        self.last = np.full((barriers, self.per_block), -1, np.int32)    # who waited the last time: their ticks

    def arrive(self, warps: np.ndarray, barriers: np.ndarray) -> np.ndarray:
        """Each of these warps comes to a barrier. Where the barrier may be another than it was meant to be."""
        own = warps % self.per_block
        early = self.come[barriers, own]
        self.over[warps, own] = self.now[warps]
        self.now[warps] += 1
        early |= ~(self.over[warps] > self.last[barriers]).any(axis=1)
        np.maximum.at(self.news, barriers, self.over[warps])
        self.come[barriers, own] = True
        return early

    def meet(self, warps: np.ndarray, barriers: np.ndarray) -> None:
        """The barriers open for these warps, which have come and waited."""
        self.over[warps] = np.maximum(self.over[warps], self.news[barriers])
        self.begin_anew(np.unique(barriers), NOBODY)
        self.last[barriers, warps % self.per_block] = self.now[warps] - 1

    def begin_anew(self, barriers: np.ndarray, last: int = -1) -> None:
        """Nobody has come to these barriers yet; and, unless it is said who was there last, all know that."""
        self.news[barriers], self.come[barriers], self.last[barriers] = 0, False, last

    def all_met(self, blocks: np.ndarray) -> None:
        """All threads of these blocks have met: all know of every barrier that is over."""
        self.last.reshape(-1, NAMED, self.per_block)[blocks] = -1

    def ordered(self, earlier: np.ndarray, tick: np.ndarray, now: np.ndarray) -> np.ndarray:
        """Whether a warp that is at work `now` knows that the tick of another of its block is over."""
        return self.over[now, earlier % self.per_block] >= tick
