"""Planted defects: each is found, on its line, with the thread and the array; correct code is not accused."""

from __future__ import annotations

import time

import numpy as np
import pytest

from gemm_lab.emulator import emulate, loops

F32, I32 = np.float32, np.int32
PARAMETERS = "int n, const float *A, float *C"


def source(body, parameters=PARAMETERS, before=""):
    """A kernel whose body starts in line 1 of the source."""
    return f"{before}__global__ void k({parameters}) {{ int i = threadIdx.x, b = blockIdx.x; " + body + "\n}\n"


def run(body, *args, grid=1, block=32, mode="check", parameters=PARAMETERS, before="", **options):
    return emulate(source(body, parameters, before), "k", grid, block, args, mode=mode, **options)


def floats(*shape):
    return np.ones(shape, F32)


def only(done, kind):
    """The only finding, which must be of this kind."""
    assert [f.kind for f in done.findings] == [kind], done.findings
    return done.findings[0]


# ---- out of bounds --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", ["values", "count", "check"])
def test_reading_past_the_end(mode):
    A, C = floats(4, 10), np.zeros(200, F32)
    done = run("C[b * 32 + i] = 5;\n    float x = A[b * 32 + i];\n    C[b * 32 + i] = x;", 0, A, C, grid=3, mode=mode)
    found = only(done, "out-of-bounds")
    assert found.line == 2 and not done.completed
    assert found.message == ("line 2: thread (8, 0, 0) of block (1, 0, 0) reads element 40 of A, 1 past its last: "
                             "A has 40 elements (4 x 10)")
    assert C[:96].tolist() == [5] * 96, "what had been written is kept"


def test_what_ran_before_is_kept():
    C = np.zeros(100, F32)
    done = run("C[b * 32 + i] = i + 1;", 0, floats(1), C, grid=4, mode="values")
    assert "thread (4, 0, 0) of block (3, 0, 0) writes element 100 of C" in only(done, "out-of-bounds").message
    from gemm_lab.emulator import machine
    C[:] = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "LANES", 64)
        run("C[b * 32 + i] = i + 1;", 0, floats(1), C, grid=4, mode="values")
    assert C[:64].tolist() == [*range(1, 33)] * 2


@pytest.mark.parametrize("index, text", [
    ("i - 3", "thread (0, 0, 0) of block (0, 0, 0) reads element -3 of A, 3 before its first"),
    ("i * 1000000", "thread (1, 0, 0) of block (0, 0, 0) reads element 1000000 of A, 999937 past its last"),
    ("(long long)i << 33", "thread (1, 0, 0) of block (0, 0, 0) reads element 8589934592 of A"),
    ("i * -5000", "thread (1, 0, 0) of block (0, 0, 0) reads element -5000 of A"),
    ("64", "reads element 64 of A, 1 past its last: A has 64 elements"),
])
def test_a_wild_index_never_lands_in_another_array(index, text):
    done = run(f"C[i] = A[{index}];", 0, floats(64), floats(64))
    assert text in only(done, "out-of-bounds").message


def test_the_last_element_is_in_bounds():
    assert run("C[i] = A[31 - i];", 0, floats(32), floats(32)).findings == ()


def test_a_vector_that_sticks_out():
    done = run("float4 v = ((const float4 *)A)[i]; C[i] = v.x + v.w;", 0, floats(126), floats(32))
    assert "thread (31, 0, 0) of block (0, 0, 0) reads elements 124 to 127 of A, 2 past its last" in \
        only(done, "out-of-bounds").message


def test_a_pointer_to_nowhere():
    done = run("const float *p = (const float *)(size_t)(n * 64); C[i] = p[i];", 1, floats(1), floats(32))
    assert "where no array is" in only(done, "out-of-bounds").message


def test_shared_arrays_have_bounds_of_their_own():
    """Past the end of one array lies the other, on a GPU without any notice."""
    body = """__shared__ float As[32]; __shared__ float Bs[32];
        As[i] = A[i]; Bs[i] = A[i]; __syncthreads();
        C[i] = As[i + n] + Bs[i];"""
    assert run(body, 0, floats(64), floats(32)).findings == ()
    found = only(run(body, 1, floats(64), floats(32), mode="values"), "out-of-bounds")
    assert found.line == 3
    assert "thread (31, 0, 0) of block (0, 0, 0) reads word 32 of As, 1 past its last" in found.message
    found = only(run(body, -1, floats(64), floats(32)), "out-of-bounds")
    assert "thread (0, 0, 0) of block (0, 0, 0) reads word -1 of As, 1 before its first" in found.message


def test_too_little_dynamic_shared_memory():
    body, before = "s[i] = A[i]; __syncthreads(); C[i] = s[31 - i];", "extern __shared__ float s[]; "
    assert run(body, 0, floats(32), floats(32), before=before, shared_bytes=128).findings == ()
    assert "writes word 24 of s, 1 past" in only(run(body, 0, floats(32), floats(32), before=before, shared_bytes=96),
                                                 "out-of-bounds").message
    assert "shared_bytes" in only(run(body, 0, floats(32), floats(32), before=before), "out-of-bounds").message


def test_an_array_without_a_name_in_the_source():
    """Behind a macro the parameter's name is not to be found; its place in the list is."""
    done = emulate("#define KERNEL(name) __global__ void name(const float *A, float *C)\n"
                   "KERNEL(k) { C[threadIdx.x] = A[threadIdx.x + 1]; }", "k", 1, 32, (floats(32), floats(32)))
    assert "reads element 32 of argument 1, 1 past its last" in only(done, "out-of-bounds").message


