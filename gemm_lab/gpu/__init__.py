"""Everything that touches CuPy: is there a GPU, run a kernel on it, time it.

detect      is there a GPU that CuPy can use, and if not, why not
smi         what nvidia-smi tells about it
job         what there is to launch
worker      a process of its own holds the GPU: a kernel that crashes or never ends costs that process, not the notebook
launching   in that process: load machine code, launch it, wait for it
cublas      there: NVIDIA's library, the yardstick
timing      there: the measurement protocol
"""

from __future__ import annotations

import numpy as np

from gemm_lab.gpu import worker
from gemm_lab.gpu.detect import Device, NoGpu, available, device, reason
from gemm_lab.gpu.job import GpuError, Job
from gemm_lab.run import Run

__all__ = ["Device", "GpuError", "Job", "NoGpu", "available", "device", "measure", "reason", "run_gemm"]

RUN_SECONDS = 10.0       # how long one kernel may run before it is taken for endless
MEASURE_SECONDS = 120.0  # the same for one step of a measurement


def run_gemm(kernel, A: np.ndarray, B: np.ndarray, C: np.ndarray, alpha: float, beta: float,
             time_limit: float = RUN_SECONDS) -> Run:
    """Launch a kernel once on the GPU: alpha*A*B + beta*C as `Run.C`, its time by CUDA events as `Run.seconds`.

    A (M, K), B (K, N), C (M, N) are float32 and row-major; none of them is changed. The machine code is the one that
    `kernel.compile` returns for this GPU.

    Raises NoGpu without a usable GPU, CompileError for a source that does not compile, ValueError for a grid that is
    too large, and GpuError for a kernel that crashes, cannot be launched, or runs longer than `time_limit` seconds.
    """
    job = Job.of(kernel, *C.shape, device().arch)
    (result, seconds), output = worker.call("run", job, A, B, C, alpha, beta, time_limit, limit=time_limit + 60)
    return Run(C=result, backend="gpu", seconds=seconds, output=output)


def measure(jobs: list[Job], M: int, N: int, K: int, seconds: float, progress=None) -> dict:
    """Verify and time kernels and cuBLAS on one problem size: see `timing.measure`, which does it."""
    result, _ = worker.call("measure", jobs, M, N, K, seconds, limit=MEASURE_SECONDS + 10, progress=progress)
    return result
