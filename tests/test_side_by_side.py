"""The emulator against Nsight Compute: every recorded launch of every course kernel, each count exactly."""

from __future__ import annotations

import numpy as np
import pytest

import gemm_lab as gl
from benchmarks.h200 import counted_kernels
from gemm_lab.records import recorded_counters
from gemm_lab.side_by_side import AT_LEAST, AT_MOST, SAME_AS, compare_counters, emulated_counts

KERNELS = {kernel.label: kernel for kernel in counted_kernels()}
ROWS = recorded_counters("H200")


def test_every_course_kernel_and_three_sizes_are_recorded():
    assert {row.kernel for row in ROWS} == set(KERNELS)
    sizes = {row.size for row in ROWS}
    assert (512, 512, 512) in sizes and sum(M % 8 != 0 for M, _, _ in sizes) >= 2
    assert all(metric in row.counters for row in ROWS for metric in SAME_AS.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kernel} {row.size} beta={row.beta}")
def test_emulator_equals_hardware(row):
    kernel = KERNELS[row.kernel]
    assert not row.stale(kernel), "the kernel's source has changed since its counters were recorded"
    counts = emulated_counts(kernel, *row.size, row.beta)
    assert {n: getattr(counts, n) for n in SAME_AS} == {n: row.counters[metric] for n, metric in SAME_AS.items()}
    for name, metric in AT_MOST.items():
        assert row.counters[metric] <= getattr(counts, name)
    for name, metric in AT_LEAST.items():
        extra = row.counters[metric] - getattr(counts, name)
        assert 0 <= extra <= noise(kernel, row, counts), name


def noise(kernel, row, counts) -> float:
    """What hardware may add to a count: nothing, but for meetings in large launches and for each S2R of a loop."""
    meetings = 0.015 * (counts.shared_load_wavefronts + counts.shared_store_wavefronts)
    x, y, z = kernel.grid(*row.size[:2])
    warps = x * y * z * -(-int(np.prod(kernel.block)) // 32)
    fetches = sum("S2R" in instruction for instruction in kernel.compile().loop)
    rounds = -(-row.size[2] // getattr(kernel, "BK", row.size[2]))
    return fetches * rounds * warps + meetings * (row.size == (512, 512, 512))


def test_side_by_side_shows_both_and_says_whether_they_agree():
    shown = compare_counters(gl.SharedTiling(16), 130, 67, 45)
    assert shown.equal and "are equal" in repr(shown) and "are equal" in shown.html()
    assert f"{shown.rows[0][1]:,}" in shown.html()


def test_an_unrecorded_launch_names_what_there_is():
    with pytest.raises(ValueError, match="no counters of .* at 7 x 7 x 7|no counters of .*7.*recorded for it: .*512"):
        compare_counters(gl.Naive(), 7, 7, 7)
