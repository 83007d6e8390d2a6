"""Detection, the process that holds the GPU, launching. Without a GPU a stand-in for CuPy takes its place."""

from __future__ import annotations

import importlib
import os
import time
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab import gpu
from gemm_lab.gpu import detect, smi, worker
from gemm_lab.gpu.job import GpuError, Job
from tests.fake_gpu import FAKES, job, stand_in

#  --- why there is no GPU

class CudaError(RuntimeError):
    pass


def cupy_like(driver=13000, runtime=13020, count=1, capability="90", **more):
    """An object with as much of CuPy as detection looks at."""
    def devices():
        if isinstance(count, Exception):
            raise count
        return count
    functions = SimpleNamespace(driverGetVersion=lambda: driver, runtimeGetVersion=lambda: runtime,
                                getDeviceCount=devices, CUDARuntimeError=CudaError, **more)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=functions,
                                                Device=lambda number: SimpleNamespace(compute_capability=capability)))


@pytest.fixture
def machine(monkeypatch):
    """machine(wheels, cupy): a machine with these wheels and that CuPy, or the error that importing it raises."""
    kept = importlib.import_module

    def build(wheels=("cupy-cuda13x",), cupy=None):
        def distribution(name):
            if name not in wheels:
                raise metadata.PackageNotFoundError(name)

        def import_module(name, package=None):
            if name != "cupy":
                return kept(name, package)
            if isinstance(cupy, BaseException):
                raise cupy
            return cupy
        monkeypatch.setattr(detect.metadata, "distribution", distribution)
        monkeypatch.setattr(detect.importlib, "import_module", import_module)
        detect.reason.cache_clear()
        detect.device.cache_clear()
    yield build
    detect.reason.cache_clear()
    detect.device.cache_clear()


FAULTS = [  # what is on the machine, and what its reason must say
    ((), ModuleNotFoundError("No module named 'cupy'", name="cupy"), ["not installed", "CUDA=13", "cupy-cuda13x"]),
    (("cupy-cuda13x",), ModuleNotFoundError("No module named 'fastrlock'", name="fastrlock"), ["broken", "fastrlock"]),
    (("cupy-cuda13x",), ImportError("libcudart.so.13: cannot open\nmany more lines"), ["broken", "libcudart.so.13"]),
    (("cupy-cuda13x",), AttributeError("module 'numpy' has no attribute 'x'"), ["broken", "AttributeError", "numpy"]),
    (("cupy-cuda12x", "cupy-cuda13x"), cupy_like(),
     ["cupy-cuda12x and cupy-cuda13x", "pip uninstall -y cupy-cuda12x cupy-cuda13x", "make lab CUDA=13"]),
    (("cupy", "cupy-cuda13x"), cupy_like(), ["cupy and cupy-cuda13x"]),
    (("cupy-cuda13x",), cupy_like(driver=0), ["no NVIDIA driver", "WSL2", "nvidia-smi"]),
    (("cupy-cuda13x",), cupy_like(driver=12040), ["built for CUDA 13", "only CUDA 12.4", "CUDA=12", "cupy-cuda12x"]),
    (("cupy-cuda13x",), cupy_like(count=CudaError("cudaErrorNoDevice: no CUDA-capable device")), ["cudaErrorNoDevice"]),
    (("cupy-cuda13x",), cupy_like(count=0), ["sees no GPU"]),
    (("cupy-cuda12x",), cupy_like(runtime=12090, capability="61"), ["6.1", "7.5 and later"]),
    (("cupy",), cupy_like(is_hip=True), ["AMD"]),
]


@pytest.mark.parametrize("wheels, cupy, words", FAULTS)
def test_every_fault_is_told_with_its_cure_by_every_call(machine, wheels, cupy, words):
    machine(wheels, cupy)
    assert not gpu.available()
    for word in words:
        assert word in gpu.reason()
    assert "\n" not in gpu.reason()
    A = np.ones((2, 2), np.float32)
    for call in (gpu.device, lambda: gpu.run_gemm(gl.Naive(), A, A, A, 1.0, 0.0),
                 lambda: gl.Naive().run(A, A, backend="gpu", mode="values"), lambda: gl.benchmark(gl.Naive(), 64)):
        with pytest.raises(gl.NoGpu) as error:
            call()
        assert gpu.reason() in str(error.value)
    banner = gl.status()
    for words_shown in (repr(banner), banner._repr_html_().replace("&#x27;", "'").replace("&quot;", '"')):
        assert gpu.reason().split("`")[0] in words_shown


