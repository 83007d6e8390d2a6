"""Widths of shared accesses in the machine code: by hand, and for kernels of every kind."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gemm_lab.compiler import compile_kernel, compile_ptx, shared_accesses
from gemm_lab.emulator import reader
from gemm_lab.kernels import RegisterTiling1D, SharedTiling
from gemm_lab.machine_loads import MachineAccess, machine_accesses


def widths(source: str, entry: str) -> dict[str, Counter]:
    """{"ld": {width in the machine code: accesses of the PTX}, "st": ...}; for one kernel."""
    ptx = compile_ptx(source, entry)
    kernel = reader.parse(ptx.text, ptx.entry)
    found: dict[str, Counter] = {"ld": Counter(), "st": Counter()}
    for index, access in machine_accesses(kernel, shared_accesses(compile_kernel(source, entry))).items():
        found[kernel.instructions[index].opcode[0]][access and access.width] += 1
    return found


@pytest.mark.parametrize(("kernel", "loads"), [
    (SharedTiling(32), {16: 32, 4: 32}),            # rows of A in fours, columns of B one by one
    (SharedTiling(32, PAD=1), {4: 64}),             # nothing is aligned
    (SharedTiling(32, PAD=2), {8: 32, 4: 32}),      # pairs
    (RegisterTiling1D(), {16: 16, 4: 2}),           # the PTX shows pairs; ptxas unrolled the loop and made fours
    (RegisterTiling1D(64, 64, 32, 8), {8: 16, 4: 2}),
    (RegisterTiling1D(64, 64, 32, 32), {4: 33}),    # one round at a time: no neighbours
])
def test_course_kernels(kernel, loads):
    assert widths(kernel.source, kernel.entry)["ld"] == loads


SOURCES = {  # what a thread does with its words -> (body, loads, stores)
    "one at a time": ("s[t] = a[t]; __syncthreads(); a[t] = s[255 - t];", {4: 1}, {4: 1}),
    "four in a row": ("float *p = s + 4 * (63 - t % 64); s[t] = a[t]; __syncthreads();\n"
                      "a[t] = p[0] + p[1] + p[2] + p[3];", {16: 4}, {4: 1}),
    "an odd start": ("float *p = s + 4 * (t % 60); s[t] = a[t]; __syncthreads();\n"
                     "a[t] = p[1] + p[2] + p[3] + p[4];", {16: 3, 4: 1}, {4: 1}),    # LDS.128 reads p[0], too
    "on two lines": ("float *p = s + 2 * (t % 64); s[t] = a[t]; __syncthreads();\nfloat x = p[0];\na[t] = x + p[1];",
                     {8: 2}, {4: 1}),
    "stored together": ("float *p = s + 4 * t; p[0] = a[t];\np[1] = t;\np[2] = 1;\np[3] = 2; __syncthreads();\n"
                        "a[t] = s[255 - t];", {4: 1}, {16: 4}),
    "float4": ("s[t] = a[t]; __syncthreads(); float4 v = ((float4 *)s)[63 - t % 64]; a[t] = v.x + v.y + v.z + v.w;",
               {16: 1}, {4: 1}),
    "bytes": ("unsigned char *b = (unsigned char *)s; b[t] = t; __syncthreads(); a[t] = b[255 - t];", {1: 1}, {1: 1}),
}


@pytest.mark.parametrize("name", SOURCES)
def test_small_kernels(name):
    body, loads, stores = SOURCES[name]
    source = ("__global__ void k(float *a) { __shared__ float s[1024]; const int t = threadIdx.x;\n"
              f"{body}\n}}")
    assert widths(source, "k") == {"ld": loads, "st": stores}


TAIL = """
template <int T> __global__ void k(int K, const float *A, float *C) {
    __shared__ float s[T][T], u[T][T];
    const int x = threadIdx.x, y = threadIdx.y;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += T) {
        s[y][x] = A[k0 * T + y * T + x];
        u[y][x] = A[k0 * T + x * T + y];
        __syncthreads();
        const int rounds = min(T, K - k0);
        for (int k = 0; k < rounds; ++k) acc += s[y][k] * u[k][x];
        __syncthreads();
    }
    C[y * T + x] = acc;
}
"""


def test_a_loop_with_a_remainder():
    """PTX: four rounds in a loop, then up to three. The machine code reads the three at once, ahead of its branches."""
    assert widths(TAIL, "k<16>")["ld"] == {8: 4, 16: 3, 4: 7}


def test_which_requests_the_machine_makes():
    rows = np.array([np.full(32, 8), np.full(32, 16), np.full(32, 20)])
    assert MachineAccess(16, True).requests(rows)[:, 0].tolist() == [0, 16, 16]
    assert MachineAccess(16, None).requests(rows)[:, 0].tolist() == [16]
    assert MachineAccess(16, False).requests(rows).shape == (0, 32)
    some = np.where(np.arange(32) < 3, -1, 32)
    assert MachineAccess(8, None).requests(some[None]).tolist() == [some.tolist()]


def test_widths_that_cannot_be_explained_are_unknown():
    kernel = SharedTiling(32)
    ptx = compile_ptx(kernel.source, kernel.entry)
    parsed = reader.parse(ptx.text, ptx.entry)
    widths = shared_accesses(kernel.compile())
    line = next(line for line, counts in widths.items() if "LDS.128" in counts)
    widths[line]["LDS.128"] -= 1
    widths[line]["LDS.64"] += 1
    found = machine_accesses(parsed, widths)
    loads = {access for index, access in found.items() if parsed.instructions[index].opcode[0] == "ld"}
    assert loads == {None}


def test_every_shared_instruction_of_the_machine_code_is_explained():
    """The words that the widths stand for are those of the machine code, or a whole multiple (copies)."""
    for kernel in (SharedTiling(16), RegisterTiling1D(), RegisterTiling1D(strided_loader=True)):
        found = widths(kernel.source, kernel.entry)
        machine = sum(shared_accesses(kernel.compile()).values(), Counter())
        words = {16: machine["LDS.128"] * 4, 8: machine["LDS.64"] * 2, 4: machine["LDS"]}
        for width, n in found["ld"].items():
            assert words[width] % n == 0 and words[width] >= n
