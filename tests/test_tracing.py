"""Trace mode: it changes nothing, its costs add up to the counts, its values can be replayed, its phases need no names.

The replay knows nothing of how the trace was made: it keeps A, B and the shared memory as dictionaries and demands of
every load that it found what was stored last, and of every multiplication that it computed what its operands say.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab.counts import Counts
from gemm_lab.emulator import emulate
from gemm_lab.emulator.tracing import columns
from gemm_lab.emulator.tracing.phases import PHASES
from gemm_lab.emulator.tracing.shapes import declared_shapes
from gemm_lab.emulator.tracing.trace import BARRIER, FMA, GLOBAL_STORE, KINDS, LOADS, STORES

FIRST_BARRIER = ("__syncthreads();  // nobody reads a tile before all of it is there", "// removed")
KERNELS = [gl.Naive(block=(8, 4)), gl.Naive(coalesced=False, block=(4, 8)), gl.SharedTiling(4),
           gl.SharedTiling(8, PAD=1), gl.RegisterTiling1D(8, 4, 4, 4), gl.RegisterTiling1D(16, 16, 4, 4),
           gl.RegisterTiling1D(8, 8, 4, 2, strided_loader=True)]
SHAPES = [(8, 8, 8), (13, 11, 9)]

TILED_2D = gl.CudaGemm("""
template <int BM, int BN, int BK, int TM, int TN>
__global__ void tiled_2d(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, threads = BM * BN / (TM * TN);
    const int ty = threadIdx.x / (BN / TN) * TM, tx = threadIdx.x % (BN / TN) * TN;
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += threads)
            As[i] = row0 + i / BK < M && k0 + i % BK < K ? A[(row0 + i / BK) * K + k0 + i % BK] : 0.0f;
        for (int i = threadIdx.x; i < BK * BN; i += threads)
            Bs[i] = k0 + i / BN < K && col0 + i % BN < N ? B[(k0 + i / BN) * N + col0 + i % BN] : 0.0f;
        __syncthreads();
        for (int k = 0; k < BK; ++k)
            for (int m = 0; m < TM; ++m)
                for (int n = 0; n < TN; ++n)
                    acc[m][n] += As[(ty + m) * BK + k] * Bs[k * BN + tx + n];
        __syncthreads();
    }
    for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n)
            if (row0 + ty + m < M && col0 + tx + n < N) C[(row0 + ty + m) * N + col0 + tx + n] = alpha * acc[m][n];
}
""", "tiled_2d<8, 8, 4, 2, 2>", lambda M, N: (-(-N // 8), -(-M // 8), 1), 16, label="2D")


def matrices(M, N, K, seed=1):
    r = np.random.default_rng(seed)
    return r.integers(1, 10, (M, K)).astype(np.float32), r.integers(1, 10, (K, N)).astype(np.float32)


def traced(kernel, M=8, N=8, K=8, **options):
    run = kernel.run(*matrices(M, N, K), mode="trace", **options)
    return run, run.trace


def blocks(kernel, M, N):
    x, y, _ = kernel.grid(M, N)
    return [(i, j, 0) for j in range(y) for i in range(x)]


def named(trace, name):
    return next(number for number, array in enumerate(trace.arrays) if array.name == name)


# ---- it changes nothing, and it counts what is counted

@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kernel", [*KERNELS, TILED_2D], ids=str)
def test_the_traces_of_all_blocks_add_up_to_the_counts(kernel, shape):
    A, B = matrices(*shape)
    check, total = kernel.run(A, B, mode="check"), Counts.zero()
    for block in blocks(kernel, *shape[:2]):
        run = kernel.run(A, B, mode="trace", trace_block=block)
        assert (run.counts, run.by_line, run.findings) == (check.counts, check.by_line, check.findings)
        assert np.array_equal(run.C, check.C)
        total += Counts(**{f.name: 0 for f in total.__dataclass_fields__.values()} | of_trace(run.trace))
        ends = {name: int(run.trace.steps[f"launch_{name}"][-1]) for name in ("global", "shared", "fma")}
        assert ends == {"global": check.counts.global_load_words, "shared": check.counts.shared_load_words,
                        "fma": check.counts.fma}
        for number, reads in run.trace.reads.items():
            assert len(reads) == run.trace.arrays[number].rows * run.trace.arrays[number].columns
        assert sum(int(reads.sum()) for reads in run.trace.reads.values()) == check.counts.global_load_words
    assert total == check.counts


def of_trace(trace):
    """The fields of Counts that one block's steps add up to."""
    found = {"fma": sum(len(trace.members(s)) for s in np.flatnonzero(trace.steps["kind"] == FMA))}
    for number, kind in enumerate(KINDS):
        if number in (*LOADS, *STORES):
            for what in ("words", "requests", "sectors", "wavefronts", "bank_conflicts"):
                name = f"{kind.replace(' ', '_')}_{what}"
                if name in Counts.__dataclass_fields__:
                    found[name] = int(trace.steps[what][trace.steps["kind"] == number].sum())
    return found


