"""The fast back end: executes a kernel with machine code of this computer (made by llvmlite), a warp at a time.

One warp is one vector of 32 lanes. Every instruction of the PTX becomes a *record*: an operation, and where its
operands lie (`assembler`, `operands`, `arena`). An operation is a small function of machine code that executes a record
for the lanes of a warp and jumps to the operation of the next one (`operations`, `control`, `requests`, `warps`). Only
operations are compiled, once for all kernels of a process (`engine`), so a kernel is ready in milliseconds. What an
operation computes is an expression in a table (`instructions`), written with `values` and `functions`.

`launch` runs a launch: a `crew` of workers, one for each processor, takes block after block (`blocks`). Whatever is
wrong, or not known here, is left to the NumPy back end.
"""

from gemm_lab.emulator.llvm.launch import run

__all__ = ["run"]