def test_misaligned():
    body = "if (i < 3) return; float4 v = ((const float4 *)(A + n))[i]; C[i] = v.x + v.y + v.z + v.w;"
    done = run(body, 1, floats(999), floats(32))
    found = only(done, "misaligned")
    assert found.line == 1 and not done.completed
    assert "thread (3, 0, 0) of block (0, 0, 0) moves 16 bytes at element 13 of A" in found.message


# ---- endless loops --------------------------------------------------------------------------------------------------

ENDLESS = {
    "nothing changes": "\nwhile (n > 3) C[i] += 1;",
    "wrong variable": "volatile int one = 1;\nfor (int k = 0; k < n; k += one - 1) C[i] += k;",
    "a cycle": "volatile int k = 0;\nwhile (k >= 0) k = (k + 1) & 7;",
    "a counter in a byte": "\nfor (unsigned char k = 0; k < n + 300; ++k) C[i] += A[i];",
    "a counter in seven bits": "int k = 0;\nwhile (k < n + 125) { k = (k + 1) & 127; C[i] += A[i]; }",
    "a counter in a short": "\nfor (unsigned short k = 0; k < n + 70000; k += 4096) C[i] += A[i];",
    "some threads only": "volatile int z = 0;\nfor (int k = 0; k < n; k += i < 20 ? 1 : z) C[i] += 1;",
    "around a barrier": "__shared__ float s[32]; volatile int z = 0;\nfor (int k = 0; k < n; k += z) {"
                        " s[i] = k; __syncthreads(); C[i] += s[31 - i]; __syncthreads(); }",
    "nobody sets the flag": "volatile float *flag = C;\nwhile (*flag == 0) ;",
    "the lock is held": "int *lock = (int *)C;\nif (i == 0) { *lock = 1; while (atomicOr(lock, 0)) ; }",
}


@pytest.mark.parametrize("name", list(ENDLESS))
@pytest.mark.parametrize("mode", ["values", "check"])
def test_endless_loops_are_proved(name, mode, monkeypatch):
    monkeypatch.setattr(loops, "PATIENCE", 0.3)
    started = time.monotonic()
    done = run(ENDLESS[name], 5, floats(32), np.zeros(32, F32), mode=mode)
    found = [f for f in done.findings if f.kind == "endless-loop"]
    assert len(found) == 1 and not done.completed and found[0].line == 2
    assert time.monotonic() - started < 10


def test_a_runaway_loop_is_stopped_by_the_bound(monkeypatch):
    monkeypatch.setattr(loops, "PATIENCE", 0.3)
    body = "volatile int two = 2;\nfor (int t = 0; t != n; t += two) if (t < n) C[i] += A[t];"
    found = only(run(body, 31, floats(32), np.zeros(32, F32), mode="count"), "endless-loop")
    assert found.line == 2 and "step_limit" in found.message


@pytest.mark.parametrize("mode", ["values", "count", "check"])
def test_step_limit_counts_the_instructions_of_one_thread(mode):
    body = "float x = 0;\nfor (int k = 0; k < n; ++k) x = x * 0.5f + A[k & 31];\nC[i] = x;"
    done = run(body, 1000, floats(32), floats(32), mode=mode, step_limit=500)
    found = only(done, "endless-loop")
    assert found.line == 2 and "500" in found.message and not done.completed
    assert run(body, 1000, floats(32), floats(32), mode=mode, step_limit=100000).completed
    # A thread's own instructions count, not those of all threads together.
    assert run(body, 20, floats(32), floats(32), block=32, grid=8, mode=mode, step_limit=500).completed
    # Only the thread with many instructions matters.
    lonely = "float x = 0;\nfor (int k = 0; k < (i == 7 ? n : 1); ++k) x = x * 0.5f + A[k & 31];\nC[i] = x;"
    assert only(run(lonely, 1000, floats(32), floats(32), mode=mode, step_limit=500), "endless-loop").line == 2


def test_long_loops_are_not_accused(monkeypatch):
    """A loop that counts to a number of the launch, or goes through an array, may take its time on any machine."""
    monkeypatch.setattr(loops, "PATIENCE", 0.0)
    n = 20
    body = """for (int e = 0; e < n * n; ++e) { int r = e / n, c = e % n; float x = 0;
        for (int k = 0; k < n; k += 4) x += A[r * n + k] * A[k * n + c]; C[e] = x; }"""
    assert run(body, n, floats(n, n), floats(n, n), block=1, mode="count").findings == ()
    for limit, n in (("n", 900), ("900", 3)):
        body = f"float x = i; for (int k = 0; k < {limit}; ++k) x = x * 0.5f + k; C[i] = x;"
        assert run(body, n, floats(1), floats(32)).completed
    collatz = "unsigned x = i + 1; int k = 0; while (x != 1) { x = x & 1 ? 3 * x + 1 : x / 2; ++k; } C[i] = k;"
    C = floats(32)
    assert run(collatz, 2**20, floats(1), C).completed and C[26] == 111


@pytest.mark.parametrize("who", ["i < 20", "i % 3", "true"])
def test_the_same_loop_again_and_again_is_not_endless(who):
    """An inner loop starts from the same state in each round of the outer one, whoever takes part."""
    body = f"""volatile int one = 1; float x = 0;
        if (i == 31) return;
        for (int t = 0; t < 40; ++t) {{
            if ({who}) for (int k = 0; k < 50; k += one) x += A[k & 31];
            if (t % 2 && i > 5) for (int k = 50; k > n; k -= one) x += 1; }}
        C[i] = x;"""
    C = floats(32)
    assert run(body, 0, floats(32), C).findings == ()
    assert C[30] == (2000 if eval(who.replace("true", "True"), {"i": 30}) else 0) + 20 * 50


