"""Memory: the address map, bounds, and what one load or store of many threads touches.

Every array lies in a *region*: an address range with bounds of its own. Regions are so far apart that reading past the
end of one, even by gigabytes, never lands in another: it is out of bounds. Arrays in global memory start at 256-byte
aligned addresses; those in shared memory keep the low address bits that they have on the GPU, because these choose the
bank.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gemm_lab.emulator import counting
from gemm_lab.emulator.debug_info import Array
from gemm_lab.emulator.ptx import Variable
from gemm_lab.emulator.threads import Group
from gemm_lab.machine_loads import WIDEST, MachineAccess

GLOBAL_SHIFT, SHARED_SHIFT, LOCAL_SHIFT = 44, 20, 24    # log2 of the distance between regions of a space
SHARED_TAG, LOCAL_TAG = 1 << 56, 1 << 57                # added to a shared or local address when it becomes generic
SHARED_FILL = 0x7FC0DEAD                                # uninitialised shared memory: a NaN that is easy to recognise


@dataclass
class Region:
    """An array in memory. `storage` is one flat byte array; address `first` is its byte `at`."""
    name: str
    first: int
    size: int
    storage: np.ndarray
    at: int = 0
    dtype: np.dtype = np.dtype(np.uint8)      # for messages
    shape: tuple[int, ...] = ()               # for messages
    writable: bool = True
    constant: bool = False                    # __constant__: read through a cache of its own, so not counted as global
    watched: bool = False                     # check mode looks for races: see `watched`
    views: dict = field(default_factory=dict)

    def view(self, dtype) -> np.ndarray:
        """The storage as numbers of a type."""
        found = self.views.get(dtype)
        if found is None:
            size = np.dtype(dtype).itemsize
            found = self.views[dtype] = self.storage[:len(self.storage) // size * size].view(dtype)
        return found

    def holds(self, first: int, end: int) -> bool:
        """Whether the addresses from `first` up to, not including, `end` lie inside."""
        return self.first <= first and end <= self.first + self.size


class Space:
    """One kind of memory. `stride` is the distance in bytes between the copies that blocks or threads have of it."""

    name, shift, tag, stride = "", 0, 0, 0

    def __init__(self):
        self.regions: dict[int, Region] = {}

    def region(self, address: int) -> Region | None:
        """The region in whose neighbourhood an address lies; it may still be out of bounds."""
        return self.regions.get(address >> self.shift)

    def reached(self, access: Access, address: int) -> Region | None:
        """The same for an access, which may be known to mean one of the arrays in a region."""
        return self.region(address)

    def offsets(self, group: Group) -> np.ndarray | None:
        """For each member, where its own copy of the memory starts; None if all share one."""
        return None

    def next_address(self, at: int = 0) -> int:
        """The address of byte `at` in a new region: in the middle, so that negative offsets stay near, too."""
        return (len(self.regions) + 1 << self.shift) + (1 << self.shift - 1) + at

    def add(self, region: Region) -> Region:
        self.regions[region.first >> self.shift] = region
        return region


class Global(Space):
    """Global and constant memory: the caller's arrays themselves, so results are in place at once."""

    name, shift = "global", GLOBAL_SHIFT

    def __init__(self, held: dict[str, np.ndarray] | None = None):
        super().__init__()
        self.held = {} if held is None else held    # bytes of __device__ variables: launches of one program share them

    def allocate(self, array: np.ndarray, name: str) -> Region:
        """Make an array known; the same array twice gets one address."""
        storage = array.reshape(-1).view(np.uint8)
        for region in self.regions.values():
            if region.storage.ctypes.data == storage.ctypes.data and region.size == array.nbytes:
                return region
        return self.add(Region(name, self.next_address(), array.nbytes, storage, dtype=array.dtype, shape=array.shape,
                               writable=array.flags.writeable))


    def largest(self) -> int:
        """Elements of the largest array."""
        return max((r.size // r.dtype.itemsize for r in self.regions.values()), default=0)


def layout(variables, dynamic_bytes: int) -> tuple[dict[str, tuple[int, int]], int]:
    """Where shared (or local) variables lie: name -> (offset, size), and the bytes of all. Those without a size come
    last and share the dynamic part."""
    places, top = {}, 0
    for v in sorted(variables, key=lambda v: v.size == 0):
        top = -(-top // v.align) * v.align
        places[v.name] = top, v.size or dynamic_bytes
        top += v.size
    return places, top + dynamic_bytes


class Private(Space):
    """Memory of which every owner (a block, or a thread) has a copy."""

    def __init__(self, places: dict[str, tuple[int, int]], size: int, owners: int, fill: int):
        super().__init__()
        self.stride = -(-size // 16) * 16
        self.owners = owners
        self.bytes = np.full(max(owners * self.stride // 4, 4), fill, np.uint32).view(np.uint8)
        for name, (at, size_) in places.items():
            self.add(Region(name, self.next_address(at), size_, self.bytes, at, np.dtype(np.float32)))

    def rows(self) -> np.ndarray:
        """The bytes of each owner's copy, one row for each owner."""
        return self.bytes[:self.owners * self.stride].reshape(self.owners, self.stride)

    def addresses(self) -> dict[str, int]:
        """Variable -> address."""
        return {region.name: region.first for region in self.regions.values()}


class Shared(Private):
    """Shared memory: one copy for each block."""

    name, shift, tag = "shared", SHARED_SHIFT, SHARED_TAG

    def offsets(self, group: Group) -> np.ndarray:
        return group.of(group.threads.block) * self.stride


class Local(Private):
    """Local memory: one copy for each thread. Arrays that are indexed by a variable, and spilled registers, live
    here."""

    name, shift, tag = "local", LOCAL_SHIFT, LOCAL_TAG

    def __init__(self, *args):
        super().__init__(*args)
        self.parts: dict[Array, Region] = {}

    def offsets(self, group: Group) -> np.ndarray:
        return group.members * self.stride

    def reached(self, access: Access, address: int) -> Region | None:
        if not access.arrays:
            return self.region(address)
        parts = [self.part(array) for array in access.arrays]
        below = [part for part in parts if part.first <= address]
        return max(below, key=lambda part: part.first) if below else parts[0]    # the nearest

    def named(self, name: str) -> Region:
        """The region of a variable of the PTX."""
        return next(r for r in self.regions.values() if r.name == name)

    def part(self, array: Array) -> Region:
        """One array of a depot, with bounds of its own."""
        if array not in self.parts:
            whole = self.named(array.depot)
            self.parts[array] = Region(array.name, whole.first + array.offset, array.size, whole.storage,
                                       whole.at + array.offset, whole.dtype)
        return self.parts[array]


def symbols(variables: dict[str, Variable], memory: Global) -> dict[str, int]:
    """Put a kernel's __device__ and __constant__ variables into global memory: name -> address."""
    addresses = {}
    for v in variables.values():
        if v.space in ("global", "const"):
            data = memory.held.get(v.name)
            if data is None:
                data = np.zeros(v.size, np.uint8)
                data[:len(v.data)] = np.frombuffer(v.data, np.uint8)
            if v.space == "global":
                memory.held[v.name] = data
            data.flags.writeable = v.space == "global"
            region = memory.allocate(data, v.name)
            region.constant = v.space == "const"
            region.shape = ()    # not known
            addresses[v.name] = region.first
    return addresses


# ---- one request ----------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Access:
    """A load, store or atomic instruction, decoded. `space` is None for a generic address."""
    number: int                  # among the kernel's accesses
    at: int                      # among its instructions
    line: int | None
    space: str | None
    action: str                  # "load", "store" or "atomic"
    dtype: type                  # of one element
    width: int                   # elements for each thread: 1, 2 or 4
    offset: int                  # added to the address register
    cas: bool = False            # an atomic compare-and-swap,
    feeds_cas: bool = False      # or a load of the value with which one compares
    signal: bool = False         # threads can tell each other something by it: an atomic, or an access to a flag
    polls: bool = False          # a loop goes on until it reads the right value
    releases: bool = False       # a signal that is a fence, too
    answered: bool = False       # an atomic whose old value is used: it is done when the thread goes on
    arrays: tuple = ()           # the local arrays that it may touch, if known: see `local_arrays`
    copies: bool = False         # one end of an asynchronous copy: `copies` counts both ends together

    @property
    def element_bytes(self) -> int:
        return np.dtype(self.dtype).itemsize

    def __post_init__(self):
        object.__setattr__(self, "bytes", self.element_bytes * self.width)
        object.__setattr__(self, "shift", self.element_bytes.bit_length() - 1)
        object.__setattr__(self, "words", max(self.bytes // 4, 1))
        object.__setattr__(self, "as_written", MachineAccess(self.bytes, True))    # what a machine without ptxas makes


class Footprint:
    """Where the threads of a group reach, relative to the first of them.

    Instructions in a loop mostly ask for the same relative addresses again and again. What follows from these alone,
    the counts and the positions in storage, is worked out once.
    """

    def __init__(self, base, anchor: int):
        self.base, self.anchor = base, anchor
        self.relative = None if base.ndim == 0 else base - base[0]
        self.low, self.high, self.bits = 0, 0, 0
        if self.relative is not None:
            self.low, self.high = int(self.relative.min()), int(self.relative.max())
            self.bits = int(np.bitwise_or.reduce(self.relative))
        self.elements: dict[tuple[str, int], np.ndarray] = {}
        self.costs: dict[tuple, tuple[int, int, int, int]] = {}

    def fits(self, base, anchor: int) -> bool:
        """Whether these addresses have the same footprint."""
        if base.ndim == 0 or self.relative is None:
            return base.ndim == 0 and self.relative is None
        return bool((base - base[0] == self.relative).all())

    def positions(self, group: Group, space: Space) -> np.ndarray:
        """Bytes from the lowest address of the group's first owner to where each thread reaches."""
        relative = np.zeros(group.n, np.int64) if self.relative is None else self.relative.astype(np.int64) - self.low
        offsets = space.offsets(group)
        return relative if offsets is None else relative + offsets

    def index(self, group: Group, space: Space, shift: int) -> np.ndarray:
        """The same in elements of 2**shift bytes."""
        found = self.elements.get((space.name, shift))
        if found is None:
            found = self.elements[space.name, shift] = self.positions(group, space) >> shift
        return found

    def cost(self, group: Group, space: str, address: int, machine: MachineAccess, store: bool) -> tuple[int, ...]:
        """What counting.COST lists, when the first thread's address is `address`. Only its low bits matter."""
        key = space, address % (counting.LINE_BYTES if space == "global" else WIDEST), machine, store
        if key not in self.costs:
            self.costs[key] = self._cost(group, *key)
        return self.costs[key]

    def _cost(self, group: Group, space: str, phase: int, machine: MachineAccess, store: bool) -> tuple[int, ...]:
        if space == "local":
            return group.warps, 0, 0, 0
        if self.relative is None:
            reach = np.zeros(group.n, np.int64)
        else:
            reach = self.relative.astype(np.int64)
        shift = -self.low // counting.LINE_BYTES * counting.LINE_BYTES + counting.LINE_BYTES    # no address below 0
        rows = group.by_warp(reach + (phase + shift))
        if space == "shared":
            rows = machine.requests(rows)
            wavefronts, conflicts = counting.shared_passes(rows, machine.width, store)
            return len(rows), 0, wavefronts, conflicts
        return group.warps, counting.sectors(rows), counting.lines(rows), 0


def footprint(group: Group, remembered: dict[int, Footprint], access: Access, base) -> Footprint:
    """The footprint of an access, remembered from last time if it is the same."""
    known = remembered.get(access.number)
    if known is not None and known.base is base:
        return known
    anchor = int(base) if base.ndim == 0 else int(base[0])
    if known is not None and known.fits(base, anchor):
        known.base, known.anchor = base, anchor
        return known
    known = remembered[access.number] = Footprint(base, anchor)
    return known
