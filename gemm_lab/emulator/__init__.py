"""A GPU on the CPU: executes the PTX of a CUDA kernel, counts what it does and finds what is wrong with it."""

from gemm_lab.emulator.emulate import emulate
from gemm_lab.emulator.requests import ReadOnly

__all__ = ["ReadOnly", "emulate"]
