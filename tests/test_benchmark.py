"""The measurement protocol on a stand-in for CuPy with a virtual clock; bad arguments; reading ncu; a real GPU."""

from __future__ import annotations

import importlib
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import gemm_lab as gl
from benchmarks import counters, h200
from gemm_lab import gpu
from gemm_lab.benchmark import PROTOCOL, bench_command, benchmark, course_kernels, rows_of
from tests.fake_gpu import FAKES, job, stand_in

# --- the protocol, with exact times

@pytest.fixture
def fake(monkeypatch):
    yield from stand_in(monkeypatch)


@pytest.fixture
def timing(fake, monkeypatch):
    """The module `timing` on the stand-in; cuBLAS takes 0.5 ms there."""
    module = importlib.import_module("gemm_lab.gpu.timing")

    class Cublas:
        version = "1.2.3"

        def __init__(self, stream):
            self.closed = False

        def sgemm(self, a, b, c):
            def action():
                c[:] = a.astype(np.float64) @ b
            fake.run("cuBLAS", 0.0005, action)

        def close(self):
            self.closed = True
    monkeypatch.setattr(module, "Cublas", Cublas)
    monkeypatch.setenv("PATH", "")    # no nvidia-smi
    return module


def measured(timing, jobs, size=(40, 24, 32), seconds=0.02):
    messages = list(timing.measure(jobs, *size, seconds))
    assert [kind for kind, _ in messages] == ["progress"] * (len(messages) - 1) + ["result"]
    return messages[-1][1], [value for kind, value in messages if kind == "progress"]


def test_medians_are_the_times_of_the_virtual_clock(timing):
    result, progress = measured(timing, [job("gemm 0.002"), job("gemm 0.00025")])
    slow, fast, cublas = rows_of((40, 24, 32), result)
    assert [row.median_ms for row in (slow, fast, cublas)] == pytest.approx([2.0, 0.25, 0.5])
    assert [row.percent_of_cublas for row in (slow, fast, cublas)] == pytest.approx([25.0, 200.0, 100.0])
    assert slow.tflops == pytest.approx(2 * 40 * 24 * 32 / 2e-3 / 1e12)
    assert cublas.kernel == "cuBLAS" and [row.spread_ms for row in (slow, cublas)] == pytest.approx([0, 0], abs=1e-9)
    assert progress == sorted(progress) and progress[-1] == 1.0
    assert result["cublas"] == "1.2.3" and result["clock"] == {}


def test_short_kernels_are_timed_by_graphs_through_all_buffers(timing):
    result, _ = measured(timing, [job("gemm 0.002"), job("gemm 0.00025")])
    sets = timing.sets_needed(40, 24, 32, 2**17)
    # A, B, C are 4 * (40*32 + 32*24 + 40*24) = 12032 bytes; 22 of them pass twice the L2 cache of 131072 bytes.
    assert sets == result["sets"] == 22
    assert result["launches"]["gemm 0.002"] == 1                  # 2 ms: launched one by one
    assert result["launches"]["gemm 0.00025"] == 22               # 4 would take 1 ms, but all buffers have their turn


def test_buffer_sets_pass_twice_the_l2_cache(timing):
    l2 = 62914560    # of an H200
    # 256: 3 * 256^2 * 4 = 786432 bytes, and 125829120 / 786432 = 160. 4096: one set is 201326592 bytes.
    assert [timing.sets_needed(n, n, n, l2) for n in (256, 2048, 4096, 8192)] == [160, 3, 1, 1]
    assert timing.sets_needed(1, 1, 1, l2) == timing.MOST_SETS


@pytest.mark.parametrize("seconds, sets, launches", [
    (1e-3, 5, 1), (1.0, 1, 1), (0.9e-3, 1, 2), (0.9e-3, 10, 10), (1e-5, 10, 100), (1e-5, 160, 160), (3e-6, 160, 480)])
def test_launches_per_sample(timing, seconds, sets, launches):
    assert timing.launches_per_sample(seconds, sets) == launches
    assert launches == 1 or launches * seconds >= 1e-3 * 0.999 and (sets == 1 or launches % sets == 0)


def test_a_slow_kernel_has_the_fewest_samples_and_cublas_takes_part_in_every_round(timing, fake):
    result, _ = measured(timing, [job("gemm 0.3"), job("gemm 0.002")], seconds=0.1)
    counts = {label: len(samples) for label, samples in result["samples"].items()}
    assert counts["gemm 0.3"] == 5 and counts["gemm 0.002"] == 50
    assert counts["cuBLAS"] == max(counts.values())


