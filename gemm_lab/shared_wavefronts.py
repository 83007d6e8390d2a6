"""How many wavefronts a shared-memory instruction takes on an H200: the rule, found by experiment.

Shared memory has 32 banks, each one word (4 bytes) wide; word w lies in bank w mod 32. A *wavefront* is one pass
through the pipe: it reads or writes at most one word in each bank, for any number of lanes, and moves at most 128 bytes
between the banks and the lanes' registers. From the second limit follows how a warp is cut into *parts*, served one by
one:

    8, 16 and 32 bits    the whole warp at once
    64 bits              two half-warps        (lanes 0-15, 16-31)
    128 bits             four quarter-warps    (lanes 0-7, 8-15, 16-23, 24-31)

A part without an active lane costs nothing. Any other takes as many wavefronts as the busiest bank has distinct words
in it. **Loads of 64 and 128 bits have one exception**: where lanes go in pairs to the same address, a wavefront serves
both lanes of a pair at once, and the parts are twice as large (64 bits: the warp; 128 bits: half-warps). That is so if
all active neighbours n and n^1 of the warp agree (0 with 1, 2 with 3, ...), or all active lanes n and n^2 (0 with 2, 1
with 3, ...). A lane whose partner takes no part is no objection; one pair that disagrees undoes it for the whole warp;
pairs farther apart do not help. Stores have no exception; lanes that store into the same word cost one write.

So a broadcast of 128 bits is 2 wavefronts to load and 4 to store; one of 64 bits, 1 and 2.

ncu's bank conflicts (`l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld`, `_st`) are what exceeds one wavefront for
each part: a row of float4, 4 wavefronts, has none.

Evidence: `measurements/shared_patterns_h200.json`, made by `benchmarks/shared_wavefronts.py`: 2,433 structured and
random patterns, one warp, ncu's counters. All of them agree, wavefronts and conflicts, loads and stores; 1,233 of them
were measured after the rule had been written. NVIDIA's Greg Smith described the two kinds of pairs for compute
capability 7.x (NVIDIA developer forums, "Unexpected shared memory bank conflict"). The counters are the pipe's,
l1tex__...: those by instruction, smsp__sass_..., have half the wavefronts of a wide load in some half warps.

What the rule does not contain is conflicts between instructions of different warps. They add a few tenths of a percent
in large runs. And an S2R (reading threadIdx) between two loads passes through the same pipe: with 16 warps in a block
it added up to one conflict for each warp, with one warp none.
"""

from __future__ import annotations

import numpy as np

BANKS, WORD_BYTES, WARP = 32, 4, 32
WIDTHS = (1, 2, 4, 8, 16)


def shared_wavefronts(byte_addresses, width_bytes: int, store: bool = False):
    """Wavefronts of one shared-memory instruction of a warp; an int, or an array for an array of instructions.

    byte_addresses   integers (32,) or (n, 32): where each lane accesses; negative for a lane that takes no part
    width_bytes      of one lane's access: 1, 2, 4, 8 or 16; addresses are multiples of it
    store            True for a store, False for a load

    ValueError for another shape or width. The rule is this module's; nothing in it was fitted to the kernels of the
    course. Evidence: `measurements/shared_patterns_h200.json`.
    """
    found = wavefronts_of_parts(byte_addresses, width_bytes, store).sum(axis=1)
    return int(found[0]) if np.ndim(byte_addresses) == 1 else found


def bank_conflicts(byte_addresses, width_bytes: int, store: bool = False):
    """Wavefronts in excess of one for each part of the warp, as ncu counts bank conflicts. See `shared_wavefronts`."""
    parts = wavefronts_of_parts(byte_addresses, width_bytes, store)
    found = parts.sum(axis=1) - np.count_nonzero(parts, axis=1)
    return int(found[0]) if np.ndim(byte_addresses) == 1 else found


def wavefronts_of_parts(byte_addresses, width_bytes: int, store: bool) -> np.ndarray:
    """(n, parts): the wavefronts of each part of the warp; 0 where no lane is active, and where parts were joined."""
    if width_bytes not in WIDTHS:
        raise ValueError(f"width_bytes is {width_bytes!r}; it must be one of {', '.join(map(str, WIDTHS))}")
    rows = np.atleast_2d(np.asarray(byte_addresses, np.int64))
    if rows.ndim != 2 or rows.shape[1] != WARP:
        raise ValueError(f"byte_addresses has shape {np.shape(byte_addresses)}; it must be (32,) or (n, 32)")
    words = max(width_bytes // WORD_BYTES, 1)
    touched = np.where(rows[:, :, None] < 0, -1, rows[:, :, None] // WORD_BYTES + np.arange(words))
    single = _busiest_bank(touched, words)
    if store or words == 1:
        return single
    double = np.zeros_like(single)
    double[:, :words // 2] = _busiest_bank(touched, words // 2)
    return np.where(_in_pairs(rows)[:, None], double, single)


def first_of_its_kind(ordered: np.ndarray) -> np.ndarray:
    """Where in each row, sorted, a value stands for the first time; negative ones are left out."""
    new = ordered >= 0
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return new


def _in_pairs(rows: np.ndarray) -> np.ndarray:
    """Whether in each row all active neighbours agree, lanes n with n^1, or n with n^2."""
    def agree(distance: int) -> np.ndarray:
        partner = rows[:, np.arange(WARP) ^ distance]
        return ((rows == partner) | (rows < 0) | (partner < 0)).all(axis=1)
    return agree(1) | agree(2)


def _busiest_bank(touched: np.ndarray, parts: int) -> np.ndarray:
    """(n, parts): distinct words in the busiest bank when the lanes of (n, 32, words) are cut into so many parts."""
    n = len(touched)
    words = np.sort(touched.reshape(n * parts, WARP * touched.shape[2] // parts), axis=1)
    new = first_of_its_kind(words)
    part, _ = np.nonzero(new)
    load = np.bincount(part * BANKS + words[new] % BANKS, minlength=n * parts * BANKS)
    return load.reshape(n, parts, BANKS).max(axis=2)
