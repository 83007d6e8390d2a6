"""The emulator against Nsight Compute: every recorded launch of every course kernel, each count exactly."""

from __future__ import annotations

import pytest

import gemm_lab as gl
from benchmarks.h200 import counted_kernels
from gemm_lab.records import recorded_counters
from gemm_lab.side_by_side import SAME_AS, compare_counters, emulated_counts

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


def test_side_by_side_shows_both_and_says_whether_they_agree():
    shown = compare_counters(gl.SharedTiling(16), 130, 67, 45)
    assert shown.equal and "are equal" in repr(shown) and "are equal" in shown.html()
    assert f"{shown.rows[0][1]:,}" in shown.html()


def test_an_unrecorded_launch_names_what_there_is():
    with pytest.raises(ValueError, match="no counters of .* at 7 x 7 x 7|no counters of .*7.*recorded for it: .*512"):
        compare_counters(gl.Naive(), 7, 7, 7)