# ---- races ----------------------------------------------------------------------------------------------------------

SHARED = "__shared__ float s[64]; "


@pytest.mark.parametrize("body, lines", [
    (SHARED + "\ns[i] = A[i];\nC[i] = s[63 - i];", {2, 3}),                             # read after write
    (SHARED + "float x = 0; for (int k = 0; k < 2; ++k) {\ns[i] = A[i] + k; __syncthreads();\nx += s[63 - i]; }"
     "C[i] = x;", {2, 3}),                                                              # write after read
    (SHARED + "\ns[i / 2] = i; __syncthreads(); C[i] = s[i / 2];", {2}),                # two writes
    (SHARED + "if (i < 32)\ns[0] = 1; __syncwarp(); if (i > 50)\ns[0] = 5;\n__syncthreads(); C[i] = s[0];", {2, 3}),
    (SHARED + "s[i] = 0; __syncthreads();\natomicAdd(&s[0], 1.0f);\nif (i == 40) C[0] = s[0];", {2, 3}),
    (SHARED + "s[i] = 0; __syncthreads(); if (i == 5)\ns[40] = 1; __syncwarp();\nC[i] = s[40];", {2, 3}),
])
def test_races(body, lines):
    done = run(body, 0, floats(64), floats(64), block=64)
    races = [f for f in done.findings if f.kind == "race"]
    assert [set(f.lines) for f in races] == [lines] and done.completed
    assert races[0].message.count("thread (") == 2 and "of s" in races[0].message


@pytest.mark.parametrize("body", [
    SHARED + "s[i] = A[i]; __syncthreads(); C[i] = s[63 - i]; __syncthreads(); s[63 - i] = 1; __syncthreads();"
    "C[i] += s[i];",
    SHARED + "s[i] = A[i]; C[i] = s[i]; s[i] = 2; C[i] += s[i];",                    # each thread its own word
    SHARED + "s[i] = A[i]; __syncwarp(); C[i] = s[i ^ 1]; __syncwarp(); s[i ^ 1] = 1; __syncwarp(); C[i] += s[i ^ 31];",
    SHARED + "s[i] = A[i]; __shfl_sync(~0u, i, 0); C[i] = s[i ^ 1];",                # a full-warp shuffle orders, too
    SHARED + "s[i] = 0; __syncthreads(); atomicAdd(&s[i & 3], 1.0f); __syncthreads(); C[i] = s[i & 3];",
    SHARED + "if (i == 0) s[0] = 7; __syncthreads(); C[i] = s[0];",
    SHARED + "s[0] = 7; __syncthreads(); C[i] = s[0];",                              # all write the same: no race
    """__shared__ int s[4]; if (i < 4) s[i] = 0; __syncthreads(); int *p = &s[i & 3], old = *p, seen;
       do { seen = old; old = atomicCAS(p, seen, seen + i); } while (old != seen); __syncthreads(); C[i] = s[i & 3];""",
    "__shared__ unsigned char s[64]; s[i] = i; C[i] = s[i];",                                   # bytes of one word
    """__shared__ float s[2][64]; s[0][i] = A[i]; __syncthreads(); float x = 0;
       for (int k = 0; k < 6; ++k) { s[(k + 1) & 1][i] = k; x += s[k & 1][63 - i]; __syncthreads(); } C[i] = x;""",
    """__shared__ __align__(16) float s[256]; ((float4 *)s)[i] = make_float4(1, 2, 3, 4); __syncthreads();
       C[i] = s[255 - i];""",
])
@pytest.mark.parametrize("schedule", ["lockstep", "warps"])
def test_correct_code_is_not_accused_of_races(body, schedule):
    body = "C += b * 64; " + body
    assert run(body, 0, floats(64), floats(128), block=64, grid=2, schedule=schedule).findings == ()


def test_syncwarp_orders_one_warp_only():
    body = SHARED + "\ns[i] = A[i]; __syncwarp();\nC[i] = s[63 - i];"
    assert {f.kind for f in run(body, 0, floats(64), floats(64), block=64).findings} == {"race"}


def test_a_sync_of_half_a_warp_does_not_order_the_other_half():
    body = SHARED + """s[i] = 0; __syncthreads();
        if (i < 16) {\ns[i] = A[i]; __syncwarp(0xffff); }
        else { __syncwarp(0xffff0000);\nC[i] = s[i - 16]; }"""
    assert [set(f.lines) for f in run(body, 0, floats(64), floats(64), block=32).findings] == [{3, 5}]


def test_a_race_names_the_threads():
    body = SHARED + "s[i] = 0; __syncthreads();\nif (i == 37) s[5] = 1;\n__syncwarp();\nif (i == 3) C[b] = s[5];"
    found = only(run(body, 0, floats(64), floats(64), block=64, grid=2), "race")
    assert found.lines == (4, 2)
    assert "thread (3, 0, 0) of block (0, 0, 0) reads word 5 of s, which thread (37, 0, 0) writes in line 2" in \
        found.message


COPY = """asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(A + i));
    asm volatile("cp.async.commit_group;");"""
WAIT = 'asm volatile("cp.async.wait_group 0;");'


@pytest.mark.parametrize("order, races", [
    ("{copy} {wait} __syncthreads();\n{read}", 0),
    ("{copy} __syncthreads(); {wait}\n{read}", 1),                                      # the others may not have waited
    ("__syncthreads(); {copy}\n__syncthreads();\n{read} {wait}", 1),                     # still under way
    ("s[i] = 0; __syncthreads();\n{read} {copy} {wait}", 1),                             # overwrites what others read
    ("s[i] = 0; __syncthreads();\n{read} __syncthreads(); {copy} {wait}", 0),
])
def test_asynchronous_copies_race_until_they_have_landed(order, races):
    body = SHARED + "unsigned to = __cvta_generic_to_shared(&s[i]); "
    body += order.format(copy=COPY, wait=WAIT, read="C[i] = s[63 - i];")
    found = [f.kind for f in run(body, 0, floats(64), floats(64), block=64).findings if f.kind == "race"]
    assert len(found) == races