def test_the_benchmark_without_a_gpu_names_the_recorded_results(machine):
    machine((), ModuleNotFoundError("No module named 'cupy'", name="cupy"))
    with pytest.raises(gl.NoGpu, match=r'gl\.recorded\("H200"\)'):
        gl.benchmark([gl.Naive()], [64])


@pytest.mark.parametrize("cupy", [cupy_like(), cupy_like(driver=13020, runtime=12090), cupy_like(capability="75")])
def test_a_driver_that_is_new_enough_works(machine, cupy):
    machine(cupy=cupy)
    assert gpu.available() and gpu.reason() is None


def test_version_numbers():
    assert [detect.version(n) for n in (13020, 12040, 11080)] == ["13.2", "12.4", "11.8"]


# --- nvidia-smi

TWO = "00000000:01:00.0, 580.65, 1980, [N/A]\n00000000:41:00.0, 580.65, 345, 88.5\n"


def test_nvidia_smi_rows_are_matched_by_bus():
    assert smi.own_row(TWO, "0000:41:00.0") == ["580.65", "345", "88.5"]
    assert smi.own_row(TWO, "0000:99:00.0") == []           # hidden among several: no guess
    assert smi.own_row(TWO.splitlines()[0], "0000:99:00.0") == ["580.65", "1980", "[N/A]"]    # the only one
    assert smi.own_row("No devices were found\n", "0000:01:00.0") == []
    assert smi.clock("00000000:01:00.0, 1980, 1980, [N/A], 41", "0000:01:00.0") == \
        {"sm_mhz": 1980.0, "max_sm_mhz": 1980.0, "celsius": 41.0}


