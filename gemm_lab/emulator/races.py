"""Check mode: races in shared memory, and reads of what nobody wrote.

Two threads race if both touch the same place, at least one of them writes, and nothing orders the two. A barrier orders
all threads of a block: it ends an *epoch*, and accesses of different epochs never race. __syncwarp orders the threads
of a warp, and a named barrier some warps of a block (`meetings`); who knows of whom is kept in vector clocks (Lamport
1978; Flanagan and Freund, "FastTrack", 2009). Who has got a lock or a ticket, or saw a flag, knows what came before
(`global_races`). Since
lockstep execution may produce the right values in spite of a race, values prove nothing: this bookkeeping does.

For every place the last writer is remembered, and two readers: the last one, and one of another warp if there is any.
Most epochs only read. So reads are first put aside, and entered only when somebody writes in the same epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator.departures import Departures
from gemm_lab.emulator.global_races import GlobalRaces
from gemm_lab.emulator.meetings import Meetings
from gemm_lab.emulator.memory import Access, Region, Shared
from gemm_lab.emulator.record import Record
from gemm_lab.emulator.reports import Findings, because, cxx_name, finding, unwritten_shared
from gemm_lab.emulator.requests import Reach
from gemm_lab.emulator.threads import Group, Threads

MAX_ASIDE = 256    # reads put aside before they are entered


class EpochRecord(Record):
    """Also in which epoch, at which tick of the warp's clock (`meetings`), and at which moment of the launch's clock
    (`global_races`); times are those of the thread."""

    def __init__(self, places: int):
        super().__init__(places)
        self.epoch = np.full(places, -1, np.int32)
        self.tick, self.moment = np.zeros(places, np.int32), np.zeros(places, np.int64)

    def enter(self, where, by: Present) -> None:
        self.set(where, by.thread, by.time, by.access)
        self.epoch[where], self.tick[where], self.moment[where] = by.epoch, by.tick, by.moment


@dataclass
class Present:
    """The threads that access now: their numbers, epochs and warp-level times, and the ticks of their warps."""
    access: Access
    region: Region
    thread: np.ndarray
    epoch: np.ndarray
    time: np.ndarray
    tick: np.ndarray
    moment: int | np.ndarray

    def some(self, chosen) -> Present:
        return Present(self.access, self.region, self.thread[chosen], self.epoch[chosen], self.time[chosen],
                       self.tick[chosen], np.broadcast_to(self.moment, self.thread.shape)[chosen])


class Races:
    """The bookkeeping for the shared memory of one batch. A place is as large as the kernel's smallest access to it."""

    def __init__(self, threads: Threads, accesses: Sequence[Access], shared: Shared, findings: Findings,
                 departures: Departures, global_races: GlobalRaces, meetings: Meetings | None, tracked: bool):
        self.global_races, self.meetings = global_races, meetings
        self.threads, self.accesses, self.findings, self.stride = threads, accesses, findings, shared.stride
        self.departures, self.tracked = departures, tracked
        self.granule = min([4, *(a.element_bytes for a in accesses if a.space in ("shared", None))])
        self.is_atomic, self.is_cas, self.feeds_cas = (np.array([*map(test, accesses), False]) for test in (
            lambda a: a.action == "atomic", lambda a: a.cas, lambda a: a.feeds_cas))
        self.is_signal, self.waits = (np.array([*map(test, accesses), False]) for test in (
            lambda a: a.signal, lambda a: a.signal and a.polls))
        self.tells = [a.signal and np.issubdtype(a.dtype, np.integer) and a.space in ("shared", None) for a in accesses]
        places = max(threads.blocks * shared.stride // self.granule, 1)
        self.written, self.all_written = np.zeros(places, bool), False
        self.writer, self.reader, self.other_reader = (EpochRecord(places) for _ in range(3))
        self.epoch = np.zeros(threads.blocks, np.int32)
        self.write_epoch = np.full(threads.blocks, -1, np.int32)    # the last one with a write
        self.time = np.ones(threads.n, np.int32)              # of each thread: counts its warp-level syncs
        self.known: np.ndarray | None = None    # [thread, lane]: the time of that lane that the thread has seen
        self.aside: list[tuple[Reach, int]] = []    # with their moments

    # ---- order

    def barrier(self, blocks: np.ndarray) -> None:
        """All threads of these blocks have met."""
        if len(blocks) == self.threads.blocks:
            self.aside.clear()
        else:
            self.enter_reads()
        self.epoch[blocks] += 1
        self.all_written = bool(self.written.all())

    def warp_sync(self, group: Group, mask) -> None:
        """The group's threads that are in the mask have met: in each warp, those that name the same mask."""
        self.enter_reads()
        bits = np.broadcast_to(mask, (group.n,)).astype(np.int64)
        chosen = (bits >> group.lane & 1).astype(bool)
        members, row, bits = group.members[chosen], group.row[chosen], bits[chosen]
        if len(members) == 0:
            return
        if (bits != bits[0]).any():
            order = np.lexsort((bits, row))
            members, row, bits = members[order], row[order], bits[order]
        if self.known is None:
            self.known = np.zeros((self.threads.n, WARP), np.int32)
        self.known[members, self.threads.lane[members]] = self.time[members]
        new_set = np.concatenate(([True], (row[1:] != row[:-1]) | (bits[1:] != bits[:-1])))
        together = np.maximum.reduceat(self.known[members], np.flatnonzero(new_set))
        self.known[members] = together[np.cumsum(new_set) - 1]
        self.time[members] += 1

    def unordered(self, record: EpochRecord, where, by: Present) -> np.ndarray:
        """Where the recorded access is of another thread, and nothing orders it before the present one."""
        earlier = record.thread[where]
        conflict = (earlier != by.thread) & (record.epoch[where] == by.epoch)
        if self.known is not None and conflict.any():
            same_warp = self.threads.warp[earlier] == self.threads.warp[by.thread]
            conflict &= ~(same_warp & (self.known[by.thread, self.threads.lane[earlier]] >= record.time[where]))
        if self.meetings is not None and conflict.any():
            conflict &= ~self.meetings.ordered(self.threads.warp[earlier], record.tick[where],
                                               self.threads.warp[by.thread])
        if self.global_races.informed and conflict.any():
            conflict[conflict] = ~self.global_races.told(earlier[conflict], record.moment[where][conflict],
                                                         by.thread[conflict])
        return conflict

    # ---- accesses

    def read(self, reach: Reach) -> None:
        """A group reads shared memory."""
        if not self.all_written or (self.write_epoch == self.epoch).any():
            by = self._present(reach.group, reach.access, reach.region)
            for where in self._places(reach.access, reach.positions()):
                self._uninitialized(by, where)
                conflict = self.unordered(self.writer, where, by)
                if reach.access.feeds_cas:    # it may be out of date: the compare-and-swap will notice
                    conflict &= ~self.is_cas[self.writer.access[where]]
                if self.waits[reach.access.number]:
                    conflict &= ~self.is_signal[self.writer.access[where]]
                    self.global_races.hear(by.thread, self.writer, where)
                self._report(by, self.writer, where, conflict)
        self.aside.append((reach, self.global_races.time))
        if len(self.aside) >= MAX_ASIDE:
            self.enter_reads()

    def write(self, group: Group, access: Access, region: Region, positions: np.ndarray, values) -> None:
        """A group writes `access.bytes` bytes at each of these positions in shared memory.

        `values` None means an atomic update, which reads, too, and does not race with other atomics.
        """
        by = self._present(group, access, region)
        kept = _keeps_value(by, positions, values) if values is not None else None
        tells = self.tells[access.number]
        for where in self._places(access, positions):
            if values is None:
                self._uninitialized(by, where)
                if tells:
                    self.global_races.hear(by.thread, self.writer, where)
                kept = self.is_atomic[self.writer.access[where]]
            if tells:
                by.moment = self.global_races.tell(access, by.thread, where)
            self._enter_write(by, where, kept)
            self.written[where] = True
            if values is not None:
                self._written_twice(by, where, values)

    def under_way(self, group: Group, access: Access, region: Region, positions: np.ndarray) -> None:
        """An asynchronous copy may write here at any time from now until it lands."""
        by = self._present(group, access, region)
        for where in self._places(access, positions):
            self._enter_write(by, where, np.False_)

    def _enter_write(self, by: Present, where: np.ndarray, harmless) -> None:
        """Report what is not ordered before this write; other writes are no matter where they are `harmless`."""
        self.enter_reads()
        self._report(by, self.writer, where, self.unordered(self.writer, where, by) & ~harmless)
        for record in (self.reader, self.other_reader):
            conflict = self.unordered(record, where, by)
            if by.access.cas:
                conflict &= ~self.feeds_cas[record.access[where]]
            if by.access.signal:
                conflict &= ~self.waits[record.access[where]]
            self._report(by, record, where, conflict)
        self.writer.enter(where, by)
        self.write_epoch[self.threads.block[by.thread]] = by.epoch

    def _present(self, group: Group, access: Access, region: Region, moment: int | None = None) -> Present:
        thread = group.members.astype(np.int32)
        tick = np.zeros_like(thread) if self.meetings is None else self.meetings.now[group.of(self.threads.warp)]
        moment = self.global_races.time if moment is None else moment
        return Present(access, region, thread, self.epoch[group.of(self.threads.block)], group.of(self.time).copy(),
                       tick, moment)

    def _places(self, access: Access, positions: np.ndarray) -> list[np.ndarray]:
        first = positions // self.granule
        return [first + k if k else first for k in range(max(access.bytes // self.granule, 1))]

    def enter_reads(self) -> None:
        """Enter the reads that were put aside."""
        reads, self.aside = self.aside, []
        for reach, moment in reads:
            by = self._present(reach.group, reach.access, reach.region, moment)
            for where in self._places(reach.access, reach.positions()):
                self._enter_read(where, by)

    def _enter_read(self, where: np.ndarray, by: Present) -> None:
        before = self.reader.thread[where]
        from_other_warp = self.threads.warp[before] != self.threads.warp[by.thread]
        self.other_reader.move(where[(self.reader.epoch[where] == by.epoch) & from_other_warp], self.reader)
        self.reader.enter(where, by)
        # Several threads read one place at once: the last one is remembered, and a second one, best of another warp.
        lost = np.flatnonzero(self.reader.thread[where] != by.thread)
        same_warp = self.threads.warp[self.reader.thread[where[lost]]] == self.threads.warp[by.thread[lost]]
        for chosen in (lost[same_warp], lost[~same_warp]):
            self.other_reader.enter(where[chosen], by.some(chosen))

    def _written_twice(self, by: Present, where: np.ndarray, values) -> None:
        """Several threads of this very access write different values to one place."""
        lost = self.writer.thread[where] != by.thread
        if not lost.any():
            return
        winner = np.searchsorted(by.thread, self.writer.thread[where])
        differs = np.zeros(len(where), bool)
        for value in values:
            value = _bits(np.broadcast_to(value, (len(where),)))
            differs |= value[winner] != value
        self._report(by, self.writer, where, lost & differs)

    # ---- findings

    def _uninitialized(self, by: Present, where: np.ndarray) -> None:
        missing = ~self.written[where]
        if not self.tracked and missing.any() and not self.findings.has("uninitialized", by.access.line):
            i = int(missing.argmax())
            who, place = self.threads.who(by.thread[i]), self._place(by.region, where[i])
            self.findings.add(unwritten_shared(by.access.line, who, place, self.departures,
                                               int(self.threads.block[by.thread[i]])))

    def _report(self, by: Present, record: EpochRecord, where: np.ndarray, conflict: np.ndarray) -> None:
        if not conflict.any():
            return
        numbers = record.access[where]
        for number in np.unique(numbers[conflict]):
            i = int((conflict & (numbers == number)).argmax())
            self._add_race(by, self.accesses[number], where[i], int(by.thread[i]), int(record.thread[where[i]]))

    def _add_race(self, by: Present, other: Access, place: int, me: int, them: int) -> None:
        threads, line = self.threads, by.access.line
        where = f"in line {other.line}" if other.line != line else "in the same line"
        self.findings.add(finding(
            "race", line, f"{threads.who(me)} {_VERB[by.access.action]} {self._place(by.region, place)}, which thread "
            f"{threads.thread(them)} {_VERB[other.action]} {where}; no barrier lies between, so the result depends on "
            f"which comes first{because(self.departures.sentence(int(threads.block[me])))}", other.line))

    def _place(self, region: Region, place: int) -> str:
        byte = int(place) * self.granule % self.stride - region.at
        where = f"word {byte // 4}" if self.granule == 4 else f"byte {byte}"
        return f"{where} of {cxx_name(region.name)}"


_VERB = {"load": "reads", "store": "writes", "atomic": "updates"}


def _bits(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.dtype.itemsize}")


def _keeps_value(by: Present, positions: np.ndarray, values) -> np.ndarray:
    """Where memory already holds what is to be written: the order of such writes makes no difference."""
    index, view = positions >> by.access.shift, by.region.view(by.access.dtype)
    kept = np.ones(len(positions), bool)
    for k, value in enumerate(values):
        kept &= _bits(view[index + k]) == _bits(value)
    return kept