def test_races_are_found_in_check_mode_only():
    body = SHARED + "s[i] = A[i]; C[i] = s[63 - i];"
    assert run(body, 0, floats(64), floats(64), block=64, mode="count").findings == ()


# ---- races in global memory ------------------------------------------------------------------------------------------

FLAG = "__device__ int flag[64]; __device__ volatile int ready; __device__ float scratch[1024]; "
ARRIVES = "__threadfence(); __syncthreads(); if (i == 0) last = atomicAdd(flag, 1) == gridDim.x - 1; __syncthreads();"


@pytest.mark.parametrize("body, lines", [
    ("\nC[i] = A[i];", {2}),                                              # every block writes the same values
    ("\nC[b * 63 + i] = A[i];", {2}),                                     # one element of two blocks
    ("\nC[i / 2] = i;", {2}),
    ("\nC[b * 64 + i] = 1;\nC[256 + b * 64 + i] = C[(b * 64 + i + 64) % 192];", {2, 3}),    # the next block's part
    ("C += b * 64;\nC[i] = 1; __syncwarp();\nC[64 * 4 + i] = C[63 - i];", {2, 3}),    # another warp of the block
    ("\nfloat x = C[(i + 1) % 64]; __syncwarp(); if (b == 0)\nC[i] = x;", {2, 3}),           # write after read
    ("if (b == 0)\nC[i] = 0;\natomicAdd(&C[i], 1.0f);", {2, 3}),
    ("\natomicAdd(&C[0], 1.0f);\nif (i == 5 && b == 1) C[1] = C[0];", {2, 3}),
    ("if (i == 0)\n((unsigned char *)C)[0] = b;", {2}),
    ("__shared__ bool last;\nscratch[b * 64 + i] = i; if (i == 0) last = atomicAdd(flag, 1) == gridDim.x - 1;"
     "__syncthreads(); if (last) for (int z = 0; z < gridDim.x; ++z)\nC[i] += scratch[z * 64 + i];", {2, 3}),
    ("scratch[b * 64 + i] = i; " + "__shared__ bool last; " + ARRIVES +
     "\nif (last) C[i] = scratch[i];\nif (b == 0) scratch[i] = 5;", {2, 3}),            # written once more, too late
])
@pytest.mark.parametrize("blocks_at_once", [1, 8])
def test_races_in_global_memory(body, lines, blocks_at_once, monkeypatch):
    from gemm_lab.emulator import machine
    monkeypatch.setattr(machine, "LANES", 64 * blocks_at_once)
    done = run(body, 0, floats(64), floats(512), block=64, grid=3, before=FLAG)
    assert lines in [set(f.lines) for f in done.findings], done.findings
    assert {f.kind for f in done.findings} == {"race"} and done.completed
    assert all(f.message.count("thread (") == 2 for f in done.findings)


@pytest.mark.parametrize("body", [
    "C[b * 64 + i] = A[i]; C[b * 64 + i] += 1;",
    "C[b * 64 + i] = A[0] + A[i] + A[63 - i];",                                         # many read one element
    "C += b * 64; C[i] = i; __syncthreads(); float x = C[63 - i]; __syncthreads(); C[i] = x;",
    "C += b * 64; C[i] = i; __syncwarp(); float x = C[i ^ 1]; __syncwarp(); C[i] = x;",
    "C += b * 64; C[i] = i; float x = __shfl_xor_sync(~0u, A[i], 1); C[i ^ 1] = x;",
    "atomicAdd(&C[i], A[i]);",
    "((unsigned char *)C)[b * 64 + i] = 1;",                                            # bytes of one word
    "if (A[i] > 5) scratch[0] = 1; scratch[1] = 7;",                                    # the same value, in a variable
    "__shared__ bool last; scratch[b * 64 + i] = i; " + ARRIVES + """
        if (last) for (int z = 0; z < gridDim.x; ++z) C[i] += scratch[z * 64 + i];""",
    "scratch[b * 64 + i] = i; __threadfence(); if (atomicAdd(&flag[i], 1) == 2) C[i] = scratch[i] + scratch[64 + i];",
    """if (i == 0) while (atomicAdd(flag, 0) != b); __threadfence(); __syncthreads(); C[i] += A[i] + b;
        __threadfence(); __syncthreads(); if (i == 0) atomicExch(flag, b + 1);""",
    """if (i == 0) while (ready != b); __threadfence(); __syncthreads(); C[i] += A[i] + b;
        __threadfence(); __syncthreads(); if (i == 0) ready = b + 1;""",
    """if (i == 0) { while (atomicCAS(flag, 0, 1) != 0); __threadfence(); } __syncthreads(); C[i] += A[i];
        __syncthreads(); if (i == 0) { __threadfence(); atomicExch(flag, 0); }""",
    """if (i == 0) { while (atomicCAS(flag, 0, 1) != 0); C[0] += A[i]; __threadfence(); *(volatile int *)flag = 0; }""",
    """for (bool done = false; !done;) if (atomicCAS(&flag[i % 4], 0, 1) == 0) {
        __threadfence(); C[i % 4] += A[i]; __threadfence(); atomicExch(&flag[i % 4], 0); done = true; }""",
    """if (b == 0) { C[i] = 1; __syncthreads();
            if (i == 0) asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(flag) : "memory"); }
        else { if (i == 0) { int v; do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(flag));
            while (!v); } __syncthreads(); C[b * 64 + i] = C[i]; }""",
    """int *c = (int *)C + i, old = *c, seen;
        do { seen = old; old = atomicCAS(c, seen, __float_as_int(1 + __int_as_float(seen))); } while (old != seen);""",
])
@pytest.mark.parametrize("blocks_at_once", [1, 8])
def test_correct_code_is_not_accused_of_races_in_global_memory(body, blocks_at_once, monkeypatch):
    from gemm_lab.emulator import machine
    monkeypatch.setattr(machine, "LANES", 64 * blocks_at_once)
    assert run(body, 0, floats(64), floats(256), block=64, grid=3, before=FLAG).findings == ()


