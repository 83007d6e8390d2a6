"""Loads, stores and atomics of a group of threads: bounds and alignment first, then counting, then the data."""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator import reports
from gemm_lab.emulator.memory import Access, Footprint, Region, Space, footprint


class ReadOnly(ValueError):
    """The kernel writes, in `line`, to an array that must not be written: `array` is its name."""

    def __init__(self, line: int | None, region: Region):
        super().__init__(reports.read_only(line, region))
        self.line, self.array = line, reports.cxx_name(region.name)


class Reach:
    """One request of a group, checked: which region it touches, and where."""

    def __init__(self, batch, access: Access, foot: Footprint, space: Space, region: Region, low: int):
        self.group, self.access, self.foot, self.space, self.region = batch.group, access, foot, space, region
        self.start = low - region.first + region.at    # byte in storage of the lowest address
        self.view = region.view(access.dtype)

    @property
    def uniform(self) -> bool:
        """All threads reach the same place."""
        return self.foot.relative is None and self.space.stride == 0

    @property
    def index(self) -> np.ndarray:
        """Elements from `start` to where each thread reaches."""
        return self.foot.index(self.group, self.space, self.access.shift)

    def positions(self) -> np.ndarray:
        """Bytes of storage that the threads reach first."""
        return self.foot.positions(self.group, self.space) + self.start

    def take(self, element: int):
        """The `element`-th element of each thread."""
        first = (self.start >> self.access.shift) + element
        return self.view[first] if self.uniform else self.view[first:].take(self.index)

    def put(self, element: int, values) -> None:
        """Store; where threads reach the same place, the last one wins."""
        if not self.region.writable:
            raise ReadOnly(self.access.line, self.region)
        first = (self.start >> self.access.shift) + element
        if self.uniform:
            self.view[first] = values if values.ndim == 0 else values[-1]
        else:
            self.view[first:][self.index] = values


def reach(batch, access: Access, base) -> Reach | None:
    """Check and count one request; None if it touches several regions and must be done in parts."""
    foot = footprint(batch.group, batch.footprints(), access, base)
    address = foot.anchor + access.offset
    space = batch.space(access, address)
    if access.space is None:
        address -= space.tag
    low = address + foot.low
    region = space.reached(access, low)
    if region is None or not region.holds(low, address + foot.high + access.bytes):
        return None
    if (address | foot.bits) & (access.bytes - 1):
        raise reports.misaligned(batch, access, base, region)
    batch.global_accesses += space.name == "global"
    if batch.tally is not None and not region.constant:
        count(batch, access, foot, space, address)
    return Reach(batch, access, foot, space, region, low)


def count(batch, access: Access, foot: Footprint, space: Space, address: int) -> None:
    """Add one request of each of the group's warps to the tally. A GPU counts atomics apart: they are left out, but for
    what those load that become loops (see `machine_loads`)."""
    machine = batch.execution.shared.accesses.get(access.at)
    if machine is not None and machine.spins and space.name == "shared":
        cost = foot.cost(batch.group, "shared", address, machine, False)
        batch.tally.add((access.line, "shared", "load"), 0, cost)
    if access.action == "atomic" or access.copies:
        return
    group = batch.group
    cost = foot.cost(group, space.name, address, machine or access.as_written, access.action == "store")
    batch.tally.add((access.line, space.name, access.action), group.n * access.words, cost)


def load(batch, access: Access, base) -> list | None:
    """The elements that the threads read, or None (see `reach`)."""
    found = reach(batch, access, base)
    if found is None:
        return None
    if batch.races is not None and found.space.name == "shared":
        batch.races.read(found)
    if found.region.watched:
        batch.global_races.read(found)
    if batch.undefined is not None:
        batch.undefined.load(found)
    values = [found.take(k) for k in range(access.width)]
    if batch.recorder is not None:
        batch.recorder.access(found.space, found.region, access, found.group, found.positions(), values)
    return values


def store(batch, access: Access, base, values) -> bool:
    """Write; False if it must be done in parts."""
    found = reach(batch, access, base)
    if found is None:
        return False
    batch.stores += 1
    if batch.races is not None and found.space.name == "shared":
        batch.races.write(batch.group, access, found.region, found.positions(), values)
    if found.region.watched:
        batch.global_races.store(found, values)
    if batch.undefined is not None:
        batch.undefined.store(found)
    for k, value in enumerate(values):
        found.put(k, value)
    if batch.recorder is not None:
        batch.recorder.access(found.space, found.region, access, found.group, found.positions(), values)
    return True


def atomic(batch, access: Access, base, update):
    """Replace each thread's element by update(old, members); where several meet, one does it after the other.

    Returns the old elements, or None (see `reach`).
    """
    found = reach(batch, access, base)
    if found is None:
        return None
    if not found.region.writable:
        raise ReadOnly(access.line, found.region)
    where = found.positions() >> access.shift
    if batch.races is not None and found.space.name == "shared":
        batch.races.write(batch.group, access, found.region, found.positions(), None)
    if found.region.watched:
        batch.global_races.update(found)
    if batch.undefined is not None:
        batch.undefined.atomic(found)
    old, new = np.empty(len(where), access.dtype), np.empty(len(where), access.dtype)
    for members in one_at_a_time(where):
        old[members] = found.view[where[members]]
        new[members] = found.view[where[members]] = update(old[members], members)
    if batch.recorder is not None:
        batch.recorder.access(found.space, found.region, access, found.group, found.positions(), [new])
    batch.stores += bool((old != new).any())    # an atomic that changes nothing is no news for a loop that waits
    return old


def one_at_a_time(where: np.ndarray) -> list[np.ndarray]:
    """Split members into rounds, so that in each round all reach different places; earlier threads come first."""
    order = np.argsort(where, kind="stable")
    sorted_ = where[order]
    first = np.concatenate(([True], sorted_[1:] != sorted_[:-1]))
    starts = np.flatnonzero(first)
    turn = np.arange(len(where)) - np.repeat(starts, np.diff(np.append(starts, len(where))))
    by_turn = order[np.argsort(turn, kind="stable")]
    return np.split(by_turn, np.cumsum(np.bincount(turn))[:-1])


def in_parts(batch, access: Access, base, step) -> None:
    """Run `step` for the members of each region in turn; raises the finding if one of them is out of bounds."""
    addresses = np.broadcast_to(base, (batch.group.n,)).astype(np.int64) + access.offset
    parts = regions_reached(batch, access, addresses)
    tally = batch.tally
    if tally is not None and len({space.name for space, _ in parts}) == 1:    # one request, though of several arrays
        foot = footprint(batch.group, batch.footprints(), access, base)
        count(batch, access, foot, parts[0][0], foot.anchor + access.offset)
        batch.tally = None
    for _, members in parts:
        chosen = np.zeros(batch.group.n, bool)
        chosen[members] = True
        batch.narrow(chosen, step)
    batch.tally = tally


def regions_reached(batch, access: Access, addresses: np.ndarray) -> list[tuple[Space, np.ndarray]]:
    """The members that reach each region, as (space, members); raises the finding for the first out of bounds."""
    parts, left = [], np.arange(len(addresses))
    while len(left):
        first = int(addresses[left[0]])
        space = batch.space(access, first)
        tag = space.tag if access.space is None else 0
        region = space.reached(access, first - tag)
        if region is None or not region.holds(first - tag, first - tag + access.bytes):
            raise reports.out_of_bounds(batch, access, space, region, first - tag, int(left[0]))
        at = addresses[left] - (tag + region.first)
        inside = (at >= 0) & (at + access.bytes <= region.size)
        parts.append((space, left[inside]))
        left = left[~inside]
    return parts