def test_samples_are_interleaved(timing, fake):
    measured(timing, [job("gemm 0.002"), job("gemm 0.003")], seconds=0.1)
    late = [name for name in fake.launched if name != "cuBLAS"][-60:-20]
    changes = sum(a != b for a, b in zip(late, late[1:], strict=False))
    assert changes > 10 and {"gemm 0.002", "gemm 0.003"} == set(late)


def test_sample_counts_stay_within_limits(timing):
    assert [timing.sample_count(s, 0.4) for s in (1.0, 0.1, 0.01, 0.001)] == [5, 5, 40, 200]


def test_a_wrong_kernel_is_not_timed(timing, fake):
    with pytest.raises(ValueError) as error:
        measured(timing, [job("gemm 0.002"), job("wrong 0.002")])
    for words in ("wrong 0.002 is wrong at 40x24x32", "1 of 960 elements", "C[39, 23]", "worst error is 1", "allowed"):
        assert words in str(error.value)
    assert fake.launched == ["cuBLAS", "gemm 0.002", "wrong 0.002"]    # each once, to be verified


def test_an_element_that_nobody_writes_is_wrong(timing):
    want = np.zeros((3, 4))
    got = np.zeros((3, 4), np.float32)
    timing.check("k", got, want, 5)
    got[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"1 of 12 elements.*C\[1, 2\] = nan"):
        timing.check("k", got, want, 5)


def tf32(X):
    """X rounded to the 11 significant bits of TF32."""
    fraction, exponent = np.frexp(X.astype(np.float64))
    return np.ldexp(np.rint(fraction * 2**11) / 2**11, exponent)


@pytest.mark.parametrize("K", [1, 3, 45, 1000, 8192])
def test_the_tolerance_holds_for_right_sums_and_finds_a_forgotten_product(timing, K):
    numbers = np.random.default_rng(K)
    a, b = (numbers.standard_normal((20000, K) if K < 1000 else (1000, K), np.float32) for _ in "ab")
    total = np.zeros(len(a), np.float32)
    for k in range(K):    # one after the other, rounded at each step, as a kernel does
        total += a[:, k] * b[:, k]
    exact = np.einsum("ik,ik->i", a.astype(np.float64), b.astype(np.float64))
    assert np.abs(total - exact).max() < timing.tolerance(K) / (3 if K >= 1000 else 1)
    forgotten = exact - a[:, -1].astype(np.float64) * b[:, -1]
    assert np.abs(forgotten - exact).max() > 100 * timing.tolerance(K)
    assert np.abs(np.einsum("ik,ik->i", tf32(a), tf32(b)) - exact).max() > timing.tolerance(K)


def test_too_large_a_problem_is_refused_before_anything_is_allocated(timing):
    with pytest.raises(ValueError, match=r"16384x16384x16384 needs about 12.0 GiB on the GPU, where 1.0 GiB are free"):
        list(timing.measure([job("gemm")], 16384, 16384, 16384, 0.1))


def test_cublas_is_closed_after_a_failure(timing, monkeypatch):
    made = []
    kept = timing.Cublas
    monkeypatch.setattr(timing, "Cublas", lambda stream: made.append(kept(stream)) or made[0])
    with pytest.raises(ValueError):
        list(timing.measure([job("wrong")], 8, 8, 8, 0.1))
    assert made[0].closed


# --- benchmark(): arguments and what it makes of the results

@pytest.fixture
def answered(monkeypatch):
    """A machine whose GPU answers every measurement at once; returns what it was asked."""
    asked = []

    def measure(jobs, M, N, K, seconds, progress=None):
        asked.append(([j.label for j in jobs], (M, N, K), seconds))
        if progress:
            progress(1.0)
        labels = ["cuBLAS", *(j.label for j in jobs)]
        return {"samples": {label: [1.0 + i, 2.0 + i, 3.0 + i] for i, label in enumerate(labels)},
                "launches": dict.fromkeys(labels, 4), "sets": 3, "clock": {"sm_mhz": 1980.0}, "cublas": "13.1.0"}
    device = gpu.Device("NVIDIA H200", "9.0", 132, 2**37, 62914560, "580.65", "13.0", "13.2", "14.2.0")
    monkeypatch.setattr(gpu, "measure", measure)
    monkeypatch.setattr(gpu, "device", lambda: device)
    return asked