LAST = """scratch[b * 64 + i] = i; {before} if (i == 0) last = atomicAdd(flag, 1) == gridDim.x - 1; {after}
          __syncthreads(); if (last) for (int z = 0; z < gridDim.x; ++z)\nC[i] += scratch[z * 64 + i];"""


@pytest.mark.parametrize("before, after, ordered", [
    ("__threadfence(); __syncthreads();", "", True),                             # each for itself, before they meet
    ("__syncthreads(); if (i == 0) __threadfence();", "", True),                 # one for all, after they have met
    ("__syncthreads(); __threadfence_system();", "", True),
    ("__syncthreads();", "", False),
    ("__syncthreads();", "__threadfence();", False),                             # after the news
    ("if (i == 0) __threadfence(); __syncthreads();", "", False),                # for itself only
    ("__syncthreads(); __threadfence_block();", "", False),                      # for its own block only
    ("__threadfence();", "", False),                                             # the others may not be there yet
])
def test_news_for_another_block_needs_a_fence_before_it(before, after, ordered):
    body = "__shared__ bool last; " + LAST.format(before=before, after=after)
    done = run(body, 0, floats(64), floats(64), block=64, grid=3, before=FLAG)
    assert [f.kind for f in done.findings] == ([] if ordered else ["race"]), done.findings
    if not ordered and "__syncthreads" in before:
        assert "no __threadfence() stands before that" in done.findings[0].message


@pytest.mark.parametrize("opcode, ordered", [("acq_rel.gpu", True), ("relaxed.gpu", False), ("acq_rel.cta", False)])
def test_an_atomic_can_be_the_fence(opcode, ordered):
    take = f'int t; asm volatile("atom.add.{opcode}.global.s32 %0, [%1], 1;" : "=r"(t) : "l"(flag + i) : "memory"); '
    done = run("scratch[b * 64 + i] = i; " + take + "if (t == 2) C[i] =\nscratch[i] + scratch[64 + i];", 0, floats(64),
               floats(64), block=64, grid=3, before=FLAG)
    assert [f.kind for f in done.findings] == ([] if ordered else ["race"])


def test_a_barrier_of_all_blocks_orders_them():
    body = """scratch[b * 64 + i] = i; __threadfence(); __syncthreads();
        if (i == 0) { int r = ready; if (atomicAdd(flag, 1) == gridDim.x - 1) { flag[0] = 0; ready = r + 1; }
            else while (ready == r); }
        __syncthreads();\nC[b * 64 + i] = scratch[(b + 1) % gridDim.x * 64 + i];"""
    assert run(body, 0, floats(64), floats(256), block=64, grid=3, before=FLAG).findings == ()
    found = only(run(body.replace("else while (ready == r);", ""), 0, floats(64), floats(256), block=64, grid=3,
                     before=FLAG), "race")
    assert set(found.lines) == {1, 5}


def test_a_race_between_blocks_names_threads_blocks_and_the_element():
    done = run("\nif (i == 7) C[21 + i] = b;", 0, floats(1), floats(8, 10), grid=2, mode="check")
    found = only(done, "race")
    assert set(found.lines) == {2}
    assert found.message == (
        "line 2: thread (7, 0, 0) of block (0, 0, 0) writes element 28 of C (row 2, column 8), which thread (7, 0, 0) "
        "of block (1, 0, 0) writes in the same line; nothing says which block comes first, and __syncthreads orders "
        "the threads of one block only, so the result depends on which comes first")


def test_arrays_that_are_only_read_cost_nothing():
    from gemm_lab.compiler import compile_ptx
    from gemm_lab.emulator import program
    from gemm_lab.emulator.watched import Targets
    ptx = compile_ptx(source("C[i] = A[i];"), "k")
    found = program.load(ptx.text, ptx.entry).targets
    assert isinstance(found, Targets) and [name[-1] for name, _ in found.pointers] == ["2"] and not found.variables
    ptx = compile_ptx("__global__ void k(float **C) { C[0][threadIdx.x] = 1; }", "k")
    assert program.load(ptx.text, ptx.entry).targets is None, "a pointer from memory may point anywhere"


# ---- uninitialised shared memory, barriers, unknown constructs ------------------------------------------------------

def test_uninitialised_shared_memory():
    C = np.zeros(64, F32)
    done = run(SHARED + "if (i < 63) s[i] = A[i]; __syncthreads();\nC[i] = s[63 - i];", 0, floats(64), C, block=64)
    found = only(done, "uninitialized")
    assert found.line == 2 and "thread (0, 0, 0) of block (0, 0, 0) reads word 63 of s" in found.message
    assert C.view(np.uint32)[0] == 0x7FC0DEAD, "a NaN that is easy to recognise"


