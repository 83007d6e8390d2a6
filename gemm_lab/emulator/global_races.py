"""Check mode: races in global memory, between all threads of a launch.

The order of things is kept in one clock, which ticks at every access to a watched array and at every barrier. For each
place the last store, the last atomic update and two readers are remembered, with their times. An access of another
thread is ordered before the present one if since then

- the block of both has passed a barrier, or their warp a __syncwarp;
- or the other thread has *published* what it did, and the present one has *acquired* that. Atomics do both, and so do
  the loads and stores of a flag. A barrier or a __syncwarp shares with the others: what came before it is published by
  any of them, and what one has acquired all have. Whose news it was is not asked: rather no accusation than a wrong
  one. Another block can rely on it only if a __threadfence lies between what was done and what publishes it: of the
  thread that did it, or of the one that publishes, after they met. An atomic whose old value is used needs none: it is
  done when the value comes. Nor does the news itself: who has read a flag writes to it after what was read.

Blocks are never ordered otherwise. Only arrays to which the kernel could write are watched (see `watched`); accesses to
the others cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator.memory import Access, Region
from gemm_lab.emulator.record import Record
from gemm_lab.emulator.reports import Findings, element_of, finding
from gemm_lab.emulator.requests import Reach
from gemm_lab.emulator.threads import Launch, Threads, coordinates

MAX_ASIDE = 256    # reads put aside before they are entered
NEVER = np.iinfo(np.int64).max


@dataclass
class Present:
    """Threads that access an array now: their numbers in the launch (`thread`) and in the batch (`member`)."""
    access: Access
    region: Region
    thread: np.ndarray
    member: np.ndarray
    time: int | np.ndarray


@dataclass
class Publication:
    """Threads publish what they, and those they met, have done: when, and when their last barrier was, their last
    __syncwarp, their last fence, and the last barrier and __syncwarp before that fence (0: never). `meeting` is the
    number of the `Meeting` that came last, 0 if there was none."""
    thread: np.ndarray
    time: np.ndarray
    barrier: np.ndarray
    sync: np.ndarray
    fence: np.ndarray
    fence_barrier: np.ndarray
    fence_sync: np.ndarray
    meeting: np.ndarray


@dataclass
class Meeting:
    """Threads of a batch have met, at a barrier or a __syncwarp: when each thread from `first` on had fenced last."""
    first: int
    fenced: np.ndarray

    def had_fenced(self, thread: np.ndarray, moment: int) -> np.ndarray:
        """Whether each of these threads of the launch had fenced after a moment."""
        here = (thread >= self.first) & (thread < self.first + len(self.fenced))
        return here & (self.fenced[np.where(here, thread - self.first, 0)] > moment)


class Shadow:
    """What is remembered of one array. A place is as large as the kernel's smallest access."""

    def __init__(self, region: Region, granule: int, threads: int):
        self.region = region
        dtype = np.int32 if threads < 2**31 else np.int64
        self.stored, self.updated, self.reader, self.other_reader = (
            Record(-(-region.size // granule), dtype) for _ in range(4))
        self.written = False
        self.aside: list[tuple[Reach, Present]] = []    # reads that are not entered yet


class GlobalRaces:
    """The bookkeeping for one launch. `begin` is called for every batch of blocks."""

    def __init__(self, launch: Launch, accesses: Sequence[Access], findings: Findings):
        self.launch, self.accesses, self.findings = launch, accesses, findings
        self.granule = min([4, *(a.element_bytes for a in accesses if a.space in ("global", None))])
        self.signals, self.polls, self.is_cas, self.feeds_cas, self.answered = (
            np.array([*map(test, accesses), False]) for test in (
                lambda a: a.signal, lambda a: a.polls, lambda a: a.cas, lambda a: a.feeds_cas, lambda a: a.answered))
        self.time = 0
        self.shadows: dict[int, Shadow] = {}
        self.published: list[Publication] = []
        self.fenced: np.ndarray | None = None    # of each thread of the launch, once there is any: its last fence
        self.meetings: list[Meeting] = []        # those since which somebody had fenced
        self.fenced_since = False                # the last of these

    def begin(self, threads: Threads) -> None:
        """Other blocks run from now on."""
        self.threads = threads
        self.first = threads.first_block * self.launch.threads
        self.barrier_time = np.zeros(threads.blocks, np.int64)    # of each block: its last barrier
        self.sync_time = np.zeros(threads.n, np.int64)            # of each thread: its last __syncwarp
        self.acquired = np.zeros(threads.n, np.int64)    # of each thread: it knows what was published until then
        self.synced = self.informed = False              # whether any of these is not 0
        self.fence_barrier = np.zeros(threads.n, np.int64)    # of each thread: the last barrier before its last fence,
        self.fence_sync = np.zeros(threads.n, np.int64)       # and the last __syncwarp

    # ---- order

    def barrier(self, blocks: np.ndarray) -> None:
        """All threads of these blocks have met."""
        self.time += 1
        self.barrier_time[blocks] = self.time
        self._meet()
        if self.informed:
            of_block = self.acquired.reshape(self.threads.blocks, -1)
            of_block[blocks] = of_block[blocks].max(axis=1, keepdims=True)

    def warp_sync(self, group, mask) -> None:
        """The group's threads that are in the mask have met, warp by warp."""
        bits = np.broadcast_to(mask, (group.n,)).astype(np.int64)
        members = group.members[(bits >> group.lane & 1).astype(bool)]
        self.time += 1
        self.sync_time[members], self.synced = self.time, True
        self._meet()
        if self.informed:
            best = np.zeros(self.threads.blocks * self.launch.warps, np.int64)
            np.maximum.at(best, self.threads.warp[members], self.acquired[members])
            self.acquired[members] = best[self.threads.warp[members]]

    def _meet(self) -> None:
        if self.fenced_since:
            self.meetings.append(Meeting(self.first, self.fenced[self.first:self.first + self.threads.n].copy()))
            self.fenced_since = False

    def fence(self, group) -> None:
        """__threadfence: all blocks see what these threads, and those they met, have done before what they do next."""
        if self.fenced is None:
            self.fenced = np.zeros(self.launch.blocks * self.launch.threads, np.int32)
        self.time += 1
        members = group.members
        self.fenced[members + self.first], self.fenced_since = self.time, True
        self.fence_barrier[members] = self.barrier_time[self.threads.block[members]]
        self.fence_sync[members] = self.sync_time[members]

    def unordered(self, record: Record, where: np.ndarray, by: Present) -> np.ndarray:
        """Where the recorded access is of another thread, and nothing orders it before the present one."""
        earlier = record.thread[where]
        conflict = (earlier >= 0) & (earlier != by.thread)
        if not conflict.any():
            return conflict
        time, block = record.time[where], self.threads.block[by.member]
        same_block = earlier // self.launch.threads == block + self.threads.first_block
        conflict &= ~(same_block & (time < self.barrier_time[block]))
        if self.synced:
            here = np.where(same_block, earlier - self.first, 0)
            same_warp = same_block & (self.threads.warp[here] == self.threads.warp[by.member])
            conflict &= ~(same_warp & (time < np.minimum(self.sync_time[here], self.sync_time[by.member])))
        if self.informed and conflict.any():
            acquired = self.acquired[by.member[conflict]]
            no_fence = (same_block | self.answered[record.access[where]])[conflict]
            conflict[conflict] = ~self._known(earlier[conflict], time[conflict], acquired, no_fence)
        return conflict

    def told(self, earlier: np.ndarray, time: np.ndarray, now: np.ndarray) -> np.ndarray:
        """Whether threads of the batch that are at work now know what others of their block did at a time."""
        return self._known(earlier + self.first, time, self.acquired[now], np.ones(len(now), bool))

    def _known(self, thread: np.ndarray, time: np.ndarray, acquired: np.ndarray, no_fence: np.ndarray) -> np.ndarray:
        """Whether what a thread did at a time was published early enough to be acquired, by a thread that can rely on
        it without a fence or by one that cannot."""
        if not self.published:
            return np.zeros(len(thread), bool)
        news = Publication(*(np.concatenate(column) for column in zip(*(vars(p).values() for p in self.published))))
        self.published = [news]
        known = np.zeros(len(thread), bool)
        for moment in np.unique(time):
            for near in (True, False):
                now = (time == moment) & (no_fence == near)
                if now.any():
                    known[now] = self._published_after(moment, thread[now], news, near) <= acquired[now]
        return known

    def _published_after(self, moment: int, thread: np.ndarray, news: Publication, near: bool) -> np.ndarray:
        """For each thread, when what it did at that moment was published first, by itself or by one it met since.

        `near`: no fence is needed, for threads of the same block and for an atomic that has given its answer."""
        ways = (lambda t: t), self._warp, (lambda t: t // self.launch.threads)
        if near:
            return self._first(thread, news, zip(ways, (news.time, news.sync, news.barrier)), moment)
        earliest = self._first(thread, news, zip(ways, (news.fence, news.fence_sync, news.fence_barrier)), moment)
        for number, meeting in enumerate(self.meetings, 1):    # who has fenced itself may leave the rest to others
            fenced, then = meeting.had_fenced(thread, moment), news.meeting == number
            if fenced.any() and then.any():
                after = Publication(*(column[then] for column in vars(news).values()))
                by_others = self._first(thread, after, zip(ways[1:], (after.sync, after.barrier)), moment)
                earliest = np.where(fenced, np.minimum(earliest, by_others), earliest)
        return earliest

    @staticmethod
    def _first(thread: np.ndarray, news: Publication, ways, moment: int) -> np.ndarray:
        """The time of the first publication after the moment by anybody who, in one of these ways, speaks for each."""
        earliest = np.full(len(thread), NEVER)
        for number, since in ways:
            late = since > moment
            names, place = np.unique(number(news.thread[late]), return_inverse=True)
            first = np.full(len(names) + 1, NEVER)
            np.minimum.at(first, place, news.time[late])
            at = np.searchsorted(names, number(thread))
            hit = np.append(names, -1)[at] == number(thread)
            earliest = np.minimum(earliest, np.where(hit, first[at], NEVER))
        return earliest

    def _warp(self, thread: np.ndarray) -> np.ndarray:
        block, number = np.divmod(thread, self.launch.threads)
        return block * self.launch.warps + number // WARP

    def _publish(self, by: Present) -> None:
        time = np.broadcast_to(by.time, by.thread.shape)
        barrier, sync = self.barrier_time[self.threads.block[by.member]], self.sync_time[by.member]
        if by.access.releases:
            fence, fence_barrier, fence_sync = time, barrier, sync
        else:
            fence = np.zeros(len(time), np.int64) if self.fenced is None else self.fenced[by.thread]
            fence_barrier, fence_sync = self.fence_barrier[by.member], self.fence_sync[by.member]
        self.published.append(Publication(by.thread, time, barrier, sync, fence, fence_barrier, fence_sync,
                                          np.full(len(time), len(self.meetings))))

    def _acquire(self, shadow: Shadow, where: np.ndarray, by: Present) -> None:
        """Whoever reads a flag learns what the thread that wrote it has published."""
        for record in (shadow.stored, shadow.updated):
            news = (record.thread[where] >= 0) & (record.thread[where] != by.thread)
            if news.any():
                writer, time = record.thread[where[news]], record.time[where[news]]
                if record is shadow.stored:    # a plain store can be a flag, too, which shows only now
                    fence = np.zeros_like(time) if self.fenced is None else np.minimum(self.fenced[writer], time)
                    self.published.append(Publication(writer, time, time, time, fence, fence, fence,
                                                      np.full(len(time), len(self.meetings))))
                self._learn(by.member[news], time)

    def _learn(self, members: np.ndarray, time) -> None:
        self.acquired[members], self.informed = np.maximum(self.acquired[members], time), True

    def hear(self, members: np.ndarray, last, where: np.ndarray) -> None:
        """Threads read flags in shared memory, last written as recorded."""
        news = (last.thread[where] >= 0) & (last.thread[where] != members)
        if news.any():
            self._learn(members[news], last.moment[where[news]])

    def tell(self, access: Access, members: np.ndarray, where: np.ndarray) -> np.ndarray:
        """Threads write flags in shared memory, by atomics or not. Returns when."""
        self.time += 1
        by = Present(access, None, members + self.first, members, self.time)
        if access.action == "atomic":
            self._take_turns(by, where)
        self._publish(by)
        return np.broadcast_to(by.time, members.shape)

    def _take_turns(self, by: Present, where: np.ndarray) -> None:
        """Of several threads that update one place, each one knows of those before it."""
        turn = _turns(where)
        by.time = self.time + turn
        self.time += int(turn.max())
        later = turn > 0
        if later.any():
            self._learn(by.member[later], by.time[later] - 1)

    # ---- accesses

    def read(self, reach: Reach) -> None:
        """A group reads a watched array."""
        shadow, by = self._present(reach)
        access = reach.access
        if shadow.written:
            for where in self._places(reach):
                if not access.polls:
                    harmless = self.signals if access.signal else self.is_cas if access.feeds_cas else None
                    for record in (shadow.stored, shadow.updated):
                        self._check(record, where, by, harmless)
                if access.signal or access.polls:
                    self._acquire(shadow, where, by)
        shadow.aside.append((reach, by))
        if len(shadow.aside) >= MAX_ASIDE:
            self._enter_reads(shadow)

    def store(self, reach: Reach, values) -> None:
        """A group writes these values, one array for each element of the access."""
        shadow, by = self._present(reach)
        signal = reach.access.signal
        harmless = self.polls | self.signals if signal else self.polls
        self._enter_reads(shadow)
        # Of a variable of the module, which may be a flag that many set; the elements of an array have one writer each.
        kept = self._kept(reach, values) if not reach.region.shape else np.False_
        for where in self._places(reach):
            heard = self._heard(shadow, where, by)
            self._check(shadow.stored, where, by, harmless, kept | (heard >= shadow.stored.time[where]))
            self._check(shadow.updated, where, by, harmless, heard >= shadow.updated.time[where])
            for record in (shadow.reader, shadow.other_reader):
                self._check(record, where, by, harmless)
            shadow.stored.set(where, by.thread, by.time, reach.access)
            if not signal:
                self._written_twice(shadow, where, by, values)
        if signal:
            self._publish(by)

    def update(self, reach: Reach) -> None:
        """A group makes an atomic update."""
        shadow, by = self._present(reach)
        access = reach.access
        harmless = self.polls | self.signals
        self._enter_reads(shadow)
        self._take_turns(by, self._places(reach)[0])
        for where in self._places(reach):
            if not access.polls:
                self._check(shadow.stored, where, by, harmless)
                for record in (shadow.reader, shadow.other_reader):
                    self._check(record, where, by, harmless | self.feeds_cas if access.cas else harmless)
            self._acquire(shadow, where, by)
            shadow.updated.set(where, by.thread, by.time, access)
        self._publish(by)

    def _present(self, reach: Reach) -> tuple[Shadow, Present]:
        shadow = self.shadows.get(reach.region.first)
        if shadow is None:
            shadow = self.shadows[reach.region.first] = Shadow(
                reach.region, self.granule, self.launch.blocks * self.launch.threads)
        shadow.written |= reach.access.action != "load"
        self.time += 1
        members = reach.group.members
        return shadow, Present(reach.access, reach.region, members + self.first, members, self.time)

    def _places(self, reach: Reach) -> list[np.ndarray]:
        first = reach.positions() // self.granule
        return [first + k if k else first for k in range(max(reach.access.bytes // self.granule, 1))]

    def _heard(self, shadow: Shadow, where: np.ndarray, by: Present) -> np.ndarray:
        """When each thread itself has read this flag last, 0: never. It writes after what it saw, fence or not."""
        heard = np.zeros(len(where), np.int64)
        for record in (shadow.reader, shadow.other_reader):
            own = (record.thread[where] == by.thread) & (self.signals | self.polls)[record.access[where]]
            heard = np.where(own, np.maximum(heard, record.time[where]), heard)
        return heard

    def _enter_reads(self, shadow: Shadow) -> None:
        reads, shadow.aside = shadow.aside, []
        for reach, by in reads:
            for where in self._places(reach):
                self._enter_read(shadow, where, by)

    def _enter_read(self, shadow: Shadow, where: np.ndarray, by: Present) -> None:
        """Remember the last reader, and another one, if possible of another warp."""
        reader, other = shadow.reader, shadow.other_reader
        before = reader.thread[where]
        moves = (before >= 0) & (before != by.thread)
        if moves.any():
            away = moves & (self._warp(before) != self._warp(by.thread))
            away |= moves & (other.thread[where] < 0)
            other.move(where[away], reader)
        reader.set(where, by.thread, by.time, by.access)
        lost = np.flatnonzero(reader.thread[where] != by.thread)
        if len(lost):
            other.set(where[lost], by.thread[lost], by.time, by.access)

    # ---- findings

    def _check(self, record: Record, where: np.ndarray, by: Present, harmless=None, kept=np.False_) -> None:
        """Report what is not ordered, unless it was a `harmless` access or the value is `kept`."""
        conflict = self.unordered(record, where, by)
        if harmless is not None and conflict.any():
            conflict &= ~harmless[record.access[where]]
        self._report(record, where, by, conflict & ~kept)

    def _kept(self, reach: Reach, values) -> np.ndarray:
        """Where memory already holds what is to be written."""
        kept = np.ones(reach.group.n, bool)
        for k, value in enumerate(values):
            kept &= _bits(np.asarray(reach.take(k))) == _bits(np.asarray(value))
        return kept

    def _written_twice(self, shadow: Shadow, where: np.ndarray, by: Present, values) -> None:
        """Several threads of this very access write to one place."""
        lost = shadow.stored.thread[where] != by.thread
        if not shadow.region.shape and lost.any():
            winner = np.searchsorted(by.thread, shadow.stored.thread[where])
            differs = np.zeros(len(where), bool)
            for value in values:
                value = _bits(np.broadcast_to(value, (len(where),)))
                differs |= value[winner] != value
            lost &= differs
        self._report(shadow.stored, where, by, lost)

    def _report(self, record: Record, where: np.ndarray, by: Present, conflict: np.ndarray) -> None:
        if not conflict.any():
            return
        numbers = record.access[where]
        for number in np.unique(numbers[conflict]):
            other = self.accesses[number]
            if not self.findings.has("race", by.access.line, other.line):
                i = int((conflict & (numbers == number)).argmax())
                told = self._told(record, where[i:i + 1], by.member[i:i + 1])
                self._add_race(by, other, int(where[i]), int(by.thread[i]), int(record.thread[where[i]]), told)

    def _told(self, record: Record, where: np.ndarray, member: np.ndarray) -> bool:
        """Whether all that lacks is a fence."""
        return self.informed and bool(self._known(record.thread[where], record.time[where], self.acquired[member],
                                                  no_fence=np.array([True]))[0])

    def _add_race(self, by: Present, other: Access, place: int, me: int, them: int, told: bool) -> None:
        line = by.access.line
        where = f"in line {other.line}" if other.line != line else "in the same line"
        same_block = me // self.launch.threads == them // self.launch.threads
        why = ("no barrier lies between" if same_block else
               "an atomic or a flag tells of it, but no __threadfence() stands before that, so this block may see the "
               "news and not yet the data" if told else
               "nothing says which block comes first, and __syncthreads orders the threads of one block only")
        what = element_of(by.region, place * self.granule)
        self.findings.add(finding(
            "race", line, f"{self._who(me)} {_VERB[by.access.action]} {what}, which {self._who(them)} "
            f"{_VERB[other.action]} {where}; {why}, so the result depends on which comes first",
            other.line))

    def _who(self, thread: int) -> str:
        block, number = divmod(thread, self.launch.threads)
        return f"thread {coordinates(number, self.launch.block)} of block {coordinates(block, self.launch.grid)}"


_VERB = {"load": "reads", "store": "writes", "atomic": "updates"}


def _turns(where: np.ndarray) -> np.ndarray:
    """Of several threads that update one place, who is the first (0), the second (1), ..."""
    order = np.argsort(where, kind="stable")
    _, first, inverse = np.unique(where[order], return_index=True, return_inverse=True)
    turns = np.empty(len(where), np.int64)
    turns[order] = np.arange(len(where)) - first[inverse]
    return turns


def _bits(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.dtype.itemsize}")
