"""A stand-in for CuPy on a machine without a GPU: NumPy arrays, a virtual clock, and "kernels" that NumPy computes.

Machine code is text here: "gemm 0.002" computes and takes 2 ms by the virtual clock, "wrong 0.002" computes with one
element off, "crash" makes an illegal access, "endless" never ends, "die" ends the process, "print" prints, "old" cannot
be loaded. Real machine code and PTX compute like "gemm".
"""

import os
import sys
import types

import numpy
from numpy import abs, empty, float32, float64, matmul, nan, zeros  # noqa: F401

__version__ = "0.fake"

clock = 0.0        # seconds
state = "ok"       # or "endless", "crashed": what the device does from now on
recording = None   # the launches of the graph that is being captured
launched = []      # labels of all launches, in order


class CUDARuntimeError(RuntimeError):
    pass


class CUDADriverError(RuntimeError):
    pass


class OutOfMemoryError(MemoryError):
    pass


def asarray(X):
    return numpy.array(X, copy=True)


def asnumpy(X):
    return numpy.array(X, copy=True)


def full(shape, value, dtype):
    return numpy.full(shape, value, dtype)


class _Pool:
    def free_all_blocks(self):
        pass


def get_default_memory_pool():
    return _Pool()


def run(name, seconds, action):
    """Execute a launch, or put it into the graph that is being captured."""
    if recording is not None:
        recording.append((name, seconds, action))
        return
    globals()["clock"] += seconds
    launched.append(name)
    action()


class Function:
    def __init__(self, code):
        self.code, self.ptr = code, 1

    def __call__(self, grid, block, values, shared_mem=0):
        words = self.code.split()
        run(self.code, float(words[1]) if len(words) > 1 else 1e-3, lambda: self.compute(words[0], values))

    def compute(self, kind, values):
        M, N, K, alpha, a, b, beta, c = values
        assert [type(v) for v in (M, N, K, alpha, beta)] == [numpy.int32] * 3 + [numpy.float32] * 2
        if kind in ("crash", "endless"):
            globals()["state"] = {"crash": "crashed", "endless": "endless"}[kind]
        elif kind == "die":
            print("Segmentation fault (fake)", file=sys.stderr, flush=True)
            os._exit(139)
        elif kind == "print":
            print("hello from a thread", flush=True)
        product = alpha * (a.astype(float64) @ b.astype(float64))
        c[:] = product if beta == 0 else product + beta * c
        if kind == "wrong":
            c[-1, -1] += 1


class Module:
    def load(self, code):
        self.code = code.decode() if code.isascii() and b".version" not in code else "gemm"
        if self.code.startswith("old"):
            raise CUDADriverError("CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid")

    def get_function(self, name):
        return Function(self.code)


class RawModule:
    def __init__(self, code, options, name_expressions):
        self.code, self.names = code, name_expressions

    def get_function(self, name):
        assert name in self.names
        return types.SimpleNamespace(kernel=Function(self.code))


class Event:
    def __init__(self):
        self.ptr, self.at = self, None

    def record(self, stream):
        self.at = clock

    def synchronize(self):
        if state == "crashed":
            raise CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")


class Graph:
    def __init__(self, nodes):
        self.nodes = nodes

    def launch(self, stream=None):
        for node in self.nodes:
            run(*node)


class Stream:
    def __init__(self, non_blocking=False):
        self.ptr = 1

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def begin_capture(self):
        globals()["recording"] = []

    def end_capture(self):
        nodes, globals()["recording"] = recording, None
        return Graph(nodes)


class Device:
    compute_capability = "90"
    pci_bus_id = "0000:01:00.0"

    def __init__(self, number=0):
        pass

    def use(self):
        pass


runtime = types.ModuleType("cupy.cuda.runtime")
runtime.CUDARuntimeError = CUDARuntimeError
runtime.is_hip = False
runtime.driverGetVersion = lambda: 13000
runtime.runtimeGetVersion = lambda: 13020
runtime.getDeviceCount = lambda: 1
runtime.deviceSynchronize = lambda: None
runtime.memGetInfo = lambda: (2**30, 2**31)
runtime.eventQuery = lambda event: {"ok": 0, "endless": 600, "crashed": 700}[state]
runtime.getDeviceProperties = lambda number: {
    "name": b"NVIDIA H200", "major": 9, "minor": 0, "multiProcessorCount": 132, "totalGlobalMem": 2**37,
    "l2CacheSize": 2**17, "sharedMemPerBlockOptin": 227 * 1024}

driver = types.ModuleType("cupy.cuda.driver")
driver.CUDADriverError = CUDADriverError
driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
driver.attributes = []
driver.funcSetAttribute = lambda *values: driver.attributes.append(values)

cuda = types.ModuleType("cupy.cuda")
cuda.runtime, cuda.driver, cuda.Event, cuda.Stream, cuda.Device = runtime, driver, Event, Stream, Device
cuda.function = types.SimpleNamespace(Module=Module)
cuda.memory = types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError)
cuda.get_current_stream = Stream
cuda.set_allocator = lambda allocator: None
cuda.get_elapsed_time = lambda begin, end: 1000 * (end.at - begin.at)
sys.modules |= {"cupy.cuda": cuda, "cupy.cuda.runtime": runtime, "cupy.cuda.driver": driver}
