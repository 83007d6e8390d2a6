"""cuBLAS, NVIDIA's library, in plain float32: the yardstick of every measurement. Inside the GPU's process.

CuPy's own binding refuses to be captured into a CUDA graph, and short kernels are timed by replaying graphs; so these
few functions are called directly (cuBLAS Library User's Guide, "cublasSgemm", "cublasSetWorkspace").
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import byref, c_float, c_int, c_size_t, c_void_p

import cupy

LABEL = "cuBLAS"
NO_TRANSPOSE = 0
DEFAULT_MATH = 0                      # float32 stays float32: TF32 would have to be asked for
WORKSPACE_BYTES = 32 * 1024 * 1024    # what the guide recommends for Hopper; more than other GPUs need


class Cublas:
    """A cuBLAS handle on one stream, with a workspace of its own: nothing is allocated while a graph is captured."""

    def __init__(self, stream):
        self._library = library()
        self._handle = c_void_p()
        self._workspace = cupy.cuda.alloc(WORKSPACE_BYTES)
        self._one, self._zero = c_float(1), c_float(0)
        self._check("cublasCreate_v2", self._library.cublasCreate_v2(byref(self._handle)))
        self._call("cublasSetStream_v2", c_void_p(stream.ptr))
        self._call("cublasSetWorkspace_v2", c_void_p(self._workspace.ptr), c_size_t(WORKSPACE_BYTES))
        self._call("cublasSetMathMode", c_int(DEFAULT_MATH))

    def sgemm(self, a, b, c) -> None:
        """Queue C = A*B for row-major CuPy arrays.

        cuBLAS is column-major. A row-major matrix read column-major is its transpose, and C' = B'A' is what we ask for.
        """
        (M, K), N = a.shape, b.shape[1]
        self._call("cublasSgemm_v2", c_int(NO_TRANSPOSE), c_int(NO_TRANSPOSE), c_int(N), c_int(M), c_int(K),
                   byref(self._one), c_void_p(b.data.ptr), c_int(N), c_void_p(a.data.ptr), c_int(K),
                   byref(self._zero), c_void_p(c.data.ptr), c_int(N))

    @property
    def version(self) -> str:
        """Such as "13.1.0"."""
        number = c_int()
        self._call("cublasGetVersion_v2", byref(number))
        return version(number.value)

    def close(self) -> None:
        """Release the handle."""
        self._call("cublasDestroy_v2")

    def _call(self, name: str, *arguments) -> None:
        self._check(name, getattr(self._library, name)(self._handle, *arguments))

    def _check(self, name: str, status: int) -> None:
        if status:
            raise RuntimeError(f"cuBLAS answered {name} with status {status}")


def version(number: int) -> str:
    """cuBLAS's version number in words: 130100 is "13.1.0", 120805 "12.8.5"."""
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def library() -> ctypes.CDLL:
    """The cuBLAS library that CuPy uses."""
    cupy.cuda.get_cublas_handle()    # CuPy knows where the library is and loads it; by its name we get the loaded one
    major = cupy.cuda.runtime.runtimeGetVersion() // 1000
    return ctypes.CDLL(f"cublas64_{major}.dll" if sys.platform == "win32" else f"libcublas.so.{major}")