def test_the_result_of_a_benchmark(answered, capsys):
    kernels = [gl.Naive(), gl.SharedTiling(TILE=16)]
    m = benchmark(kernels, [64, (130, 67, 45)], seconds=0.1)
    assert answered == [([k.label for k in kernels], size, 0.1) for size in ((64, 64, 64), (130, 67, 45))]
    assert m.kernels == (*(k.label for k in kernels), "cuBLAS") and m.sizes == ((64, 64, 64), (130, 67, 45))
    assert m.row("cuBLAS", 64).median_ms == 2.0 and m.row(gl.Naive(), 64).percent_of_cublas == pytest.approx(200 / 3)
    assert (m.device, m.driver, m.protocol) == ("NVIDIA H200", "580.65", PROTOCOL)
    assert m.clocks[0] == {"size": (64, 64, 64), "buffer_sets": 3, "sm_mhz": 1980.0}
    assert m.versions["cuBLAS"] == "13.1.0" and m.versions["NVRTC"].startswith("13.")
    assert m.stale(kernels) == ()
    assert "TF32 off" in m.protocol


def test_one_kernel_and_one_size_need_no_list(answered):
    benchmark(gl.Naive(), 64, progress=False)
    assert answered == [([gl.Naive().label], (64, 64, 64), 0.4)]


@pytest.mark.parametrize("kernels, sizes, words", [
    ([], [64], "kernels is empty"), (["Naive"], [64], "must be a kernel"),
    ([gl.Naive(), gl.Naive()], [64], "two kernels are"),
    ([gl.Naive().with_source(gl.Naive().source, "cuBLAS")], [64], "cannot be called 'cuBLAS'"),
    ([gl.Naive()], [], "no sizes"), ([gl.Naive()], [0], "size 0"), ([gl.Naive()], [(64, 64)], "size"),
    ([gl.Naive()], [64.0], "size"), ([gl.Naive()], [True], "size"), ([gl.Naive()], "64", "size"),
    ([gl.Naive()], [(64, -1, 64)], "size"), ([gl.Naive(block=(1, 1))], [(65536, 1, 1)], "65535"),
])
def test_bad_arguments_are_refused_before_the_gpu_is_asked(answered, kernels, sizes, words):
    with pytest.raises(ValueError, match=words):
        benchmark(kernels, sizes)
    assert answered == []


@pytest.mark.parametrize("seconds", [0, -1, 61, "1", None])
def test_bad_seconds(answered, seconds):
    with pytest.raises(ValueError, match="seconds"):
        benchmark(gl.Naive(), 64, seconds=seconds)


def test_a_kernel_that_does_not_compile(answered):
    with pytest.raises(gl.CompileError):
        benchmark(gl.Naive().with_source(gl.Naive().source.replace("acc", "acc acc", 1)), 64)
    assert answered == []


def test_the_command_writes_a_record(answered, tmp_path, capsys):
    path = tmp_path / "record.json"
    assert bench_command(SimpleNamespace(sizes=[64], seconds=0.1, out=path)) == 0
    from gemm_lab.records import load
    assert set(load(path).kernels) == {k.label for k in course_kernels()} | {"cuBLAS"}
    assert "TFLOPS" in capsys.readouterr().out


# --- reading ncu

WIDE = '''==PROF== Connected to process 4711
==PROF== Profiling "naive": 0%....50%....100% - 3 passes
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","a.sum","b.pct","c.sum"
"","","","","","","","","","","","inst","%","byte"
"0","4711","python3","box","void naive<0>(int, int, int, float, const float *, const float *, float, float *)","1","7","(32, 32, 1)","(2, 2, 1)","0","9.0","1,024","12.5","n/a"
"1","4711","python3","box","void shared_tiling<32, 0>(int, int, int, float, ...)","1","7","(32, 32, 1)","(2, 2, 1)","0","9.0","2048","100","3"
==PROF== Disconnected from process 4711
'''  # noqa: E501

LONG = '''"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","naive<0>(int)","a.sum","inst","1,024"
"0","naive<0>(int)","b.pct","%","12.5"
"1","shared_tiling<32, 0>(int)","a.sum","inst","2,048"
'''