def test_an_early_return_is_no_divergence_but_leaves_a_hole():
    body = SHARED + "if (i >= n) return; s[i] = A[i]; __syncthreads();\nC[i] = s[i ^ 1];"
    assert run(body, 40, floats(64), floats(64), block=64).findings == ()
    assert only(run(body, 41, floats(64), floats(64), block=64), "uninitialized").line == 2


@pytest.mark.parametrize("leave", ["if (i >= n) return;", "if (i < n) {", "while (i < n) {"])
def test_the_return_that_leaves_a_hole_is_named(leave):
    end = {"{": "}", ";": ""}[leave[-1]].replace("}", " break; }" if "while" in leave else "}")
    body = SHARED + f"\n{leave}\ns[i] = A[i]; __syncthreads();\nC[i] = s[i ^ 1]; {end}"
    found = only(run(body, 41, floats(64), floats(64), block=64), "uninitialized")
    assert set(found.lines) == {2, 4}
    assert "23 of the 64 threads of block (0, 0, 0) had returned in line 2" in found.message


def test_who_returns_when_all_is_done_is_not_named():
    body = SHARED + "if (i < 63) s[i] = A[i]; __syncthreads();\nC[i] = s[63 - i]; if (i > n) return;\nC[i] += 1;"
    assert "returned" not in only(run(body, 5, floats(64), floats(64), block=64), "uninitialized").message


def test_a_warp_that_waits_at_two_barriers():
    body = """if (i % 2) { C[i] = 1;
        asm volatile("bar.sync 0;"); C[i] += 1; } else {
        asm volatile("bar.sync 0;"); C[i] = 3; }"""
    found = only(run(body, 0, floats(64), floats(64), block=64), "barrier-divergence")
    assert set(found.lines) == {2, 3} and "same warp" in found.message


def test_different_warps_may_wait_at_different_instructions():
    body = """if (i < 32) { C[i] = 1; asm volatile("bar.sync 0;"); C[i] += 1; }
              else { asm volatile("bar.sync 0;"); C[i] = 3; }"""
    assert run(body, 0, floats(64), floats(64), block=64).findings == ()


@pytest.mark.parametrize("body, lane, says", [
    ("float x = A[i];\nx += __shfl_down_sync(0xffff, x, 1);\nC[i] = x;", 16, "does not name that lane"),
    ("float x = A[i]; if (i > 3)\n__syncwarp(7);\nC[i] = x;", 4, "does not name that lane"),
    ("float x = A[i]; if (i >= n) return;\nx += __shfl_xor_sync(~0u, x, 1);\nC[i] = x;", 31, "does not come"),
    ("float x = A[i]; if (i < 16)\nx += __shfl_down_sync(~0u, x, 16);\nC[i] = x;", 16, "does not come"),
])
def test_a_mask_that_does_not_fit_the_lanes(body, lane, says):
    found = only(run(body, 31, floats(32), floats(32)), "barrier-divergence")
    assert found.line == 2 and says in found.message and f"lane {lane} of its warp" in found.message
    assert run(body, 31, floats(32), floats(32), mode="count").findings == ()


@pytest.mark.parametrize("body", [
    "float x = A[i]; for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d); C[i] = x;",
    "if (i >= 20) return; float x = A[i], y = __shfl_down_sync(0xfffff, x, 8); C[i] = i < 12 ? x + y : x;",
    """float x = A[i]; if (i < 16) x += __shfl_xor_sync(0xffff, x, 8, 16);
        else x -= __shfl_xor_sync(0xffff0000, x, 4); C[i] = x;""",
    "if (i % 3 == 0) C[i] = __popc(__ballot_sync(__activemask(), i > 5)); __syncwarp();",
    "if (i >= 20) return; __syncwarp(); C[i] = i;",                       # those that have returned are not waited for
    "float x = 0; for (int k = 0; k < i; ++k) x += A[k]; C[i] = x + __shfl_sync(~0u, x, 3);",
])
def test_masks_that_fit(body):
    assert run(body, 0, floats(32), floats(32)).findings == ()


