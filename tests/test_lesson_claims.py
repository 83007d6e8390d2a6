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
