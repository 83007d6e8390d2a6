"""Shared-memory instructions read from a cubin's bytes, against nvdisasm's listing of the same cubin."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from gemm_lab.compiler import compile_kernel, entries, global_loads, sass_by_line, shared_accesses
from gemm_lab.compiler.sass import opcode
from gemm_lab.kernels import RegisterTiling1D, SharedTiling

CORPUS = Path(__file__).parent / "corpus" / "correct"
INLINED = """
__device__ float twice(const float *p, int i) {
    return p[i] * 2;
}
__device__ float both(const float *p, int i) {
    return twice(p, i) +
           twice(p, i + 5);
}
__global__ void other(double *a) {
    __shared__ double s[64];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 7) s[threadIdx.x] = 0;
    __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void k(float *a, const unsigned char *bytes) {
    __shared__ float s[1024];
    __shared__ unsigned char b[64];
    __shared__ short h[64];
    s[threadIdx.x] = a[threadIdx.x];
    b[threadIdx.x] = bytes[threadIdx.x];
    h[threadIdx.x] = -bytes[threadIdx.x];
    __syncthreads();
    float4 v = reinterpret_cast<float4 *>(s)[threadIdx.x];
    a[threadIdx.x] = both(s, 40 + threadIdx.x) + v.x + v.w +
        both(s, 3 * threadIdx.x) + b[63 - threadIdx.x] + h[63 - threadIdx.x];
}
"""
KERNELS = [(k.source, k.entry) for k in (SharedTiling(32), SharedTiling(16, PAD=2), RegisterTiling1D(32, 64, 8, 4),
                                         RegisterTiling1D(strided_loader=True))]
KERNELS += [(INLINED, "k"), (INLINED, "other")]
KERNELS += [((CORPUS / f"{name}.cu").read_text(), None) for name in
            ("naive_3d_block", "reg2d_template_recursion", "tiled_byte_flags", "tiled_cooperative_groups")]


def listed(compiled) -> dict[int, Counter[str]]:
    """The names of what nvdisasm lists, by line."""
    found = {}
    for line, instructions in sass_by_line(compiled).items():
        for text in instructions:
            name, *modifiers = opcode(text).split(".")
            if name in ("LDS", "STS"):
                width = [m for m in modifiers if re.fullmatch(r"64|128|[US](?:8|16)", m)]
                found.setdefault(line, Counter())[".".join([name, *width])] += 1
    return found


@pytest.mark.parametrize("arch", ["sm_90", "sm_75"])
@pytest.mark.parametrize(("source", "entry"), KERNELS, ids=lambda text: (text or "")[-40:].strip().split("\n")[0])
def test_as_nvdisasm_lists_them(source, entry, arch):
    compiled = compile_kernel(source, entry or entries(source)[0], arch)
    wanted = listed(compiled)
    assert wanted, "this kernel has nothing to compare"
    assert shared_accesses(compiled) == wanted
    loads = Counter(line for line, code in sass_by_line(compiled).items() for text in code
                    if opcode(text).startswith("LDG"))
    assert global_loads(compiled) == loads