@pytest.mark.parametrize("back_end", ["numpy", "llvm"])
def test_what_a_lane_outside_the_mask_gives_must_not_be_used(back_end, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", back_end)
    body = "if (i >= 20) return; C[i] = __shfl_down_sync(0xfffff, A[i], n);"
    A, C = np.arange(32, dtype=F32), np.zeros(32, F32)
    done = run(body, 16, A, C, unoptimized=False)
    assert done.findings == () and "thread (4, 0, 0)" in done.notes[0] and "lane 20 of its warp" in done.notes[0]
    want = [*range(16, 20), *[np.nan] * 12, *range(16, 20), *[0] * 12]    # beyond lane 31 a lane keeps its own
    assert np.array_equal(C, np.array(want, F32), equal_nan=True)


def test_threads_that_wait_for_ever():
    body = """if (i < 32) {
        asm volatile("bar.sync 1, 64;"); } else {
        asm volatile("bar.sync 2, 64;"); }"""
    done = run(body, 0, floats(64), floats(64), block=64)
    found = only(done, "barrier-divergence")
    assert set(found.lines) == {2, 3} and not done.completed


def test_named_barriers():
    body = SHARED + """if (i < 64) { s[i] = A[i]; asm volatile("bar.sync 1, 64;" ::: "memory"); C[i] = s[63 - i]; }
        else { asm volatile("bar.sync 2, 32;"); C[i] = 2; }"""
    C = np.zeros(96, F32)
    assert run(body, 0, np.arange(64, dtype=F32), C, block=96).findings == ()
    assert C.tolist() == [*range(63, -1, -1)] + [2] * 32


def test_a_named_barrier_orders_those_who_meet_there():
    body = SHARED + """if (i < 64) s[i] = 0; __syncthreads(); if (i < 64) {
        s[i] = A[i]; asm volatile("bar.sync 1, 64;" ::: "memory"); C[i] = s[63 - i]; } else {
        C[i] = %s; asm volatile("bar.sync 2, 32;" ::: "memory"); }"""
    assert run(body % "2", 0, floats(64), floats(96), block=96).findings == ()
    assert set(only(run(body % "s[i - 64]", 0, floats(64), floats(96), block=96), "race").lines) == {2, 3}


ARRIVES = SHARED + """if (i < 32) { s[i] = A[i]; asm volatile("bar.arrive 1, 64;" ::: "memory"); %s }
    else {\nasm volatile("bar.sync 1, 64;" ::: "memory"); C[i] = s[i - 32]; }"""


def test_who_arrives_at_a_barrier_goes_on_and_tells_those_who_wait():
    C = np.zeros(64, F32)
    assert run(ARRIVES % "C[i] = 1;", 0, np.arange(32, dtype=F32), C, block=64).findings == ()
    assert C.tolist() == [1] * 32 + [*range(32)]
    assert only(run(ARRIVES % "s[i] = 5;", 0, floats(32), floats(64), block=64), "race").lines
    done = run(ARRIVES.replace("64;", "96;") % "", 0, floats(32), floats(64), block=64)
    assert "waits at this barrier for 96 threads, but only 64 come" in only(done, "barrier-divergence").message


@pytest.mark.parametrize("body, line", [
    ('asm volatile("bar.sync 1, 64;" ::: "memory");', 1),
    ("if (i < 64) {\n" + 'asm volatile("bar.sync 1, 64;"); } else {\nasm volatile("bar.sync 1, 64;"); }', 2),
    ("if (i < 32) {\n" + 'asm volatile("bar.arrive 1, 64;"); asm volatile("bar.arrive 1, 64;"); }', 2)])
def test_other_threads_than_meant_may_meet_at_a_named_barrier(body, line):
    found = [f for f in run(body, 0, floats(1), floats(1), block=128).findings if f.kind == "barrier-divergence"]
    assert len(found) == 1 and found[0].line in (line, line + 1)


def test_halves_of_a_warp_that_sync_apart_are_not_ordered():
    body = SHARED + """s[i] = A[i]; __syncwarp(i < 16 ? 0xffff : 0xffff0000);
        C[i] = s[i ^ %d];"""
    assert run(body % 15, 0, floats(32), floats(32)).findings == ()
    assert set(only(run(body % 31, 0, floats(32), floats(32)), "race").lines) == {1, 2}


@pytest.mark.parametrize("lock", ["__shared__ int lock; if (i == 0) lock = 0;", ""])
def test_who_gets_a_lock_knows_what_came_before(lock):
    body = "__shared__ volatile float sum; if (i == 0) sum = 0; " + lock + """ __syncthreads(); bool done = false;
        while (!done) if (atomicCAS(&lock, 0, 1) == 0) { %s; done = true; } %s
        __syncthreads(); C[i] = sum;"""
    before = "" if lock else "__device__ int lock;"
    C = np.zeros(64, F32)
    assert run(body % ("sum = sum + A[i]; atomicExch(&lock, 0)", ""), 0, np.ones(64, F32), C, block=64,
               before=before).findings == ()
    assert (C == 64).all()
    assert only(run(body % ("atomicExch(&lock, 0)", "sum = sum + A[i];"), 0, floats(64), C, block=64, before=before),
                "race").lines


@pytest.mark.parametrize("where", ["__shared__ int come; if (i == 0) come = 0; __syncthreads();",
                                   "int &come = ticket[b];"])
def test_who_takes_the_last_ticket_knows_what_the_others_did(where):
    body = SHARED + where + """ s[i] = A[i]; __threadfence(); __syncwarp();
        int mine; if (i %% 32 == 0) mine = atomicAdd(&come, 1); mine = __shfl_sync(~0u, mine, 0);
        if (mine == %d) C[b * 32 + i %% 32] = s[i %% 32] + s[32 + i %% 32];"""
    C = np.zeros(64, F32)
    ticket = "__device__ int ticket[2];"
    assert run(body % 1, 0, floats(64), C, block=64, grid=2, before=ticket).findings == ()
    assert (C == 2).all()
    assert only(run(body % 0, 0, floats(64), C, block=64, grid=2, before=ticket), "race").lines


def test_who_takes_the_last_ticket_but_one_of_all_blocks_is_early():
    body = """part[b] = A[b]; __threadfence();
        if (atomicAdd(&ticket, 1) == %d) { float sum = 0; for (int k = 0; k < 3; ++k) sum += part[k]; C[0] = sum; }"""
    before = "__device__ int ticket; __device__ float part[3];"
    C = np.zeros(1, F32)
    assert run(body % 2, 0, floats(3), C, block=1, grid=3, before=before).findings == ()
    assert C[0] == 3
    assert set(only(run(body % 1, 0, floats(3), C, block=1, grid=3, before=before), "race").lines) == {1, 2}


def test_a_flag_in_shared_memory():
    body = SHARED + """__shared__ volatile int ready; if (i == 0) ready = 0; __syncthreads();
        if (i >= 32) { s[i - 32] = A[i]; %s __syncwarp(); if (i == 32) ready = 1; %s }
        else { while (!ready) {} C[i] = s[i]; }"""
    C = np.zeros(32, F32)
    assert run(body % ("__threadfence_block();", ""), 0, floats(64), C, block=64).findings == ()
    assert (C == 1).all()
    assert only(run(body % ("", "s[i - 32] = 5;"), 0, floats(64), C, block=64), "race").lines


def test_a_number_in_shared_memory_that_ends_a_loop_with_barriers_is_no_flag():
    body = """__shared__ volatile int t;
        for (;;) {\nif (i == 0) t = atomicAdd(&next, 1); __syncthreads();
        int mine = t; if (mine >= n) break; C[mine] = 1; }"""
    found = run(body, 3, floats(1), floats(3), block=64, before="__device__ int next;").findings
    assert "race" in {f.kind for f in found}


@pytest.mark.parametrize("code", [
    'unsigned t; asm("mov.u32 %0, %%clock;" : "=r"(t)); C[i] = t;',
    'asm volatile("{ .reg .b32 x; mad.lo.cc.u32 x, 1, 2, 3; }");', 'asm volatile("tex.nonsense.u32 [%0];" :: "l"(C));'])
def test_unsupported_constructs_are_named_with_their_line(code):
    try:
        done = run(f"if (n)\n{code}", 0, floats(1), floats(32))
    except Exception as problem:    # the compiler may refuse nonsense; the emulator may not fail
        assert type(problem).__name__ == "CompileError"
        return
    assert done.completed, "what is not reached does not matter"
    done = run(f"if (n)\n{code}", 1, floats(1), floats(32))
    assert not done.completed and only(done, "unsupported").line == 2


def test_a_failing_assertion_and_a_trap():
    done = run("\nassert(i < n);\nC[i] = 1;", 7, floats(1), floats(32))
    found = only(done, "assertion")
    assert found.line == 2 and "thread (7, 0, 0)" in found.message and "`i < n`" in found.message
    assert only(run("if (i == 3)\n__trap();", 7, floats(1), floats(32)), "assertion").line == 2


def test_an_error_inside_the_emulator_is_a_finding(monkeypatch):
    """Whatever goes wrong, the student sees the line and not a traceback."""
    from gemm_lab.emulator import requests
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "numpy")
    monkeypatch.setattr(requests, "store", lambda *_: 1 / 0)
    found = only(run("\nC[i] = 1;", 0, floats(1), floats(32)), "unsupported")
    assert found.line == 2 and "st.global" in found.message


