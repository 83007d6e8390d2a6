"""Barriers: who waits where, and when a barrier opens.

A barrier opens for a block when all of its threads that still live wait at it (threads that have finished no longer
count: compute capability 7 and later), or when as many have come as the barrier asks for. Between two barriers lies an
epoch.
"""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.flow import EXIT
from gemm_lab.emulator.reports import Stop, finding

NAMED = 16    # a block has 16 barriers, numbered from 0


class Barriers:
    """The barriers of one batch. Arrays have one entry for each thread."""

    def __init__(self, batch):
        n = batch.threads.n
        self.batch = batch
        self.waiting = np.zeros(n, bool)
        self.at = np.zeros(n, np.int64)          # basic block that ends with the barrier
        self.number = np.zeros(n, np.int64)
        self.expected = np.zeros(n, np.int64)    # threads that must come; 0: all that live
        self.vote = np.zeros(n, bool)
        self.yes, self.everyone = np.zeros(n, np.int32), np.zeros(n, np.int32)    # the last vote's result

    def wait(self, code) -> None:
        """The current group waits at the barrier that ends `code`."""
        batch = self.batch
        members = batch.group.members
        self.waiting[members] = True
        self.at[members] = batch.at
        self.number[members] = code.number(batch)
        self.expected[members] = code.expected(batch) if code.expected else 0
        self.vote[members] = code.vote(batch) if code.vote else False

    def open(self) -> None:
        """Open every barrier at which enough threads wait."""
        if not self.waiting.any():
            return
        threads = self.batch.threads
        size = threads.blocks * NAMED
        barrier = threads.block * NAMED + self.number
        come = np.bincount(barrier[self.waiting], minlength=size)
        living = np.bincount(threads.block[self.batch.pc != EXIT], minlength=threads.blocks)
        expected = np.zeros(size, np.int64)
        expected[barrier[self.waiting]] = self.expected[self.waiting]
        enough = (come > 0) & (come >= np.where(expected > 0, expected, np.repeat(living, NAMED)))
        released = self.waiting & enough[barrier]
        if released.any():
            self._release(released, barrier, size)

    def _release(self, released: np.ndarray, barrier: np.ndarray, size: int) -> None:
        self._check_warps(released)
        yes = np.bincount(barrier[released & self.vote], minlength=size)
        everyone = np.bincount(barrier[released], minlength=size)
        self.yes[released], self.everyone[released] = yes[barrier[released]], everyone[barrier[released]]
        self.waiting[released] = False
        self.batch.passed_barrier(np.unique(self.batch.threads.block[released]))

    def _check_warps(self, released: np.ndarray) -> None:
        """The threads of a warp must wait at the same barrier instruction."""
        threads = self.batch.threads
        who = np.flatnonzero(released)
        parted = (threads.warp[who[1:]] == threads.warp[who[:-1]]) & (self.at[who[1:]] != self.at[who[:-1]])
        for i in np.flatnonzero(parted)[:1]:
            one, other = who[i], who[i + 1]
            self.batch.findings.add(finding(
                "barrier-divergence", self.line(one), f"{threads.who(one)} waits at this barrier, and thread "
                f"{threads.thread(other)} of the same warp at the one in line {self.line(other)}; a warp must reach a "
                "barrier together", self.line(other)))

    def line(self, thread: int) -> int | None:
        """The line of the barrier at which a thread waits."""
        return self.batch.program.codes[int(self.at[thread])].end.line

    def deadlock(self) -> Stop:
        """The finding where threads wait and nobody else can run."""
        threads = self.batch.threads
        one = int(self.waiting.argmax())
        mine = self.waiting & (threads.block == threads.block[one])
        others = np.flatnonzero(mine & ((self.at != self.at[one]) | (self.number != self.number[one])))
        if len(others):
            other = int(others[0])
            return Stop(finding(
                "barrier-divergence", self.line(one), f"{threads.who(one)} waits at this barrier for ever: thread "
                f"{threads.thread(other)} of its block waits at the one in line {self.line(other)}", self.line(other)))
        return Stop(finding("barrier-divergence", self.line(one), f"{threads.who(one)} waits at this barrier for "
                            f"{self.expected[one]} threads, but only {int(mine.sum())} come"))
