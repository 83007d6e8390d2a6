"""Widths of shared accesses in the machine code: by hand, and for kernels of every kind."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab.compiler import compile_kernel, compile_ptx, shared_accesses
from gemm_lab.emulator import reader
from gemm_lab.kernels import RegisterTiling1D, SharedTiling
from gemm_lab.machine_loads import MachineAccess, machine_accesses, spins


def widths(source: str, entry: str) -> dict[str, Counter]:
    """{"ld": {width in the machine code: accesses of the PTX}, "st": ...}; for one kernel."""
    ptx = compile_ptx(source, entry)
    kernel = reader.parse(ptx.text, ptx.entry)
    found: dict[str, Counter] = {"ld": Counter(), "st": Counter()}
    for index, access in machine_accesses(kernel, shared_accesses(compile_kernel(source, entry))).items():
        if not spins(kernel.instructions[index]):
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


# --- atomic updates that become loops

UPDATES = {  # type of the element -> an update, and whether there is a machine instruction for it
    "float": [("atomicAdd(p, 1.0f)", False), ("atomicExch(p, 1.0f)", True)],
    "double": [("atomicAdd(p, 1.0)", False)],
    "int": [("atomicAdd(p, 1)", True), ("atomicMax(p, 1)", True), ("atomicXor(p, 1)", True),
            ("atomicCAS(p, 1, 2)", True)],
    "unsigned long long": [("atomicAdd(p, 1ull)", False), ("atomicMin(p, 1ull)", False), ("atomicOr(p, 1ull)", False),
                           ("atomicCAS(p, 1ull, 2ull)", True), ("atomicExch(p, 1ull)", True)],
}


@pytest.mark.parametrize(("kind", "update", "native"), [(k, *one) for k, some in UPDATES.items() for one in some])
def test_updates_without_a_machine_instruction(kind, update, native):
    source = f"""__global__ void k({kind} *d) {{
        __shared__ {kind} s[64]; s[threadIdx.x] = d[threadIdx.x]; __syncthreads();
        {kind} *p = s + threadIdx.x % 7; {update}; __syncthreads(); d[threadIdx.x] = s[threadIdx.x]; }}"""
    ptx, compiled = compile_ptx(source, "k"), compile_kernel(source, "k")
    assert any(map(spins, reader.parse(ptx.text, ptx.entry).instructions)) is not native
    assert ("ATOMS.CAST.SPIN" in compiled.sass) is not native


def test_rounds_of_a_loop():
    """Lanes 0 and 3 meet at 8, and 1, 4 and 5 at 24; 2 has no rival. All others do not take part."""
    row = np.array([8, 24, 16, 8, 24, 24] + [-1] * 26)
    rounds = MachineAccess(4, True, spins=True).requests(row[None])
    assert [[a for a in some if a >= 0] for some in rounds.tolist()] == [[8, 24, 16, 8, 24, 24], [8, 24, 24], [24]]


@pytest.mark.parametrize(("index", "rounds"), [("t", 1), ("t % 8", 4), ("0", 32), ("t < 20 ? t % 5 : 40", 12)])
def test_loads_of_an_update(index, rounds):
    """Three warps, and none interferes with another."""
    source = f"""__global__ void k(float *d) {{
        __shared__ float s[3][64]; const int w = threadIdx.x / 32, t = threadIdx.x % 32;
        s[w][t] = s[w][t + 32] = 0.0f; __syncthreads();
        atomicAdd(&s[w][{index}], 1.0f); __syncthreads();
        d[threadIdx.x] = s[w][t] + s[w][t + 32]; }}"""
    d = np.zeros(96, np.float32)
    run = gl.emulate(source, "k", 1, 96, [d])
    assert run.by_line[4].shared_load_requests == 3 * rounds and run.by_line[4].shared_load_words == 0
    assert run.counts.shared_load_requests == 3 * rounds + 6 and d.sum() == 96


def test_an_update_beside_other_accesses():
    """The loop's load is one of its line, and does not hide how wide the others are."""
    source = """__global__ void k(float *d) { __shared__ __align__(16) float s[256]; const int t = threadIdx.x;
    s[t] = d[t]; s[t + 128] = 0; __syncthreads();
    const float *p = s + 4 * (t % 8); atomicAdd(s + 128 + t, p[0] + p[1] + p[2] + p[3]);
    __syncthreads(); d[t] = s[t + 128]; }"""
    assert widths(source, "k")["ld"] == {16: 1, 4: 1}