def test_ncus_wide_table():
    first, second = counters.parse(WIDE, ["a.sum", "b.pct", "c.sum"])
    assert "naive" in first[0] and first[1] == {"a.sum": 1024, "b.pct": 12.5}    # n/a is missing, not 0
    assert second[1] == {"a.sum": 2048, "b.pct": 100, "c.sum": 3}


def test_ncus_long_table():
    assert [values for _, values in counters.parse(LONG, ["a.sum", "b.pct"])] == \
        [{"a.sum": 1024, "b.pct": 12.5}, {"a.sum": 2048}]


def test_ncu_without_a_table():
    with pytest.raises(counters.NoCounters, match="ERR_NVGPUCTRPERM"):
        counters.parse("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", ["a.sum"])


def plan():
    return [(gl.Naive(), (64, 64, 64), 0.0), (gl.SharedTiling(), (64, 64, 64), 0.5)]


def test_launches_are_paired_with_the_plan(monkeypatch):
    monkeypatch.setattr(counters, "_profile", lambda *_: WIDE)
    first, second = counters.collect(plan(), ["a.sum"])
    assert (first.kernel, first.size, first.beta) == (gl.Naive().label, (64, 64, 64), 0.0)
    assert first.counters == {"a.sum": 1024}
    assert second.beta == 0.5 and not second.stale(gl.SharedTiling())
    with pytest.raises(counters.NoCounters, match="2 launches; 1 were planned"):
        counters.collect(plan()[:1], ["a.sum"])
    with pytest.raises(counters.NoCounters, match="where SharedTiling"):
        counters.collect(plan()[::-1], ["a.sum"])


def test_metrics_that_ncu_does_not_know_are_dropped_and_named(monkeypatch):
    tried = []

    def profile(plan, metrics, timeout):
        tried.append(list(metrics))
        if "x__y.sum" in metrics:
            raise counters.NoCounters(r"==ERROR== Failed to find metric regex:^x__y(\.sum)?$")
        return WIDE.replace("\n".join(WIDE.splitlines()[5:6]), "")    # the first launch only
    monkeypatch.setattr(counters, "_profile", profile)
    assert counters.usable_metrics(["a.sum", "x__y.sum", "c.sum"]) == (["a.sum"], ["x__y.sum", "c.sum"])
    assert tried == [["a.sum", "x__y.sum", "c.sum"], ["a.sum", "c.sum"]]


def test_no_permission_is_not_taken_for_an_unknown_metric(monkeypatch):
    def profile(*_):
        raise counters.NoCounters("ncu ended with status 1: ==ERROR== ERR_NVGPUCTRPERM")
    monkeypatch.setattr(counters, "_profile", profile)
    with pytest.raises(counters.NoCounters, match="ERR_NVGPUCTRPERM"):
        counters.usable_metrics(["a.sum"])


def test_the_wanted_metrics_are_well_formed():
    assert len(set(counters.METRICS)) == len(counters.METRICS)
    assert all("__" in name and "." in name for name in counters.METRICS)
    assert set(counters.LAW_METRICS) < set(counters.METRICS)


NCU = """#!{python}
import subprocess, sys
words = sys.argv[1:]
log, metrics = (words[words.index(name) + 1] for name in ("--log-file", "--metrics"))
if "unknown__metric" in metrics:
    print("==ERROR== Failed to find metric regex:^unknown__metric(.sum)?$")
    sys.exit(1)
done = subprocess.run(words[words.index("{python}"):])    # the program to profile
names = [line.split()[0] for line in open("{names}")]
with open(log, "w") as file:
    print('"ID","Kernel Name",' + ",".join('"' + m + '"' for m in metrics.split(",")), file=file)
    for number, name in enumerate(names):
        print('"%d","%s(int)",' % (number, name) + ",".join('"1,00%d"' % number for m in metrics.split(",")), file=file)
sys.exit(done.returncode)
"""


@pytest.fixture
def ncu(tmp_path, monkeypatch):
    """A program called ncu that runs what it is told to profile, on the stand-in, and reports the kernels in a file."""
    names = tmp_path / "names"
    program = tmp_path / "ncu"
    program.write_text(NCU.format(python=sys.executable, names=names))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    monkeypatch.setattr(gpu, "device", lambda: SimpleNamespace(arch="sm_90"))
    return names


