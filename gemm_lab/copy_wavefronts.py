"""How many wavefronts an asynchronous copy (cp.async; LDGSTS in machine code) takes on an H200: the rule, found by
experiment.

A copy moves 4, 8 or 16 bytes for each lane from global to shared memory, and there are two ways.

**Through L1** (`cp.async.ca`). The data lie in the SRAM as a cache line, and are moved within it, through the same pipe
as shared loads and stores. The warp is cut into parts of 128 bytes as for a store: 32, 16 or 8 lanes (see
`shared_wavefronts`). Two lanes of a part *meet* if they read from the same bank or write to the same bank, be it the
same word or not; a lane that only writes zeros reads from no bank. A part takes as many wavefronts as lanes meet at the
lane that meets most, itself included. ncu's bank conflicts are what exceeds one wavefront for each part.

**Past L1** (`cp.async.cg`, 16 bytes). The data come from L2 straight into shared memory: no wavefront, whatever the
addresses (`l1tex__data_pipe_lsu_wavefronts`). A copy that says how much exists takes some for the zeros that it writes,
as a store of these lanes does; ncu has no counter for them alone, and here they are left out. (That is so where the
size lies in a register. Where ptxas makes a predicate of it, as of `exists ? 16 : 0`, the totals of whole kernels speak
for more; no pattern has been measured.) What ncu calls wavefronts of these instructions
(`..._mem_shared_op_ldgsts_cache_bypass`) is something else: it changes with the number of the predicate register in the
instruction. Their sectors are not the source's, as those of every other access: ncu counts distinct pairs of a line in
global memory (128 bytes) and a sector in shared memory (32 bytes).

Evidence: `measurements/copy_patterns_h200.json`, made by `benchmarks/copy_wavefronts.py`: 682 structured and random
patterns of one warp, measured after the rule had been written. All agree in all that is said here, but for sectors past
L1 where two lanes write to one place, which is a race.

What the rule does not contain is caches. Where copies through L1 read words of one sector one after the other, an H200
takes some more now and then, depending on which of the data are there already.
"""

from __future__ import annotations

import numpy as np

from gemm_lab.counts import LINE_BYTES, SECTOR_BYTES, WARP
from gemm_lab.shared_wavefronts import first_of_its_kind

WIDTHS = (4, 8, 16)
SECTORS = 2**13    # more than shared memory has


def copy_wavefronts(source, target, width_bytes: int, brings=True) -> tuple[np.ndarray, np.ndarray]:
    """(wavefronts, bank conflicts) of asynchronous copies through L1, an entry for each warp.

    source, target   integers (n, 32): the byte in global and in shared memory where each lane reads and writes;
                     negative for a lane that takes no part. Multiples of the width
    width_bytes      of one lane's copy: 4, 8 or 16
    brings           booleans (n, 32): which lanes copy at least a byte; the others write zeros

    ValueError for another shape or width. Evidence for the rule: `measurements/copy_patterns_h200.json`.
    """
    if width_bytes not in WIDTHS:
        raise ValueError(f"width_bytes is {width_bytes!r}; it must be one of {', '.join(map(str, WIDTHS))}")
    source, target = _rows(source, target)
    lanes = LINE_BYTES // width_bytes    # of a part

    def same_bank(addresses, takes_part):
        bank = np.where(takes_part, addresses // width_bytes % lanes, -1).reshape(-1, lanes)
        return (bank[:, :, None] == bank[:, None, :]) & (bank[:, :, None] >= 0)
    meet = same_bank(source, (source >= 0) & brings) | same_bank(target, target >= 0)
    parts = meet.sum(axis=2).max(axis=1).reshape(len(source), -1)
    return parts.sum(axis=1), parts.sum(axis=1) - np.count_nonzero(parts, axis=1)


def bypass_sectors(source, target, brings=True) -> np.ndarray:
    """Sectors that ncu counts for asynchronous copies past L1, an entry for each warp; arguments as above."""
    source, target = _rows(source, target)
    pairs = (source // LINE_BYTES - source.min() // LINE_BYTES) * SECTORS + target // SECTOR_BYTES % SECTORS
    return first_of_its_kind(np.sort(np.where((source >= 0) & brings, pairs, -1), axis=1)).sum(axis=1)


def _rows(source, target) -> tuple[np.ndarray, np.ndarray]:
    """Both as arrays, checked."""
    source, target = np.asarray(source, np.int64), np.asarray(target, np.int64)
    if source.shape != target.shape or source.ndim != 2 or source.shape[1] != WARP:
        raise ValueError(f"source has shape {source.shape} and target {target.shape}; both must be (n, 32)")
    return source, target