def test_nvidia_smi_missing(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert smi.ask("0000:01:00.0", "driver_version") == []


# --- the process that holds the GPU, with the stand-in inside it

@pytest.fixture(scope="module")
def child():
    """A worker whose child finds the stand-in instead of CuPy."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(FAKES), before]))
    process = worker.Worker()
    yield process
    process.stop()
    os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


def matrices(M=3, N=5, K=4):
    numbers = np.random.default_rng(0)
    return [numbers.standard_normal(shape, np.float32) for shape in ((M, K), (K, N), (M, N))]


def test_the_child_computes_and_its_caller_keeps_its_matrices(child):
    A, B, C = matrices()
    kept = [X.copy() for X in (A, B, C)]
    (result, seconds), output = child.call("run", job("gemm 0.002"), A, B, C, 0.5, 2.0, 10.0, limit=30)
    np.testing.assert_allclose(result, 0.5 * A.astype(float) @ B + 2.0 * C, rtol=1e-5)
    assert seconds == pytest.approx(0.002) and output == "" and result.dtype == np.float32
    for X, before in zip((A, B, C), kept, strict=True):
        np.testing.assert_array_equal(X, before)


def test_what_a_kernel_prints_comes_back(child):
    (result, _), output = child.call("run", job("print"), *matrices(), 1.0, 0.0, 10.0, limit=30)
    assert output == "hello from a thread\n"
    assert child.call("run", job("gemm"), *matrices(), 1.0, 0.0, 10.0, limit=30)[1] == ""


@pytest.mark.parametrize("code, words", [("crash", "outside its arrays"), ("endless", "did not end within 0.3 s"),
                                         ("die", "Segmentation fault (fake)")])
def test_a_bad_kernel_costs_its_process_only(child, code, words):
    with pytest.raises(GpuError) as error:
        child.call("run", job(code), *matrices(), 1.0, 0.0, 0.3, limit=30)
    assert words in str(error.value)
    A, B, C = matrices()
    (result, _), _ = child.call("run", job("gemm"), A, B, C, 1.0, 0.0, 10.0, limit=30)
    np.testing.assert_allclose(result, A @ B, rtol=1e-5)


def test_a_silent_child_is_ended(child):
    begin = time.monotonic()
    with pytest.raises(GpuError, match="did not answer within 1 s"):
        child.call("run", job("endless"), *matrices(), 1.0, 0.0, 60.0, limit=1)
    assert time.monotonic() - begin < 15
    assert child.call("run", job("gemm"), *matrices(), 1.0, 0.0, 10.0, limit=30)


def test_a_bad_request_is_a_value_error_and_keeps_the_child(child):
    child.call("run", job("gemm"), *matrices(), 1.0, 0.0, 10.0, limit=30)
    before = child._process.pid
    with pytest.raises(ValueError, match="at most 232448"):
        child.call("run", job("gemm", shared_bytes=232449), *matrices(), 1.0, 0.0, 10.0, limit=30)
    child.call("run", job("gemm"), *matrices(), 1.0, 0.0, 10.0, limit=30)
    assert child._process.pid == before


def test_the_child_cannot_fall_back_to_shorter_floats():
    variables = worker.environment()
    assert variables["CUPY_TF32"] == variables["NVIDIA_TF32_OVERRIDE"] == "0"
    assert variables["PYTHONPATH"].startswith(str(Path(gl.__file__).parents[1]))


def test_run_gemm_goes_through_compiler_and_child(monkeypatch):
    calls = []

    def call(task, job, A, B, C, alpha, beta, seconds, limit):
        calls.append((task, job, alpha, beta))
        return (C + 1, 0.25), "printed"
    monkeypatch.setattr(gpu.worker, "call", call)
    monkeypatch.setattr(gpu, "device", lambda: SimpleNamespace(arch="sm_90"))
    A, B, C = matrices(70, 33, 4)
    run = gpu.run_gemm(gl.SharedTiling(TILE=16), A, B, C, 2.0, 1.0)
    assert (run.backend, run.seconds, run.output, run.counts) == ("gpu", 0.25, "printed", None)
    (task, sent, alpha, beta), = calls
    assert (task, alpha, beta) == ("run", 2.0, 1.0)
    assert (sent.grid, sent.block) == ((3, 5, 1), (16, 16, 1))
    assert sent.code == gl.SharedTiling(TILE=16).compile("sm_90").cubin and "shared_tiling" in sent.symbol
    tall = np.zeros((65536, 1), np.float32)
    with pytest.raises(ValueError, match="65535"):
        gpu.run_gemm(gl.Naive(block=(32, 1)), tall, A[:1, :1], tall, 1.0, 0.0)


# --- launching, with the stand-in in this process

@pytest.fixture
def fake(monkeypatch):
    yield from stand_in(monkeypatch)


def test_an_old_driver_gets_code_from_cupys_compiler(fake):
    launching = importlib.import_module("gemm_lab.gpu.launching")
    assert launching.load(job("old", source="gemm 0.003")).code == "gemm 0.003"
    assert launching.load(job("gemm 0.001")).code == "gemm 0.001"


def test_large_dynamic_shared_memory_is_asked_for(fake):
    launching = importlib.import_module("gemm_lab.gpu.launching")
    launching.load(job("gemm", shared_bytes=48 * 1024))
    assert fake.cuda.driver.attributes == []
    launching.load(job("gemm", shared_bytes=48 * 1024 + 4))
    assert fake.cuda.driver.attributes == [(1, 8, 48 * 1024 + 4)]


@pytest.mark.parametrize("error, words", [
    ("cudaErrorIllegalAddress: an illegal memory access was encountered", "outside its arrays"),
    ("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered", "outside its arrays"),
    ("cudaErrorMisalignedAddress: misaligned address", "not a multiple"),
    ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch", "more registers or shared memory"),
    ("cudaErrorLaunchTimeout: the launch timed out and was terminated", "draws the screen"),
    ("cudaErrorAssert: device-side assert triggered", "assert()"),
    ("cudaErrorLaunchFailure: unspecified launch failure", "it crashed"),
    ("CUDA_ERROR_SOMETHING_NEW: what", "the GPU reports: CUDA_ERROR_SOMETHING_NEW: what"),
])
def test_errors_in_the_students_words(fake, error, words):
    launching = importlib.import_module("gemm_lab.gpu.launching")
    assert words in str(launching.explained(fake.CUDARuntimeError(error)))


# --- on a GPU

@pytest.mark.gpu
@pytest.mark.parametrize("kernel", [gl.Naive(), gl.Naive(coalesced=False), gl.SharedTiling(TILE=16),
                                    gl.RegisterTiling1D(), gl.RegisterTiling1D(strided_loader=True)])
@pytest.mark.parametrize("alpha, beta", [(1.0, 0.0), (0.75, -1.5)])
def test_values_on_the_gpu(kernel, alpha, beta):
    from gemm_lab.checking import reference
    A, B, C = matrices(65, 33, 17)
    kept = [X.copy() for X in (A, B, C)]
    start = C if beta else np.full_like(C, np.nan)
    run = gpu.run_gemm(kernel, A, B, start, alpha, beta)
    want, tolerance = reference(A, B, C, alpha, beta)
    assert (np.abs(run.C - want) <= tolerance).all()
    assert run.backend == "gpu" and 0 < run.seconds < 1
    for X, before in zip((A, B, C), kept, strict=True):
        np.testing.assert_array_equal(X, before)


SIGNATURE = "(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)"


def kernel_with(body: str, before: str = "", **more) -> gl.CudaGemm:
    return gl.CudaGemm(f"{before}\n__global__ void k{SIGNATURE} {{ {body} }}", "k", lambda M, N: 1, 32, **more)


@pytest.mark.gpu
@pytest.mark.parametrize("body, words", [
    ("C[1LL << 40] = 1;", "outside its arrays"),
    ("while (*(volatile const float *)A < 1e30f) {}", "did not end within 2 s"),
    ("*(float2 *)(C + 1) = make_float2(1, 2);", "not a multiple"),
])
def test_a_bad_kernel_on_the_gpu_costs_its_process_only(body, words):
    A, B, C = matrices()
    begin = time.monotonic()
    with pytest.raises(GpuError) as error:
        gpu.run_gemm(kernel_with(body), A, B, C, 1.0, 0.0, time_limit=2.0)
    assert words in str(error.value) and time.monotonic() - begin < 60
    np.testing.assert_allclose(gpu.run_gemm(gl.Naive(), A, B, C, 1.0, 0.0).C, A @ B, rtol=1e-4, atol=1e-5)


@pytest.mark.gpu
def test_printf_and_dynamic_shared_memory_on_the_gpu():
    A, B, C = matrices(1, 1, 1)
    run = gpu.run_gemm(kernel_with('if (threadIdx.x == 3) printf("thread %d\\n", threadIdx.x);'), A, B, C, 1.0, 0.0)
    assert run.output == "thread 3\n"
    large = kernel_with("extern __shared__ float s[]; s[20000] = A[0]; if (threadIdx.x == 0) C[0] = s[20000];",
                        shared_bytes=96 * 1024)
    assert gpu.run_gemm(large, A, B, C, 1.0, 0.0).C[0, 0] == A[0, 0]
    with pytest.raises(ValueError, match="at most"):
        gpu.run_gemm(kernel_with("", shared_bytes=10**6), A, B, C, 1.0, 0.0)


@pytest.mark.gpu
def test_code_that_the_driver_refuses_is_compiled_by_cupy():
    A, B, C = matrices(65, 33, 17)
    real = Job.of(gl.SharedTiling(TILE=16), 65, 33, gpu.device().arch)
    refused = Job(real.label, b"no machine code", real.symbol, real.grid, real.block, 0, real.source, real.entry)
    (result, _), _ = worker.call("run", refused, A, B, C, 1.0, 0.0, 10.0, limit=60)
    np.testing.assert_allclose(result, A @ B, rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
def test_the_device_is_described():
    device = gpu.device()
    assert device.name and device.sms > 0 and device.l2_bytes > 0 and device.arch.startswith("sm_")
    assert device.name in repr(gl.status())
