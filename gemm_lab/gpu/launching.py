"""Inside the GPU's process (see `worker`): load machine code, launch it, wait for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache

import cupy
import numpy as np
from cupy.cuda import driver, runtime

from gemm_lab.gpu.job import GpuError, Job

DEFAULT_SHARED_BYTES = 48 * 1024    # a launch that wants more must opt in (CUDA C++ Programming Guide, "Shared Memory")
NOT_READY = 600                     # cudaErrorNotReady

CAUSES = {  # part of CUDA's name for an error -> what it means for a kernel of this course
    "ILLEGALADDRESS": "it read or wrote memory outside its arrays (illegal address)",
    "MISALIGNEDADDRESS": "it accessed an address that is not a multiple of the access's size (misaligned address)",
    "LAUNCHOUTOFRESOURCES": "a block needs more registers or shared memory than this GPU has (out of resources)",
    "LAUNCHTIMEOUT": "the operating system stopped it because it ran too long on a GPU that also draws the screen",
    "ASSERT": "an assert() in it failed",
    "ILLEGALINSTRUCTION": "it ran into an illegal instruction",
    "LAUNCHFAIL": "it crashed (unspecified launch failure), most often by a wild address",
}
NO_LINE = (CAUSES["LAUNCHOUTOFRESOURCES"], CAUSES["LAUNCHTIMEOUT"])    # no fault of a single line


def start() -> None:
    """Create the GPU's context, so that the first task does not pay for it."""
    cupy.cuda.Device(0).use()
    runtime.deviceSynchronize()


def run(job: Job, A, B, C, alpha: float, beta: float, limit: float) -> Iterator[tuple]:
    """The task "run": one launch on NumPy arrays; ("result", (new C, seconds of the kernel))."""
    function = load(job)
    a, b, c = (cupy.asarray(X) for X in (A, B, C))
    begin = mark()
    launch(function, job, arguments(a, b, c, alpha, beta))
    end = mark()
    wait(end, limit, job.label)
    yield "result", (cupy.asnumpy(c), cupy.cuda.get_elapsed_time(begin, end) / 1000)


def arguments(a, b, c, alpha: float = 1.0, beta: float = 0.0) -> tuple:
    """A kernel's arguments, in the order of the course's signature and with the exact C types."""
    (M, K), N = a.shape, b.shape[1]
    return np.int32(M), np.int32(N), np.int32(K), np.float32(alpha), a, b, np.float32(beta), c


def launch(function, job: Job, values: tuple) -> None:
    """Queue one launch on the current stream."""
    function(job.grid, job.block, values, shared_mem=job.shared_bytes)


def mark():
    """An event, recorded on the current stream."""
    event = cupy.cuda.Event()
    event.record(cupy.cuda.get_current_stream())
    return event


def load(job: Job):
    """The kernel as a CuPy function that can be launched."""
    allowed = runtime.getDeviceProperties(0)["sharedMemPerBlockOptin"]
    if job.shared_bytes > allowed:
        raise ValueError(f"{job.label} asks for {job.shared_bytes} bytes of dynamic shared memory; "
                         f"a block has at most {allowed} on this GPU")
    function = _function(job.code, job.symbol, job.source, job.entry)
    if job.shared_bytes > DEFAULT_SHARED_BYTES:
        driver.funcSetAttribute(function.ptr, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, job.shared_bytes)
    return function


@lru_cache(maxsize=64)
def _function(code: bytes, symbol: str, source: str, entry: str):
    module = cupy.cuda.function.Module()
    try:
        module.load(code)
    except driver.CUDADriverError:
        # The driver is older than our compiler and does not take its machine code: CuPy's own compiler fits the driver.
        compiled = cupy.RawModule(code=source, options=("-std=c++17",), name_expressions=(entry,))
        return compiled.get_function(entry).kernel
    return module.get_function(symbol)


def wait(event, limit: float, label: str) -> None:
    """Wait for an event, at most `limit` seconds. `event.synchronize()` would wait for an endless kernel forever."""
    deadline = time.monotonic() + limit
    while (status := runtime.eventQuery(event.ptr)) == NOT_READY:
        if time.monotonic() > deadline:
            raise GpuError(f"{label} did not end within {limit:g} s on the GPU: an endless loop, or a large problem. "
                           "Only the GPU's own process was ended; the emulator names the line of an endless loop: "
                           "kernel.run(A, B, mode='check')")
        time.sleep(1e-4)
    if status:
        event.synchronize()    # raises the error, with its name


def explained(error: Exception) -> GpuError:
    """Any exception of a task as a GpuError in the student's words."""
    if isinstance(error, GpuError):
        return GpuError(str(error))
    if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
        return GpuError(f"the GPU's memory is full: {error}")
    words = str(error).strip() or type(error).__name__
    plain = words.split(":")[0].replace("_", "").upper()
    cause = next((cause for name, cause in CAUSES.items() if name in plain), None)
    if cause is None:
        return GpuError(f"the GPU reports: {words}")
    hint = "" if cause in NO_LINE else " The emulator names the line of such a fault: kernel.run(A, B, mode='check')."
    return GpuError(f"the kernel failed on the GPU: {cause}. CUDA says {words!r}. Only the GPU's own process was lost."
                    + hint)