def test_a_plan_goes_through_ncu_and_back(ncu):
    ncu.write_text("naive<1>\nshared_tiling<32,0>\n")
    first, second = counters.collect(plan(), ["a__b.sum", "c__d.sum"])
    assert first.counters == {"a__b.sum": 1000, "c__d.sum": 1000} and second.counters["c__d.sum"] == 1001
    ncu.write_text("naive<1>\n")
    assert counters.usable_metrics(["a__b.sum", "unknown__metric.sum"]) == (["a__b.sum"], ["unknown__metric.sum"])


def test_a_profiled_program_that_fails_says_why(ncu, monkeypatch):
    ncu.write_text("naive<1>\n")
    failing = [sys.executable, "-c", "raise SystemExit('Error: no luck')"]
    monkeypatch.setattr(counters, "launch_command", lambda *_: failing)
    with pytest.raises(counters.NoCounters, match="status 1: Error: no luck"):
        counters.collect(plan()[:1], ["a__b.sum"])


def test_without_ncu_there_are_no_counters(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(gpu, "device", lambda: SimpleNamespace(arch="sm_90"))
    with pytest.raises(counters.NoCounters, match="ncu did not run"):
        counters.usable_metrics(["a__b.sum"])


# --- the script for the reference GPU

def test_large_matrices_are_compared_element_by_element(fake, monkeypatch):
    monkeypatch.setattr(gpu, "device", lambda: SimpleNamespace(arch="sm_90"))

    class Wrong(gl.Naive):
        label = "wrong"

        def compile(self, arch="sm_90"):
            return SimpleNamespace(cubin=b"wrong 0.001", entry="mangled")
    assert h200.large_faults([gl.Naive(), gl.SharedTiling()], (5000, 30, 4100)) == []
    assert h200.large_faults([gl.Naive(), Wrong()], (70, 30, 20)) == ["wrong at 70x30x20: 1 of 2100 elements are wrong"]


def test_the_reference_of_large_matrices_is_their_product(fake):
    a, b = h200.filled(4200, 30), h200.filled(30, 7)
    (first, top), (second, bottom) = h200.products(a, b)
    assert (first, second) == (0, 4096) and top.dtype == np.float64
    np.testing.assert_allclose(np.vstack([top, bottom]), a.astype(np.float64) @ b)
    assert np.unique(a).size > 0.99 * a.size and abs(a.std() - 1) < 0.01


def test_every_kernel_of_the_script_compiles():
    for kernel in h200.law_kernels() + h200.counted_kernels() + course_kernels():
        assert kernel.compile("sm_90").cubin and kernel.launch_grid(46342, 46342)


def test_the_lists_have_no_two_of_a_name():
    for kernels in (h200.law_kernels(), h200.counted_kernels(), course_kernels()):
        labels = [kernel.label for kernel in kernels]
        assert len(set(labels)) == len(labels)
    assert h200.SLOW in course_kernels()
    assert len(h200.law_kernels()) == 33    # the law's table, line by line, and lesson 03's pairs


def test_the_transposed_tile_gives_the_same_values():
    A, B, _ = counters.inputs(33, 20, 37)
    run = h200.transposed(gl.SharedTiling(TILE=8, PAD=1)).run(A, B, mode="values", backend="emulator")
    np.testing.assert_allclose(run.C, A @ B, rtol=1e-4, atol=1e-4)


def test_the_script_explains_itself(capsys, tmp_path):
    assert h200.main([]) == 2 and h200.main([str(tmp_path), "nonsense"]) == 2
    assert "python benchmarks/h200.py OUT" in capsys.readouterr().out


# --- on a GPU

@pytest.mark.gpu
def test_a_benchmark_on_the_gpu():
    m = benchmark([gl.Naive(), gl.SharedTiling()], [256, (300, 200, 100)], seconds=0.05, progress=False)
    assert len(m.rows) == 6 and all(row.samples >= 5 for row in m.rows)
    for row in m.rows:
        assert 0 < row.tflops < (m.peak_tflops or 1e3) and row.spread_ms < row.median_ms
    assert m.row("cuBLAS", 256).percent_of_cublas == pytest.approx(100)
    assert m.tflops("cuBLAS", 256) > m.tflops(gl.Naive(), 256)


@pytest.mark.gpu
def test_a_wrong_kernel_is_not_timed_on_the_gpu():
    source = gl.Naive().source
    wrong = gl.Naive().with_source(source.replace("k < K", "k < K - 1"), "one product short")
    with pytest.raises(ValueError, match="one product short is wrong at 256x256x256"):
        benchmark([gl.Naive(), wrong], 256, progress=False)
