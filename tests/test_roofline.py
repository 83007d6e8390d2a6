"""Rooflines: every number worked by hand from the formulas, for the H200 unless a test says otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gemm_lab as gl
from gemm_lab.counts import Counts
from gemm_lab.kernels import GemmKernel
from gemm_lab.roofline import gemm_flops, ideal_intensity, matrix_bytes, ridge_size
from gemm_lab.run import Run
from tests.helpers import table_cells

N = 1024


def kernel(counts: Counts | None = None, label="a kernel"):
    """A kernel as far as `roofline` looks at it; without counts, one that nobody derived any for."""
    made = GemmKernel()
    made.label, made.counts = label, lambda M, N, K, beta=0.0: counts or Counts()
    return made


def naive_words(M, N, K):
    """One thread for each element: 2K words in, one out."""
    return Counts(fma=M * N * K, global_load_words=2 * M * N * K, global_store_words=M * N, shared_load_words=0,
                  shared_store_words=0, local_load_words=0, local_store_words=0)


def test_lesson_00():
    """N = 1024: 2 x 1024^3 = 2.147 GFLOP take 32 us at 66.9 TFLOPS, 3 x 4 x 1024^2 = 12.58 MB 2.6 us at 4.8 TB/s."""
    h200 = gl.gpus["H200"]
    assert gemm_flops(N, N, N) == 2_147_483_648
    assert matrix_bytes(N, N, N) == 12_582_912
    assert gemm_flops(N, N, N) / (h200.peak_fp32_tflops * 1e6) == pytest.approx(32.1, abs=0.05)      # microseconds
    assert matrix_bytes(N, N, N) / (h200.dram_gbs * 1e3) == pytest.approx(2.62, abs=0.005)
    assert ideal_intensity(N) == pytest.approx(N / 6)
    assert ridge_size("H200") == pytest.approx(83.6, abs=0.05)       # 6 x 13.94


def test_beta_reads_c_as_well():
    assert matrix_bytes(2, 3, 5) == 4 * (2 * 5 + 5 * 3 + 2 * 3)
    assert matrix_bytes(2, 3, 5, beta=0.5) == 4 * (2 * 5 + 5 * 3 + 2 * 2 * 3)


@pytest.mark.parametrize("size, binding", [(64, "DRAM"), (83, "DRAM"), (84, "FP32 peak"), (4096, "FP32 peak")])
def test_the_ridge_parts_the_sizes(size, binding):
    roof = gl.roofline(kernel(), size, size, size, "H200")
    assert roof.binding == binding
    assert roof.attainable_tflops == min(roof.bounds_tflops.values()) <= gl.gpus["H200"].peak_fp32_tflops


def test_two_ceilings_without_counts():
    roof = gl.roofline(kernel(), N, N, N, "H200")
    assert roof.bounds_tflops == pytest.approx({"FP32 peak": 66.908, "DRAM": 819.2}, rel=1e-4)     # 170.67 x 4.8
    assert roof.bytes == {"DRAM": 12_582_912} and roof.intensities["DRAM"] == pytest.approx(170.667, abs=0.001)
    assert roof.w is None and roof.flops == 2_147_483_648


def test_words_belong_to_the_load_store_pipe_not_to_dram():
    """Naive: 8 bytes for 2 FLOP. Paired with DRAM this would 'prove' 1.2 TFLOPS, and 6.2 were measured."""
    roof = gl.roofline(kernel(naive_words(4096, 4096, 4096)), 4096, 4096, 4096, "H200")
    assert roof.bytes["load/store pipe"] == 4 * (2 * 4096**3 + 4096**2)
    assert roof.intensities["load/store pipe"] == pytest.approx(0.25, rel=1e-3)
    assert roof.intensities["DRAM"] == pytest.approx(4096 / 6)
    assert set(roof.bounds_tflops) == {"FP32 peak", "DRAM"}                    # words alone are no ceiling
    assert roof.binding == "FP32 peak"
    words = next(t for t in roof.traffic if t.memory == "load/store pipe")
    assert not words.is_ceiling and words.tflops == pytest.approx(8.36, abs=0.01)     # 0.25 x 33.45 TB/s


@pytest.mark.parametrize("w, cap, measured",
                         [(33.0, 0.51, 0.50), (2.0, 8.36, 6.2), (1.63, 10.26, 9.08), (0.74, 22.6, 17.2)])
def test_the_one_law_is_a_ceiling(w, cap, measured):
    """w and TFLOPS as measured on an H200 at 4096: no kernel passes its cap."""
    roof = gl.roofline(kernel(), 4096, 4096, 4096, "H200", w=w)
    assert roof.binding == "load/store pipe"
    assert roof.attainable_tflops == pytest.approx(cap, rel=0.01) and roof.attainable_tflops > measured


def test_a_run_gives_sectors_and_wavefronts():
    """Naive, 32 x 32 threads: a warp reads 1 + 4 sectors and 1 + 1 lines for each k, and stores 4 sectors, 1 line."""
    warps = N * N // 32
    counted = Counts(fma=N**3, global_load_sectors=5 * warps * N, global_store_sectors=4 * warps,
                     global_load_wavefronts=2 * warps * N, global_store_wavefronts=warps,
                     shared_load_wavefronts=0, shared_store_wavefronts=0)
    roof = gl.roofline(kernel(naive_words(N, N, N)), N, N, N, "H200", run=Run(C=None, counts=counted))
    assert roof.w == pytest.approx(2, rel=1e-3) and roof.binding == "load/store pipe"
    assert roof.bytes["L2"] == 32 * (5 * N + 4) * warps
    assert roof.intensities["L2"] == pytest.approx(0.4, rel=1e-3)       # 64 FLOP / 160 bytes
    l2 = next(t for t in roof.traffic if t.memory == "L2")
    assert l2.tflops == pytest.approx(3.97, abs=0.01)       # measured were 6.2: L1 catches much, so this is no ceiling
    assert not l2.is_ceiling and "L2" not in roof.bounds_tflops
    assert gl.roofline(kernel(naive_words(N, N, N)), N, N, N, "H200", run=counted) == roof
    assert gl.roofline(kernel(), N, N, N, "H200", run=counted, w=1.9).w == 1.9       # a recorded w has precedence


def test_an_l2_without_a_published_bandwidth_has_no_speed():
    counted = Counts(global_load_sectors=100, global_store_sectors=4)
    roof = gl.roofline(kernel(), 8, 8, 8, "T4", run=counted)
    l2 = next(t for t in roof.traffic if t.memory == "L2")
    assert l2.bytes == 3328 and l2.gbs is None and l2.tflops is None


def test_wavefronts_that_are_the_ptxs_give_no_w():
    """ptxas merges shared loads, so the w of the PTX would be too high and its cap one that real kernels pass."""
    counted = Counts(fma=32, global_load_wavefronts=1, global_store_wavefronts=1, shared_load_wavefronts=2,
                     shared_store_wavefronts=1)
    assert gl.roofline(kernel(), 8, 8, 8, "H200", run=Run(None, counted)).w == 5
    assert gl.roofline(kernel(), 8, 8, 8, "H200", run=Run(None, counted, ptx_lines=(7,))).w is None


def test_counts_on_the_gpu_are_none():
    roof = gl.roofline(kernel(), 8, 8, 8, "H200", run=Run(C=None, counts=None, backend="gpu"))
    assert roof == gl.roofline(kernel(), 8, 8, 8, "H200")


def test_every_course_kernel_has_a_roofline():
    for k in (gl.Naive(), gl.Naive(coalesced=False), gl.SharedTiling(), gl.RegisterTiling1D()):
        roof = gl.roofline(k, 100, 70, 50, "H200", beta=0.5)
        counts = k.counts(100, 70, 50, beta=0.5)
        words = sum(getattr(counts, f"{s}_{d}_words") for s in ("global", "shared", "local") for d in ("load", "store"))
        assert roof.kernel == k.label and roof.bytes["load/store pipe"] == 4 * words
        assert roof.bytes["DRAM"] == matrix_bytes(100, 70, 50, 0.5)


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 5000), st.sampled_from(sorted(gl.gpus)),
       st.floats(0.05, 50))
def test_bounds_are_ordered_as_their_traffic(M, N, K, gpu, w):
    roof = gl.roofline(kernel(), M, N, K, gpu, w=w)
    seconds_of_dram = matrix_bytes(M, N, K) / (roof.gpu.dram_gbs * 1e9)
    assert roof.bounds_tflops["DRAM"] == pytest.approx(gemm_flops(M, N, K) / seconds_of_dram / 1e12)
    assert roof.attainable_tflops <= roof.gpu.peak_fp32_tflops
    wavefronts = w * M * N * K / 32                                   # for as many warp-FMAs
    seconds_of_pipe = wavefronts * 128 / (roof.gpu.pipe_gbs * 1e9)
    assert roof.bounds_tflops["load/store pipe"] == pytest.approx(gemm_flops(M, N, K) / seconds_of_pipe / 1e12)


def test_errors():
    with pytest.raises(ValueError, match="N is 0; it must be a whole number, 1 or more"):
        gl.roofline(kernel(), 8, 0, 8, "H200")
    with pytest.raises(ValueError, match="no GPU named 'H2000'"):
        gl.roofline(kernel(), 8, 8, 8, "H2000")
    with pytest.raises(ValueError, match="w = 0"):
        gl.roofline(kernel(), 8, 8, 8, "H200", w=0)
    with pytest.raises(ValueError, match="the run has fma = 7, the closed form says 512"):
        gl.roofline(kernel(naive_words(8, 8, 8)), 8, 8, 8, "H200", run=Counts(fma=7))


def test_what_a_reader_sees():
    roof = gl.roofline(kernel(label="SharedTiling(TILE=32)"), N, N, N, "H200", w=1.63)
    lines = repr(roof).splitlines()
    assert lines[0] == "SharedTiling(TILE=32), 1024 x 1024 x 1024 on H200: 2.147 GFLOP"
    assert lines[1].split() == "FP32 peak 66.91 TFLOPS 132 SMs x 128 lanes at 1980 MHz".split()
    assert lines[2].split() == "DRAM 819.2 TFLOPS 12.58 MB (every matrix once), 170.7 FLOP/B".split()
    assert "10.26 TFLOPS  w = 1.63" in lines[3] and lines[-1] == "  binding: load/store pipe"
    assert any(row[:2] == ["load/store pipe", "10.26"] for row in table_cells(roof._repr_html_()))
    assert "binding" in roof._repr_html_()
