"""Barriers: who waits where, and when a barrier opens.

A barrier opens for a block when all of its threads that still live wait at it (threads that have finished no longer
count: compute capability 7 and later), or when as many have come as the barrier asks for. Between two barriers of all
threads lies an epoch; what a barrier of some warps orders, `meetings` remembers.
"""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.flow import EXIT
from gemm_lab.emulator.meetings import NAMED, Meetings
from gemm_lab.emulator.reports import Stop, finding


def known(number, n: int, line: int | None) -> np.ndarray:
    """The numbers of barriers for n threads; Stop where a block has no such barrier."""
    numbers = np.broadcast_to(np.asarray(number, np.int64), (n,))
    strange = numbers[(numbers < 0) | (numbers >= NAMED)]
    if len(strange):
        raise Stop(finding("unsupported", line, f"there is no barrier {strange[0]}: a block has {NAMED}, numbered from "
                                                "0"))
    return numbers


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
        self.arrived, self.wanted = np.zeros((2, batch.threads.blocks * NAMED), np.int64)    # see `arrive`
        self.meetings = Meetings(batch.threads) if batch.program.has_meetings else None

    def wait(self, code) -> None:
        """The current group waits at the barrier that ends `code`."""
        batch = self.batch
        members = batch.group.members
        self.waiting[members] = True
        self.at[members] = batch.at
        self.number[members] = known(code.number(batch), batch.group.n, code.end.line)
        self.expected[members] = code.expected(batch) if code.expected else 0
        self.vote[members] = code.vote(batch) if code.vote else False

    def arrive(self, number, expected, line: int | None) -> None:
        """The current group comes to a barrier (bar.arrive) and goes on."""
        group = self.batch.group
        barrier = group.of(self.batch.threads.block) * NAMED + known(number, group.n, line)
        np.add.at(self.arrived, barrier, 1)
        self.wanted[barrier] = expected
        self._note_arrival(group.members, barrier, lambda thread: line)

    def open(self) -> None:
        """Open every barrier to which enough threads have come."""
        if not self.waiting.any() and not (self.meetings and self.arrived.any()):
            return
        threads = self.batch.threads
        size = threads.blocks * NAMED
        barrier = threads.block * NAMED + self.number
        waiting = np.bincount(barrier[self.waiting], minlength=size)
        living = np.repeat(np.bincount(threads.block[self.batch.pc != EXIT], minlength=threads.blocks), NAMED)
        expected = np.where(self.arrived > 0, self.wanted, 0)
        expected[barrier[self.waiting]] = self.expected[self.waiting]
        come = waiting + self.arrived
        enough = (come > 0) & (come >= np.where(expected > 0, expected, living))
        released = self.waiting & enough[barrier]
        if self.meetings:
            self._check_expected(barrier, living)
            self._check_number(released, barrier, come, expected)
        if enough.any():
            self._release(released, barrier, enough, waiting == living)

    def _release(self, released: np.ndarray, barrier: np.ndarray, enough: np.ndarray, by_all: np.ndarray) -> None:
        self._check_warps(released)
        yes = np.bincount(barrier[released & self.vote], minlength=len(enough))
        everyone = np.bincount(barrier[released], minlength=len(enough))
        self.yes[released], self.everyone[released] = yes[barrier[released]], everyone[barrier[released]]
        self.waiting[released] = False
        by_all = by_all[barrier]
        if self.meetings:
            self._meet(np.flatnonzero(released & ~by_all), barrier)
            self.meetings.begin_anew(np.flatnonzero(enough & (everyone == 0)))
            self.arrived[enough] = 0
        blocks = self.batch.threads.block
        self.batch.passed_barrier(np.unique(blocks[released & by_all]), np.unique(blocks[released & ~by_all]))

    def _meet(self, threads: np.ndarray, barrier: np.ndarray) -> None:
        """These threads, not all of their blocks, pass the barriers at which they waited."""
        if len(threads) == 0:
            return
        self._note_arrival(threads, barrier[threads], self.line)
        warps, one = np.unique(self.batch.threads.warp[threads], return_index=True)
        self.meetings.meet(warps, barrier[threads[one]])

    def _note_arrival(self, threads: np.ndarray, barrier: np.ndarray, line_of) -> None:
        if self.batch.races is not None:
            self.batch.races.enter_reads()    # they came before the clocks tick
        warps, one = np.unique(self.batch.threads.warp[threads], return_index=True)
        early = self.meetings.arrive(warps, barrier[one])
        for i in one[early][:1]:
            line, number = line_of(threads[i]), barrier[i] % NAMED
            self.batch.findings.add(finding(
                "barrier-divergence", line, f"{self.batch.threads.who(threads[i])} comes to barrier {number}, where "
                "others have met before: nothing says that this was over, so its warp may be counted among them"))

    def _check_expected(self, barrier: np.ndarray, living: np.ndarray) -> None:
        """All that come to a barrier must name the same number of threads: PTX ISA, "bar"."""
        mine = np.where(self.expected > 0, self.expected, living[barrier])
        others = np.where(self.arrived > 0, self.wanted, 0)[barrier]
        for one in np.flatnonzero(self.waiting & (others > 0) & (mine != others))[:1]:
            self.batch.findings.add(finding(
                "barrier-divergence", self.line(one), f"{self.batch.threads.who(one)} waits at barrier "
                f"{self.number[one]} for {mine[one]} threads, and others have come to it as one of {others[one]}: all "
                "must name the same number"))

    def _check_number(self, released: np.ndarray, barrier: np.ndarray, come: np.ndarray, expected: np.ndarray) -> None:
        """No more threads may come than a barrier asks for: it opens for the first."""
        for one in np.flatnonzero(released & (come > expected)[barrier] & (expected > 0)[barrier])[:1]:
            self.batch.findings.add(finding(
                "barrier-divergence", self.line(one), f"{come[barrier[one]]} threads come to barrier "
                f"{self.number[one]}, which opens for {expected[barrier[one]]}: nothing says which of them meet"))

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
        come = int(mine.sum() + self.arrived[threads.block[one] * NAMED + self.number[one]])
        return Stop(finding("barrier-divergence", self.line(one), f"{threads.who(one)} waits at this barrier for "
                            f"{self.expected[one]} threads, but only {come} come"))