def test_one_defect_is_one_finding():
    body = SHARED + "for (int k = 0; k < 20; ++k) {\ns[i] = A[i] + k;\nC[b * 64 + i] += s[63 - i]; }"
    assert len(run(body, 0, floats(64), floats(9 * 64), block=64, grid=9).findings) == 1


LONG = {
    "a product": ("for (int t = 0; t < n * n; ++t) x = x * 0.5f + t;", 60),
    "a shift": ("for (int t = 0; t < (1 << n); ++t) x = x * 0.5f + t;", 12),
    "a number in an array": ("for (int t = 0; t < (int)A[0]; ++t) x = x * 0.5f + t;", 3),
    "a float that grows": ("for (float t = 0; t < 3e3f; t += 1) x = x * 0.5f + t;", 3),
}


@pytest.mark.parametrize("name", list(LONG))
def test_loops_that_come_nearer_to_their_end_are_not_accused(name, monkeypatch):
    """However far the end is, and whatever number it depends on."""
    monkeypatch.setattr(loops, "PATIENCE", 0.0)
    body, n = LONG[name]
    assert run("float x = 0; " + body + " C[i] = x;", n, np.full(1, 3000, F32), np.zeros(32, F32)).completed


def test_large_local_arrays_run_few_blocks_at_once_and_too_large_ones_are_refused():
    """One array of 400 KB for each of 64 * 256 threads would take 6.5 GB at once."""
    body = "float a[{}]; for (int k = 0; k < n; ++k) a[(k * 7919 + i) % {}] = A[k & 31]; C[i & 31] = a[n];"
    assert run(body.format(100000, 100000), 3, floats(32), floats(32), block=256, grid=8, mode="values").completed
    with pytest.raises(ValueError, match="bytes of local memory; it has at most 524288"):
        run(body.format(200000, 200000), 3, floats(32), floats(32))


def test_printing_without_end_is_cut_and_says_so():
    done = emulate('#include <cstdio>\n__global__ void k(int n) { for (int i = 0; i < n; ++i) printf("%d\\n", i); }',
                   "k", 1, 1, [400000])
    assert done.completed and done.output.endswith("only the first 1,048,576 characters are kept\n")


@pytest.mark.parametrize("barrier", ['asm volatile("bar.sync 16, 64;");', 'asm volatile("bar.arrive 17, 64;");',
                                     'asm volatile("bar.sync %0, 64;" :: "r"(99 + blockDim.x));'])
@pytest.mark.parametrize("mode", ["count", "check"])
def test_a_barrier_that_no_block_has(barrier, mode):
    run = emulate(f"__global__ void k(float *X) {{\n{barrier}\nX[0] = 1; }}", "k", 1, 32, (np.zeros(1, np.float32),),
                  mode)
    assert [(f.kind, f.line) for f in run.findings] == [("unsupported", 2)]
    assert "there is no barrier" in run.findings[0].message


def test_a_flood_of_text_ends():
    source = '__global__ void k(int *X) {\nfor (int n = 0; n < X[0]; ++n)\nprintf("%d", n); }'
    run = emulate(source, "k", 8, 1024, (np.full(1, 2**30, np.int32),))
    assert [(f.kind, f.line) for f in run.findings] == [("unsupported", 3)] and "printf was called" in str(run.findings)


def test_variables_of_the_module_have_a_limit():
    with pytest.raises(ValueError, match="variables take 4000000000 bytes; the emulator has 67108864 for them"):
        emulate("__device__ float W[1000000000];\n__global__ void k(float *X) { W[threadIdx.x] = X[0]; }", "k", 1, 32,
                (np.zeros(1, np.float32),))
