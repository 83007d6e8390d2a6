"""The fast back end: compiles a kernel's PTX to the machine code of this computer (llvmlite). See the README."""

from gemm_lab.emulator.llvm.launch import run

__all__ = ["run"]
