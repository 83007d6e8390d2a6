"""What compiled code and Python share: tables of 64-bit integers, and where in them what lies.

Every worker (a thread of the CPU) has a context of its own. Offsets are in bytes.
"""

from __future__ import annotations

# A context.
STOP = 0                  # not 0: leave as soon as possible
NEW_FOOTPRINT = 8         # function (entry, table): describe a pattern of addresses that was not seen before
NEW_COST = 16             # function (entry, access, slot): what such a request costs
ACCESSES = 24             # the accesses,
TABLES = 32               # the tables of footprints,
BLOCK_THREADS = 40        # for every basic block, how many threads have executed it
PARAMETERS = 48           # the kernel's arguments,
SYMBOLS = 56              # addresses of its variables
SPECIAL = 64              # special registers, for each warp of a block
STATES = 72               # registers that outlive a basic block, for each warp: the program counters come first
SHARED = 80               # shared memory,
FRESH_SHARED = 88         # and what it holds at the start
FRESH_PCS = 96            # program counters at the start, for each warp
NEXT_BLOCK = 104          # pointer to the number of the block that nobody has begun yet
STARTED = 112             # blocks that this worker has begun
BLOCK_INDEX = 120         # blockIdx: three integers
WRITERS, READERS = 136, 144    # distance from a word of shared memory to who wrote it, and who read it: see `races_ir`
EPOCH = 152               # a multiple of 64 that grows from barrier to barrier and from block to block
WARP_NOW = 160            # EPOCH, plus 1, plus the number of the warp that runs
WRITTEN = 168             # not 0: somebody wrote to shared memory in this epoch
LOG, LOGGED = 176, 184    # reads of shared memory in this epoch: place, footprint, warp, and whether it is one word;
LOG_ENTRY_BYTES, LOG_ENTRIES = 32, 8192    # how many there are, and may be
OWNERS = 192              # distance from a word of the region that is being written to who has written it,
OWNER_NOW = 200           # and the number (from 1) of the warp that runs, and of the block's first, as 32-bit integers
GRID = 208                # blocks along x, along y, and altogether
CONTEXT_BYTES = 232

# An access: one load or store instruction.
REGIONS = 0               # the regions of its space, see below
SHIFT = 8                 # log2 of the distance between them
REGION_COUNT = 16
BYTES = 24                # of one thread
REQUIRED = 32             # flags that the region must have
OFFSET = 40               # added to the address register
SLOT_MASK = 48            # which bits of the word address decide what a request costs
NUMBER = 56
COUNTS = 64               # words, requests, sectors (or bank conflicts, in shared memory), wavefronts
COUNTED = 96              # which of them to add: all bits, or those of the words
ACCESS_BYTES = 128

# A region: first address, end, distance to the real address, flags, distance to the owners of its words.
REGION_BYTES = 64
REGION_OWNERS = 32
WRITABLE, ORDINARY = 1, 2    # ORDINARY: not __constant__

# An entry of a table of footprints: see `footprints`.
RELATIVE = 0              # addresses of the 32 lanes, relative to the first active lane
MASK = 256                # the active lanes
LOW, HIGH = 264, 272      # the least and the largest relative address
LOW_BITS = 280            # all relative addresses or'ed
KIND = 288                # 0: no pattern; 1: all lanes the same address; 2: a row of elements
ANCHOR = 296              # the address of the first active lane, now
COSTS = 320               # for each of 32 slots what COUNTS lists, as 16-bit integers; no words: not known yet
ENTRY_BYTES = 576
ENTRIES = 64              # of a table
SCATTERED, BROADCAST, ROW = 0, 1, 2

# A table of footprints: the entry used last, then the entries.
TABLE_BYTES = 64 + ENTRIES * ENTRY_BYTES

EXIT, WAITING = 1 << 30, 1 << 28    # program counters: finished; WAITING is added to where a barrier leads