def test_how_often_each_element_is_read():
    """N / BN times an element of A, M / BM times one of B: the formula of lesson 03."""
    _, trace = traced(gl.RegisterTiling1D(8, 4, 4, 4), 16, 12, 8)
    assert set(trace.reads[named(trace, "A")].tolist()) == {12 // 4}
    assert set(trace.reads[named(trace, "B")].tolist()) == {16 // 8}


# ---- it can be replayed

@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kernel", [*KERNELS, TILED_2D], ids=str)
def test_a_replay_gives_the_product(kernel, shape):
    A, B = matrices(*shape)
    C = np.full(shape[:2], np.nan, np.float32)
    for block in blocks(kernel, *shape[:2]):
        replay(kernel.run(A, B, mode="trace", trace_block=block).trace, {"A": A, "B": B, "C": C})
    assert np.array_equal(C, A @ B)


def replay(trace, matrices):
    """Execute a trace on matrices by name; they are changed."""
    memory = {n: matrices[a.name].reshape(-1) if a.space == "global" else {} for n, a in enumerate(trace.arrays)}
    for step in range(len(trace)):
        kind, array, values = int(trace.steps["kind"][step]), int(trace.steps["array"][step]), trace.values(step)
        for member, element in enumerate(trace.reached(step).tolist()):
            for k in range(values.shape[1]):
                if kind in LOADS:
                    assert memory[array][element + k] == values[member, k]
                elif kind in STORES:
                    memory[array][element + k] = values[member, k]
        if kind == FMA:
            a, b, c = (operand(trace, step, n) for n in range(3))
            assert np.array_equal(values[:, 0], a * b + c)
        if kind in STORES:
            found = operand(trace, step, 0)
            assert np.all(np.isnan(found) | (found == values[:, 0]))


def operand(trace, step, n):
    """The value of an operand for each member, followed back to the step that made it."""
    found = np.full(len(trace.members(step)), trace.constants[step, n])
    for member, (thread, origin) in enumerate(zip(trace.members(step), trace.origins(step, n))):
        if origin >= 0:
            source, element = divmod(int(origin), 4)
            found[member] = trace.values(source)[list(trace.members(source)).index(thread), element]
    return found


# ---- phases

def word(match):
    return match[0] if match[0] in KEPT else f"zz{sum(map(ord, match[0]))}{len(match[0])}"


KEPT = set("template int bool __global__ void float const constexpr if else for static_assert unsigned size_t return "
           "__shared__ __launch_bounds__ __syncthreads threadIdx blockIdx blockDim x y z true false pragma unroll f "
           "0f u".split())


def renamed(kernel):
    """The kernel with another word for everything that has a name, and without a comment."""
    text = re.sub(r"//[^\n]*", "", kernel.source)
    text = re.sub(r'"[^"]*"', '""', text)
    text = re.sub(r"(?<![\w.])[A-Za-z_]\w*", word, text)
    entry = re.sub(r"^\w+", word, kernel.entry)
    return kernel.with_source(text, entry=entry)


@pytest.mark.parametrize("kernel", [*KERNELS, TILED_2D], ids=str)
def test_phases_do_not_depend_on_names(kernel):
    other = renamed(kernel)
    assert not set(re.findall(r"\w+", other.source)) & {"As", "Bs", "A", "B", "C", "acc", "row", "col", "naive"}
    (_, before), (_, after) = traced(kernel, 9, 10, 7), traced(other, 9, 10, 7)
    for column in ("phase", "kind", "line", "chain", "uses", "last"):
        assert np.array_equal(before.steps[column], after.steps[column]), column
    assert [(a.rows, a.columns, a.filled_from, a.argument) for a in before.arrays] == [
        (a.rows, a.columns, a.filled_from, a.argument) for a in after.arrays]


def phases(trace):
    """The phases in order, neighbours that are equal once."""
    names = [PHASES[p] for p in trace.steps["phase"]]
    return [name for n, name in enumerate(names) if n == 0 or names[n - 1] != name]


def test_the_phases_of_tiling_by_hand():
    _, trace = traced(gl.RegisterTiling1D(8, 4, 4, 4), 8, 8, 8)
    tile = ["fill", "barrier", *["operand", "multiply"] * 16, "barrier"]    # TM * BK pairs
    assert phases(trace) == [*tile, *tile, "write back", "end"]
    assert phases(traced(gl.Naive(block=(8, 8)), 8, 8, 3)[1]) == [*["operand", "multiply"] * 3, "write back", "end"]


def test_reading_C_belongs_to_the_write_back():
    A, B = matrices(8, 8, 8)
    trace = gl.SharedTiling(8).run(A, B, np.ones((8, 8), np.float32), beta=2.0, mode="trace").trace
    of_C = trace.steps["array"] == named(trace, "C")
    assert {PHASES[p] for p in trace.steps["phase"][of_C]} == {"write back"}
    assert trace.steps["chain"].max() == 0    # beta*c + alpha*acc is no accumulation


@pytest.mark.parametrize("kernel, sums, uses", [(gl.Naive(block=(8, 8)), 1, {1}), (gl.SharedTiling(4), 1, {1}),
                                                (gl.RegisterTiling1D(8, 4, 4, 4), 4, {1, 4}), (TILED_2D, 4, {2})],
                         ids=str)
def test_accumulators_and_reuse(kernel, sums, uses):
    """A strip of TM uses a word of Bs TM times; a TM x TN rectangle a word of As TN and one of Bs TM times."""
    run, trace = traced(kernel)
    assert sorted(set(trace.steps["chain"].tolist())) == [-1, *range(sums)]
    operands = trace.steps["phase"] == PHASES.index("operand")
    assert set(trace.steps["uses"][operands].tolist()) == uses
    stores = np.flatnonzero(trace.steps["kind"] == GLOBAL_STORE)
    last = [np.flatnonzero(trace.steps["chain"] == n)[-1] for n in range(sums)]
    for chain, store in zip(last, sorted(stores, key=lambda s: trace.reached(s)[0])):
        assert np.array_equal(trace.values(chain), trace.values(store))


@pytest.mark.parametrize("schedule", ["warps", (1, 0, 1)])
def test_warps_that_take_turns_have_the_same_accumulators(schedule):
    _, together = traced(gl.RegisterTiling1D(16, 16, 4, 4), 16, 16, 8)
    _, apart = traced(gl.RegisterTiling1D(16, 16, 4, 4), 16, 16, 8, schedule=schedule)
    for chain in range(-1, 4):
        lanes = [sum(len(t.members(s)) for s in np.flatnonzero(t.steps["chain"] == chain)) for t in (together, apart)]
        assert lanes[0] == lanes[1] and (chain < 0 or lanes[0] == 64 * 8)    # threads * K
    assert apart.steps["chain"].max() == 3


def test_accumulators_in_local_memory_are_followed():
    text = "#pragma unroll\n            for (int r = 0; r < TM; ++r)\n                acc[r] += As"
    kernel = gl.RegisterTiling1D(8, 4, 4, 4).edited((text, text.replace("unroll", "unroll 1")))
    run, trace = traced(kernel)
    assert run.counts.local_load_words > 0
    assert sorted(set(trace.steps["chain"].tolist())) == [-1, 0, 1, 2, 3]
    assert "local memory" in {PHASES[p] for p in trace.steps["phase"]}


# ---- arrays

def test_arrays_have_names_and_shapes():
    _, trace = traced(gl.SharedTiling(4, PAD=1), 8, 12, 16)
    arrays = {a.name: a for a in trace.arrays}
    assert {name: (a.rows, a.columns) for name, a in arrays.items()} == {
        "A": (8, 16), "B": (16, 12), "C": (8, 12), "As": (4, 5), "Bs": (4, 5)}
    assert (arrays["A"].argument, arrays["B"].argument, arrays["C"].argument) == (4, 5, 7)
    assert trace.arrays[arrays["As"].filled_from].name == "A" and trace.arrays[arrays["Bs"].filled_from].name == "B"
    assert (arrays["As"].at, arrays["Bs"].at) == (0, 4 * 5 * 4)


def test_tiles_declared_without_rows_get_them_from_the_data():
    _, trace = traced(TILED_2D, 16, 16, 16)
    assert {(a.name, a.rows, a.columns) for a in trace.arrays if a.space == "shared"} == {("As", 8, 4), ("Bs", 4, 8)}


@pytest.mark.parametrize("declaration, shape", [
    ("__shared__ float t[BM][BK + 1];", (8, 5)), ("__shared__ float t[BM * 2];", (1, 16)),
    ("__shared__ __align__(16) float other[4], t[W][(BK) << 1];", (6, 8)), ("__shared__ float t[2][BM][BK];", (16, 4)),
    ("extern __shared__ float t[];", None), ("__shared__ float t[sizeof(int)];", None),
    ("__shared__ float t[LOOP];", None)])
def test_shapes_are_read_from_declarations(declaration, shape):
    source = ("#define W 6\n#define LOOP LOOP\ntemplate <int BM, int BK = 4>\n__global__ void __launch_bounds__(64)\n"
              "k(int M) { /* __shared__ float t[1]; */ " + declaration + " }")
    assert declared_shapes(source, "k<8, 4>").get("t") == shape


# ---- barriers, schedules, findings

def test_who_waits_at_a_barrier():
    _, trace = traced(gl.RegisterTiling1D(16, 16, 4, 4), 16, 16, 4, schedule=(1, 0))
    arrivals = [s for s in range(len(trace)) if trace.steps["kind"][s] == BARRIER]
    warps = [set((trace.members(s) // 32).tolist()) for s in arrivals]
    assert warps[:2] == [{1}, {0}] and trace.steps["opens"][arrivals].tolist()[:2] == [0, 1]
    assert set(trace.steps["epoch"][:arrivals[0]]) == {0} and trace.steps["epoch"][-1] == 2


def test_a_race_names_both_threads_and_the_cell():
    kernel = gl.SharedTiling(8).edited(FIRST_BARRIER)
    run, trace = traced(kernel)
    assert [f.kind for f in run.findings].count("race") == len(trace.spots) > 0
    for spot in trace.spots:
        first, last = spot.steps
        assert first < last and trace.steps["epoch"][first] == trace.steps["epoch"][last]
        assert {trace.steps["line"][first], trace.steps["line"][last]} == set(run.findings[spot.finding].lines)
        for step, thread in zip(spot.steps, spot.threads):
            members = trace.members(step).tolist()
            assert trace.reached(step)[members.index(thread)] == spot.index
            assert trace.steps["array"][step] == spot.array
        assert spot.threads[0] != spot.threads[1]


def test_an_uninitialized_word_is_found_in_the_trace():
    kernel = gl.SharedTiling(8).edited(("As[ty][tx] = (row < M && k0 + tx < K) ? A[(size_t)row * K + k0 + tx] : 0.0f;",
                                        "if (row < M && k0 + tx < K) As[ty][tx] = A[(size_t)row * K + k0 + tx];"))
    run, trace = traced(kernel, 8, 8, 5)
    spot, = trace.spots
    assert run.findings[spot.finding].kind == "uninitialized"
    assert trace.arrays[spot.array].name == "As" and spot.index % 8 == 5


def test_a_run_that_stops_ends_at_the_line():
    kernel = gl.Naive(block=(8, 8)).edited(("k < K", "k <= K"))
    run, trace = traced(kernel)
    assert not run.completed and trace.steps["line"][-1] == run.findings[-1].line


def test_edges_are_seen_as_threads_that_take_no_part():
    _, trace = traced(gl.SharedTiling(8), 13, 11, 9, trace_block=(1, 1))
    loads = [trace.members(s) for s in range(len(trace)) if KINDS[trace.steps["kind"][s]] == "global load"]
    assert {thread // 8 for thread in loads[0]} == set(range(5))    # rows 8 to 12 of 13: A
    store = int(np.flatnonzero(trace.steps["kind"] == GLOBAL_STORE)[0])
    assert {thread % 8 for thread in trace.members(store)} == {0, 1, 2}    # columns 8 to 10 of 11


# ---- any kernel, limits, errors

PIPELINE = gl.Pipelining(BM=16, BN=32, BK=8, TM=4, TN=4)


@pytest.mark.parametrize("shape", [(16, 32, 24), (15, 30, 21)], ids=str)
def test_a_struct_of_tiles_becomes_the_tiles_in_it(shape):
    """Kernel 06 has float a[BK][BM + 4], b[BK][BN] for each of three stages, in one array."""
    _, trace = traced(PIPELINE, *shape)
    tiles = [a for a in trace.arrays if a.space == "shared"]
    assert [(a.name, a.rows, a.columns, a.at) for a in tiles] == [
        (f"tiles:{name}{stage}", 8, width, stage * 8 * (20 + 32) * 4 + at)
        for stage in range(3) for name, width, at in (("A", 20, 0), ("B", 32, 8 * 20 * 4))]
    assert [trace.arrays[a.filled_from].name for a in tiles] == list("ABABAB")
    first = np.flatnonzero(trace.steps["array"] == named(trace, "tiles:A1"))[0]
    assert trace.reached(first)[:9].tolist() == [*range(0, 160, 20), 1]    # A[0][k] lies in a[k][0]


def test_tiles_in_dynamic_shared_memory_are_told_apart():
    source = gl.SharedTiling(8).source
    source = source.replace("__shared__ float As[TILE][TILE + PAD];",
                            "extern __shared__ float smem[]; float (*As)[TILE] = (float (*)[TILE])smem;")
    source = source.replace("__shared__ float Bs[TILE][TILE + PAD];", "float (*Bs)[TILE] = As + TILE;")
    kernel = gl.CudaGemm(source, gl.SharedTiling(8).entry, lambda M, N: (2, 2, 1), (8, 8), shared_bytes=512)
    _, trace = traced(kernel, 16, 16, 16)
    assert {(a.name, a.rows, a.columns, a.at) for a in trace.arrays if a.space == "shared"} == {
        ("smem:A", 8, 8, 0), ("smem:B", 8, 8, 256)}


def test_an_array_that_an_access_uses_as_one_stays_one():
    """One store reaches into both tiles."""
    source = gl.SharedTiling(8).source.replace("__shared__ float As[TILE][TILE + PAD];", "__shared__ float s[128];"
                                               "float (*As)[TILE] = (float (*)[TILE])s;")
    source = source.replace("__shared__ float Bs[TILE][TILE + PAD];", "float (*Bs)[TILE] = As + TILE;")
    source = source.replace("if (row < M && col < N) {", "s[ty * 16 + tx * 2] = acc;\n    if (row < M && col < N) {")
    _, trace = traced(gl.CudaGemm(source, gl.SharedTiling(8).entry, lambda M, N: (2, 2, 1), (8, 8)), 16, 16, 16)
    assert [(a.name, a.rows * a.columns) for a in trace.arrays if a.space == "shared"] == [("s", 128)]


def test_any_kernel_can_be_traced():
    """Shuffles, atomics, 8-byte and vector accesses, predicates: emulate, not GEMM."""
    source = """__global__ void k(const float4 *in, float *out, int *count, double *wide) {
        __shared__ float part[8];
        float4 v = in[threadIdx.x];
        float s = v.x + v.y + v.z + v.w;
        for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
        if (threadIdx.x % 32 == 0) { part[threadIdx.x / 32] = s; atomicAdd(count, 1); }
        __syncthreads();
        if (threadIdx.x < 2) { out[threadIdx.x] = part[threadIdx.x]; wide[threadIdx.x] = 2.0 * part[threadIdx.x]; }
    }"""
    data, out = np.arange(256, dtype=np.float32), np.zeros(2, np.float32)
    count, wide = np.zeros(1, np.int32), np.zeros(2)
    trace = emulate(source, "k", 1, 64, (data, out, count, wide), mode="trace").trace
    assert out.tolist() == [data[:128].sum(), data[128:].sum()] and count[0] == 2 and (wide == 2 * out).all()
    first = next(s for s in range(len(trace)) if KINDS[trace.steps["kind"][s]] == "global load")
    assert np.array_equal(trace.values(first), data.reshape(64, 4))
    assert np.array_equal(trace.reached(first), 4 * np.arange(64))
    atomic = next(s for s in range(len(trace)) if KINDS[trace.steps["kind"][s]] == "atomic")
    assert trace.members(atomic).tolist() == [0, 32] and trace.values(atomic).ravel().tolist() == [1, 2]


def test_asynchronous_copies_are_traced_to_their_matrix():
    kernel = gl.SharedTiling(8)
    source = kernel.source.replace("template", "#include <cuda_pipeline_primitives.h>\ntemplate", 1)
    source = source.replace("As[ty][tx] = (row < M && k0 + tx < K) ? A[(size_t)row * K + k0 + tx] : 0.0f;",
                            "__pipeline_memcpy_async(&As[ty][tx], &A[(size_t)row * K + k0 + tx], 4); "
                            "__pipeline_commit(); __pipeline_wait_prior(0);")
    run, trace = traced(kernel.with_source(source))
    assert np.array_equal(run.C, np.matmul(*matrices(8, 8, 8)))
    assert trace.arrays[trace.arrays[named(trace, "As")].filled_from].name == "A"


def test_a_trace_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(columns, "MAX_VALUES", 1000)
    with pytest.raises(ValueError, match="choose a smaller problem: the trace of one block has more than 1,000 values"):
        traced(gl.SharedTiling(8))


@pytest.mark.parametrize("block", [(1, 0), (0, 0, 1), -1, 0.5, "x", (0, 0, 0, 0)])
def test_a_block_that_is_not_there_is_refused(block):
    with pytest.raises(ValueError, match=r"trace_block is .*; the grid has \(1, 1, 1\) blocks"):
        traced(gl.SharedTiling(8), trace_block=block)


def test_either_back_end_gives_the_trace(monkeypatch):
    _, before = traced(gl.SharedTiling(4))
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "llvm")
    _, after = traced(gl.SharedTiling(4))
    assert len(before) == len(after) and np.array_equal(before.value, after.value)


def test_a_trace_is_small():
    """64 threads, about 2000 steps: below 2 MB."""
    _, trace = traced(gl.RegisterTiling1D(16, 16, 4, 4), 16, 16, 192)
    assert 1900 < len(trace) < 2200 and trace.nbytes < 2e6
