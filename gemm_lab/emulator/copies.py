"""Asynchronous copies from global to shared memory (cp.async): the data become visible only when the thread waits.

Each thread commits its copies in groups and waits for all groups but the newest few. What a missing wait does is then
seen: shared memory still holds what it held before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gemm_lab.copy_wavefronts import bypass_sectors, copy_wavefronts
from gemm_lab.emulator import counting, requests
from gemm_lab.emulator.memory import Access, Region
from gemm_lab.emulator.threads import Group


@dataclass
class Pending:
    """Copies under way: for each of `threads`, bytes that will land at a position of shared memory."""
    access: Access
    region: Region
    threads: np.ndarray
    commit: np.ndarray       # the thread's group to which the copy belongs
    positions: np.ndarray
    data: np.ndarray         # bytes, shape (threads, bytes of the access)
    loaded_in: int = -1      # step of the trace, in mode "trace"

    def some(self, chosen: np.ndarray) -> Pending:
        return replace(self, threads=self.threads[chosen], commit=self.commit[chosen],
                       positions=self.positions[chosen], data=self.data[chosen])


class Copies:
    """The copies under way of one batch."""

    def __init__(self, threads: int):
        self.commits = np.zeros(threads, np.int64)    # groups that each thread has committed
        self.pending: list[Pending] = []

    def commit(self, members: np.ndarray) -> None:
        self.commits[members] += 1

    def under_way(self, batch, copies: list[Pending] | None = None) -> None:
        """Tell the race detection that copies (None: all) may arrive at any time in this epoch."""
        if batch.races is not None:
            for copy in self.pending if copies is None else copies:
                batch.races.under_way(Group(batch.threads, copy.threads), copy.access, copy.region, copy.positions)

    def land(self, batch, members: np.ndarray, newest: int | None) -> None:
        """Deliver the copies of these threads, those of the `newest` groups excepted; None: the uncommitted, too."""
        left = []
        for copy in self.pending:
            done = np.isin(copy.threads, members)
            if newest is not None:
                done &= copy.commit < self.commits[copy.threads] - newest
            if done.any():
                deliver(batch, copy.some(done))
            if not done.all():
                left.append(copy.some(~done))
        self.pending = left


def deliver(batch, copy: Pending) -> None:
    """Put the bytes of a copy where they belong."""
    batch.stores += 1
    if batch.races is not None:
        words = list(np.ascontiguousarray(copy.data).view(np.int32).T)
        batch.races.write(Group(batch.threads, copy.threads), copy.access, copy.region, copy.positions, words)
    if batch.undefined is not None:
        batch.undefined.copied(copy.positions, copy.access.bytes)
    copy.region.storage[copy.positions[:, None] + np.arange(copy.access.bytes)] = copy.data
    if batch.recorder is not None:
        words = list(np.ascontiguousarray(copy.data).view(np.float32).T)
        batch.recorder.access(batch.spaces["shared"], copy.region, copy.access, Group(batch.threads, copy.threads),
                              copy.positions, words, copy.loaded_in)


def count(batch, writes: Access, target, reads: Access, source, brings: np.ndarray, bypass: bool) -> None:
    """Add a copy to the tally: a store to shared memory and, of the threads that bring something, a load.

    The load has no wavefronts of its own: what a copy brings passes the load/store pipe at most once, as it is stored.
    """
    group = batch.group
    to, from_, brings = (group.by_warp(np.broadcast_to(values, (group.n,)).astype(np.int64), idle)
                         for values, idle in ((target + writes.offset, -1), (source + reads.offset, -1), (brings, 0)))
    brings = brings.astype(bool)
    if bypass:
        passes, sectors = (0, 0), int(bypass_sectors(from_, to, brings).sum())
    else:
        passes = map(sum, copy_wavefronts(from_, to, writes.bytes, brings))
        sectors = counting.sectors(np.where(brings, from_, -1))
    batch.tally.add((writes.line, "shared", "store"), group.n * writes.words, (group.warps, 0, *map(int, passes)))
    batch.tally.add((reads.line, "global", "load"), int(brings.sum()) * reads.words,
                    (int(brings.any(axis=1).sum()), sectors, 0, 0))


def start(batch, writes: Access, target, reads: Access, source, valid, bypass: bool) -> None:
    """Read global memory now, and remember what is to arrive: `valid` bytes at most, then zeros. `bypass`: past L1."""
    group = batch.group
    valid = np.broadcast_to(valid, (group.n,))
    if batch.tally is not None:
        count(batch, writes, target, reads, source(batch), valid > 0, bypass)
    words = np.zeros((group.n, reads.width), np.int32)

    def read(b):
        values = requests.load(b, reads, source(b))
        if values is None:
            return requests.in_parts(b, reads, source(b), read)
        words[b.rank_in(group)] = np.stack([np.broadcast_to(v, (b.group.n,)) for v in values], axis=1)
    if (valid > 0).all():
        read(batch)
    elif (valid > 0).any():    # who copies nothing does not read: the address may be out of bounds
        batch.narrow(valid > 0, read)
    data = words.view(np.uint8)
    data[np.arange(writes.bytes) >= valid[:, None]] = 0
    targets = np.broadcast_to(target, (group.n,))
    loaded_in = batch.recorder.copying() if batch.recorder is not None else -1

    def write(b):
        chosen, members = b.rank_in(group), b.group.members
        place = requests.reach(b, writes, targets[chosen])
        if place is None:
            return requests.in_parts(b, writes, targets[chosen], write)
        copy = Pending(writes, place.region, members, b.copies.commits[members], place.positions(), data[chosen],
                       loaded_in)
        b.copies.pending.append(copy)
        b.copies.under_way(b, [copy])
    write(batch)
