"""What the machine code and Python share: structures in memory, described once for both.

Every worker (a thread of the CPU) has an *arena*: one piece of memory in which everything has its place, so that an
operand is a number, the distance from the start. First comes the context, then the window: what belongs to the warp
that runs now, and is exchanged when another one runs. Then come the other registers, the constants, the accesses,
the tables of footprints, and their entries.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.values import Field
from gemm_lab.emulator.ptx import SIZES

LINE = 64    # bytes: registers start at multiples of it, for the sake of the cache


_NUMBERS = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "s32": np.int32, "u64": np.uint64, "s64": np.int64,
            "ptr": np.uint64}


def structure(start: int = 0, **fields: str) -> SimpleNamespace:
    """Fields one after the other, from their kinds: "u64", or "s32*32" for a vector.

    `size` is that of all, `dtype` how NumPy sees memory that begins at `start`.
    """
    places, at = {}, start
    for name, text in fields.items():
        kind, _, lanes = text.partition("*")
        lanes = int(lanes or 1)
        size = SIZES.get(kind, 8) * lanes
        align = LINE if size >= LINE else SIZES.get(kind, 8)
        at = -(-at // align) * align
        places[name] = Field(at, kind, lanes)
        at += size
    dtype = np.dtype({"names": list(places), "offsets": [f.at - start for f in places.values()],
                      "formats": [(_NUMBERS[f.kind], (f.lanes,)) if f.lanes > 1 else _NUMBERS[f.kind]
                                  for f in places.values()], "itemsize": -(-at // LINE) * LINE - start})
    return SimpleNamespace(**places, size=start + dtype.itemsize, dtype=dtype)


CONTEXT = structure(
    stop="u64",                    # not 0: leave as soon as possible
    block_x=f"s32*{WARP}", block_y=f"s32*{WARP}", block_z=f"s32*{WARP}",    # blockIdx, in every lane
    scratch=f"u64*{WARP}",         # for shuffles
    active="u32",                  # lanes that run
    others="u32",                  # the lowest program counter among the other lanes of the warp
    code="ptr",                    # the records of the kernel
    # Functions of Python: (entry) a footprint is replaced; (basic block) a warp has used up its budget.
    forget="ptr", spent="ptr",
    unused="ptr",                  # the next entry that no table has yet
    copies="ptr",                  # the asynchronous copies of each warp
    spaces="u64*9",               # of global, shared and local memory: regions, log2 of their distance, how many
    next_block="ptr",              # the number of the block that nobody has begun yet
    blocks="u64", blocks_x="u32", blocks_y="u32",    # blocks of the grid
    started="u64",                 # blocks that this worker has begun
    warps="u64", threads="u32",    # of a block
    waiting="u32",                 # not 0: some lane of the block waits at the barrier
    coming="u32", saying_yes="u32",    # threads that came to it, and those that voted for yes,
    came="u32", said_yes="u32",        # and how many it was at the barrier that has opened last
    window="u64",                  # bytes of the window,
    changing="u64",                # and of the part of it that may change after the first barrier
    states="ptr",                  # the windows of the warps that do not run,
    fresh="ptr",                   # and what they hold at the start
    shared="ptr", fresh_shared="ptr", shared_bytes="u64",    # shared memory, and what it holds at the start
    # Who touches what: see `races`.
    log="ptr", log_end="ptr", log_limit="ptr",    # requests to look at
    written="u32",                 # not 0: somebody wrote in this epoch (in check mode always)
    checks="u32",                  # 1: check mode
    numbers="ptr",                 # for each warp, the numbers of its lanes within the block
    warp="u32",                    # the warp that runs
    epoch="u32",                   # grows by EPOCH from barrier to barrier and from block to block
    oldest="u32",                  # the first epoch of this block, or 0 if uninitialised memory may be read
    first="u32", in_block="u32",   # added to the numbers: those within the launch; and how many a block has
    stamps="ptr", stamp_bytes="u64",    # the stamps of shared memory, to be cleared when epochs are used up
)
EPOCH = 2048              # more than twice the threads of a block
MANY = EPOCH - 1          # in place of a lane's number: several have read
LAST_EPOCH = 2**31 - 2**20
LOG_ENTRIES = 8192

# The window starts with the program counters, distances from the start of `code`, and the number of instructions that
# the warp may execute before Python looks at it. Then asynchronous copies: the groups that the warp has committed, and
# the numbers of the first copy under way and of the next one.
WINDOW = structure(CONTEXT.size, pcs=f"u32*{WARP}", budget="s64", commits="u32", landed="u32", issued="u32")
EXIT, WAITING = 1 << 30, 1 << 28    # finished; added to where a barrier leads

# A record: the address of the operation, and six operands.
RECORD = structure(operation="ptr", operands="s32*6")
RECORD_BYTES = 32

# An access: one load or store instruction. It remembers the region that it reached last.
ACCESS = structure(
    first="s64", end="s64",        # addresses of that region,
    move="s64",                    # from an address to the real one,
    stamps="s64",                  # from an address to the stamp of who wrote there,
    far="s64",                     # from there to the stamp of who read there,
    noted="u32",                   # and whether one wants to know: FREELY, LATER, ...
    seen="u32",                    # the region's space, plus 1
    space="u32",                   # GLOBAL, SHARED, LOCAL, or GENERIC: the address says it
    required="u32",                # flags that a region must have
    offset="s64",                  # added to the address register
    words="u32", writes="u32",     # of each thread; 1 for a store
)
GLOBAL, SHARED, LOCAL, GENERIC = range(4)

# A region: as an access remembers it.
REGION = structure(first="s64", end="s64", move="s64", stamps="s64", far="s64", noted="u32", flags="u32")
WRITABLE, ORDINARY = 1, 2             # ORDINARY: not __constant__
FREELY, LATER, NOW, LOCALLY = range(4)    # how accesses are looked at: not at all, when the epoch ends, at once

_PATTERN = {
    "relative": f"s32*{WARP}",     # addresses of the lanes, relative to the first active one
    "moves": f"s32*{WARP}",        # where to find the elements, relative to that of the first active lane
    "lanes": "u32",                # the active lanes, as a set
    "kind": "u32",                 # SCATTERED, BROADCAST, ROW, ...
    "table": "u32",                # its table's number
    "low": "s64", "high": "s64",   # the lowest relative address, and the end of the highest element
    "bits": "s64",                 # all relative addresses or'ed
}
# An entry of a table of footprints: how many requests of a pattern there were, by the first address modulo 128.
ENTRY = structure(**_PATTERN, hits="u64*128")
PATTERN_BYTES = ENTRY.hits.at
# `kind`: no pattern; all lanes the same address; a row of elements; or that in each piece of 8 lanes on its own.
SCATTERED, BROADCAST, ROW, BROADCASTS, ROWS = range(5)
PIECE = 8
ENTRIES = 16
TABLE = structure(
    last="ptr",                    # the entry used last
    bytes="s32", element_bytes="s32", stride="s32",    # as in `footprints.Table`
    entries=f"u64*{ENTRIES}",      # where its entries are, in no order; 0: none
)

# A footprint of now: the entry that describes it, and the address of the first active lane.
FOOTPRINT = structure(entry="ptr", anchor="s64")

# An asynchronous copy under way: it begins like an entry; then what will land where, and in which of the warp's groups.
COPY = structure(
    **_PATTERN,
    words=f"s32*{4 * WARP}",       # the first word of each lane, then the second, ...
    address="s64", where="ptr", access="ptr", commit="u32", count="u32",
)
COPIES = 64                        # of a warp, at most

# An entry of the log.
LOG = structure(address="s64", entry="ptr", access="ptr", warp="u32")


def seen(memory: np.ndarray, layout: SimpleNamespace, at: int = 0) -> np.ndarray:
    """The structure that starts `at` bytes into an array of bytes, as NumPy sees it: an array of one."""
    return memory[at:at + layout.dtype.itemsize].view(layout.dtype)


def address(memory: np.ndarray) -> int:
    """Where an array lies."""
    return memory.ctypes.data


def zeros(size: int) -> np.ndarray:
    """Bytes that start where a large vector may."""
    raw = np.zeros(size + 2 * LINE, np.uint8)
    start = -address(raw) % (2 * LINE)
    return raw[start:start + size]
