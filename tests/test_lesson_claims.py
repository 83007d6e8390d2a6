"""What the prose of the lessons says about measurements, held against the records that ship.

A new record may move numbers; where it moves one of these, a sentence of the lesson must move, too.
"""

from __future__ import annotations

import pytest

import gemm_lab as gl
from benchmarks.h200 import resident, unrolled, waiting

STRIP = gl.RegisterTiling1D(BM=64, BN=64, BK=8, TM=8)
BK_16, BK_32, TM_16, TM_32 = (gl.RegisterTiling1D(64, 64, BK, TM) for BK, TM in ((16, 8), (32, 8), (32, 16), (32, 32)))


@pytest.fixture(scope="module")
def law():
    return gl.recorded_law("H200").select(size=4096)


def test_00_the_obvious_kernels_are_8_and_100_times_slower_than_cublas():
    measured = gl.recorded("H200")
    factors = [measured.tflops("cuBLAS", 4096) / measured.tflops(gl.Naive(coalesced=c), 4096) for c in (True, False)]
    assert factors == pytest.approx([8, 100], rel=0.06)


def test_03_a_strip_reaches_a_quarter_of_the_peak_and_loses_to_tiles_when_small():
    measured, peak = gl.recorded("H200"), gl.gpus["H200"].peak_fp32_tflops
    assert 0.23 < measured.tflops(STRIP, 4096) / peak < 0.30 < 0.70 < measured.tflops("cuBLAS", 4096) / peak < 0.80
    assert all(measured.tflops(STRIP, n) < measured.tflops(gl.SharedTiling(TILE=32), n) for n in (256, 512))


def test_03_wavefronts_are_those_on_paper_but_for_fetches_of_the_thread_index(law):
    """On paper, by hand: (8 + 32 + 5 + 2) / 64, (80 + 6 + 4) / 128, (160 + 8 + 8) / 256."""
    for kernel, paper, fmas in ((STRIP, 47 / 64, 64), (BK_16, 90 / 128, 128), (BK_32, 176 / 256, 256),
                                (resident(STRIP, 2), 47 / 64, 64), (resident(STRIP, 4), 47 / 64, 64),
                                (resident(BK_16, 3), 90 / 128, 128)):
        fetches = sum("SR_TID" in instruction for instruction in kernel.compile().loop)
        assert 1.6 * fetches <= (law[kernel].w - paper) * fmas <= 1 + 2 * fetches


def test_03_blocks_wait_and_other_blocks_fill_the_wait(law):
    two, three, four = resident(STRIP, 2), STRIP, resident(STRIP, 4)
    assert law[two].w < law[three].w < law[four].w and law[two].tflops < law[four].tflops < law[three].tflops
    assert law[two].share == pytest.approx(0.7, abs=0.03)
    assert law[four].share == pytest.approx(law[three].share, abs=0.03)
    assert law[BK_16].share > law[two].share + 0.08
    assert law[resident(BK_16, 3)].share == pytest.approx(law[three].share, abs=0.03)
    assert law[BK_32].share == pytest.approx(law[three].share, abs=0.03)


def test_03_a_second_wait_costs_little_and_the_strided_loader_much(law):
    one, two, strided = waiting(STRIP, 1), waiting(STRIP, 2), gl.RegisterTiling1D(64, 64, 8, 8, strided_loader=True)
    assert law[one].w == pytest.approx(law[two].w, rel=0.005)
    assert one.compile().registers == two.compile().registers
    assert 0.95 < law[two].tflops / law[one].tflops < 0.99
    assert law[strided].tflops / law[STRIP].tflops < 0.80


def test_03_unrolling_restores_the_long_strip(law):
    assert law[TM_32].tflops < law[BK_32].tflops < law[TM_16].tflops
    strips = [row for row in law if row.kernel.startswith("RegisterTiling1D")]
    assert max(strips, key=lambda row: row.tflops).kernel == unrolled(TM_32, 2).label


# --- 04

RECTANGLE, BEST_STRIP = gl.RegisterTiling2D(128, 128, 8, 8, 8), gl.PipelinedTiling1D()


@pytest.fixture(scope="module")
def ladder():
    return gl.recorded_law("H200", "ladder").select(size=4096)


def test_04_the_best_strips_wait_no_longer_for_global_memory_and_miss_52_percent_of_cublas(ladder):
    stalls, times = gl.recorded_stalls("H200"), gl.recorded("H200", "ladder")
    best, first = stalls[BEST_STRIP], stalls[STRIP]
    assert best.long_scoreboard < 0.05 and first.long_scoreboard == pytest.approx(5, abs=0.3)
    waits = (best.long_scoreboard, best.mio_throttle, best.barrier, best.dispatch_stall, best.not_selected)
    assert max(waits) < best.short_scoreboard == pytest.approx(1, abs=0.1)
    assert ladder[BEST_STRIP].share == pytest.approx(0.80, abs=0.01)
    assert ladder[BEST_STRIP].cap_tflops == pytest.approx(31, abs=0.5)
    assert 48 < times.row(BEST_STRIP, 4096).percent_of_cublas < 49


def test_04_rectangles_have_a_third_of_the_warps_and_nearly_twice_the_speed(ladder):
    assert gl.occupancy(RECTANGLE, "H200").fraction == gl.occupancy(STRIP, "H200").fraction / 3
    assert 1.8 < ladder[RECTANGLE].tflops / ladder[STRIP].tflops < 2
    assert ladder[RECTANGLE].w < ladder[STRIP].w / 2


def test_04_rectangles_stay_below_both_caps_and_wait_for_shared_then_for_global_memory(ladder):
    wait = gl.recorded_stalls("H200")[RECTANGLE]
    issue = gl.gpus["H200"].peak_fp32_tflops / wait.instructions_per_fma
    assert 1.25 * ladder[RECTANGLE].tflops < ladder[RECTANGLE].cap_tflops < issue
    others = (wait.mio_throttle, wait.barrier, wait.dispatch_stall, wait.not_selected)
    assert wait.short_scoreboard > wait.long_scoreboard > max(others)


def test_04_rectangles_lose_to_strips_where_they_have_too_few_blocks():
    times = gl.recorded("H200", "ladder")
    for size, wins in ((512, False), (1024, False), (2048, True), (4096, True)):
        assert all((times.tflops(RECTANGLE, size) > times.tflops(k, size)) == wins for k in (STRIP, BEST_STRIP))
    assert times.row(RECTANGLE, 512).percent_of_cublas == pytest.approx(13, abs=0.5)
    assert times.row(RECTANGLE, 4096).percent_of_cublas == pytest.approx(68, abs=0.5)
