"""Small kernels, all in one source, and the machine code that ptxas makes of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from gemm_lab.compiler import compile_kernel, sass

KERNEL = """
extern "C" __global__ void %s(int n, const float *A, float *d) {
    const int t = threadIdx.x;
    const float a = A[t], b = A[t + 32], c = A[t + 64], e = A[t + 96];
    %s
}
"""


def program(bodies: Iterable[str]) -> str:
    """The kernels k0, k1, ... in one source: the disassembler takes half a second to start."""
    return "".join(KERNEL % (f"k{n}", body) for n, body in enumerate(bodies))


@cache
def disassembled(source: str) -> dict[str, str]:
    """Kernel -> its disassembly, of such a source."""
    cubin = compile_kernel(source, "k0").cubin
    with TemporaryDirectory() as folder:
        path = Path(folder) / "all.cubin"
        path.write_bytes(cubin)
        text = subprocess.run([sass.disassembler(), "--print-code", path], capture_output=True, text=True).stdout
    names_and_texts = re.split(r"^//-+ \.text\.(\w+) +-+$", text, flags=re.MULTILINE)[1:]
    return dict(zip(names_and_texts[::2], names_and_texts[1::2], strict=True))
