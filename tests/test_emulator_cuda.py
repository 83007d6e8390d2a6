"""CUDA C++ that students write: each construct runs and gives what plain Python or NumPy says."""

from __future__ import annotations

import numpy as np
import pytest

from gemm_lab.emulator import emulate

I32, F32 = np.int32, np.float32
LANE = np.arange(32)


def run(body, *args, grid=1, block=32, parameters="", before="", mode="check", **options):
    """Run a kernel `k` with this body; `i` is the thread's number in its block."""
    source = f"{before}\n__global__ void k({parameters}) {{\n    int i = threadIdx.x;\n{body}\n}}\n"
    done = emulate(source, "k", grid, block, args, mode=mode, **options)
    assert done.completed and done.findings == (), done.findings
    return done


def ints(n=32):
    return np.zeros(n, I32)


def test_geometry_in_three_dimensions():
    out = ints(2 * 3 * 2 * 4 * 3 * 2)
    run("""int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
           int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
           R[b * blockDim.x * blockDim.y * blockDim.z + t] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z
               + 1000 * threadIdx.x + 10000 * threadIdx.y + 100000 * threadIdx.z + 1000000 * warpSize;""",
        out, grid=(2, 3, 2), block=(4, 3, 2), parameters="int *R")
    want = [bx + 10 * by + 100 * bz + 1000 * x + 10000 * y + 100000 * z + 32000000 for bz in range(2) for by in range(3)
            for bx in range(2) for z in range(2) for y in range(3) for x in range(4)]
    assert out.tolist() == want


def test_division_and_remainder_of_indices():
    for threads in (32, 50, 100):
        out = ints(threads)
        run("R[i] = i / 16 * 1000000 + i % 16 * 10000 + i / 3 * 100 + i % 3;", out, block=threads, parameters="int *R")
        assert out.tolist() == [n // 16 * 10**6 + n % 16 * 10**4 + n // 3 * 100 + n % 3 for n in range(threads)]


def test_64_bit_and_size_t_arguments():
    out = np.zeros(32, np.int64)
    run("R[i] = (long long)n * i - m + (s % 7) * u;", out, -5, 2**40, 2**63 + 1, 4000000000, parameters=(
        "long long *R, int n, long long m, size_t s, unsigned u"))
    assert out.tolist() == [-5 * n - 2**40 + (2**63 + 1) % 7 * 4000000000 for n in range(32)]


def test_small_integers_and_bool():
    r = np.random.default_rng(0)
    a, b = r.integers(-128, 128, 32).astype(np.int8), r.integers(0, 2**16, 32).astype(np.uint16)
    c, flag = np.zeros(32, np.int16), np.zeros(32, bool)
    run("C[i] = A[i] * B[i] + (short)n; F[i] = A[i] > 0 && !yes;", a, b, c, flag, -3, False,
        parameters="const signed char *A, const unsigned short *B, short *C, bool *F, short n, bool yes")
    assert np.array_equal(c, (a.astype(int) * b - 3).astype(np.int16)) and np.array_equal(flag, a > 0)


def test_bytes_in_shared_memory():
    out = np.zeros(64, np.uint8)
    run("__shared__ unsigned char s[64]; s[i] = i * 5; __syncthreads(); R[i] = s[63 - i];", out, block=64,
        parameters="unsigned char *R")
    assert out.tolist() == [(63 - n) * 5 % 256 for n in range(64)]


def test_doubles_accumulate_exactly_rounded():
    A = np.random.default_rng(1).standard_normal(32).astype(F32)
    out = np.zeros(32)
    run("double s = 0; for (int k = 0; k < n; ++k) s += (double)A[k] * A[i]; R[i] = s / 3.0 + sqrt(s * s);", A, out, 32,
        parameters="const float *A, double *R, int n")
    s = np.zeros(32)
    for k in range(32):    # the products are exact in float64: fma and multiply-add agree
        s = s + float(A[k]) * A.astype(float)
    quotient = s / 3.0
    assert np.abs(out - (quotient + np.sqrt(s * s))).max() < 1e-14


@pytest.mark.parametrize("code, function", [
    ("x / y", lambda x, y: x / y), ("sqrtf(y)", lambda x, y: np.sqrt(y)), ("fmaxf(x, y)", np.maximum),
    ("fminf(x, y)", np.minimum), ("fabsf(x)", lambda x, y: np.abs(x)), ("floorf(x)", lambda x, y: np.floor(x)),
    ("ceilf(x)", lambda x, y: np.ceil(x)), ("rintf(x)", lambda x, y: np.rint(x)),
    ("truncf(x)", lambda x, y: np.trunc(x)),
    ("copysignf(x, y)", np.copysign), ("__fmul_rn(x, y)", np.multiply), ("1.0f / y", lambda x, y: F32(1) / y),
    ("__saturatef(x)", lambda x, y: np.clip(x, 0, 1)), ("x - y", np.subtract),
    ("(float)(int)x", lambda x, y: np.trunc(x)), ("x > y ? x : y * 2", lambda x, y: np.where(x > y, x, y * F32(2)))])
def test_exact_float_functions(code, function):
    r = np.random.default_rng(2)
    x, y = (4 * r.standard_normal(32)).astype(F32), np.abs(r.standard_normal(32)).astype(F32)
    out = np.zeros(32, F32)
    run(f"float x = X[i], y = Y[i]; R[i] = {code};", x, y, out, parameters="const float *X, const float *Y, float *R")
    assert np.array_equal(out, function(x, y).astype(F32))


@pytest.mark.parametrize("code, function", [
    ("expf(x)", np.exp), ("logf(x)", np.log), ("sinf(x)", np.sin), ("cosf(x)", np.cos), ("tanhf(x)", np.tanh),
    ("powf(x, 1.5f)", lambda x: x**1.5), ("rsqrtf(x)", lambda x: 1 / np.sqrt(x)), ("__expf(x)", np.exp),
    ("__fdividef(1.0f, x)", lambda x: 1 / x), ("exp2f(x)", np.exp2), ("erff(x)", None)])
def test_approximate_float_functions(code, function):
    x = np.linspace(0.1, 5, 32).astype(F32)
    out = np.zeros(32, F32)
    run(f"float x = X[i]; R[i] = {code};", x, out, parameters="const float *X, float *R")
    if function:
        assert np.abs(out / function(x.astype(float)) - 1).max() < 1e-6


def test_vector_types_through_casts():
    A = np.random.default_rng(3).standard_normal((8, 4)).astype(F32)
    C, D = np.zeros_like(A), np.zeros((8, 2), F32)
    run("""float4 v = reinterpret_cast<const float4 *>(A)[i]; v.x *= 2; v.w += v.y;
           reinterpret_cast<float4 *>(C)[i] = v; D[i] = make_float2(v.x, v.z);""", A, C, D, block=8,
        parameters="const float *A, float *C, float2 *D")
    want = A.copy()
    want[:, 0] *= 2
    want[:, 3] += want[:, 1]
    assert np.array_equal(C, want) and np.array_equal(D, want[:, [0, 2]])


def test_local_arrays_with_computed_indices():
    A, out = np.random.default_rng(4).integers(0, 99, 32 * 16).astype(I32), ints()
    done = run("""int r[16]; for (int k = 0; k < 16; ++k) r[k] = A[i * 16 + k];
           int s = 0; for (int k = 0; k < 16; ++k) s += k * r[(k * (n + i)) & 15]; R[i] = s;""", A, out, 5,
               parameters="const int *A, int *R, int n")
    assert out.tolist() == [sum(k * int(A[t * 16 + (k * (5 + t) & 15)]) for k in range(16)) for t in range(32)]
    assert done.counts.local_store_words == 32 * 16


@pytest.mark.parametrize("n", [64, 48, 32, 0])
def test_generic_pointers_to_shared_or_global_memory(n):
    A, out = np.arange(64, dtype=F32), np.zeros(64, F32)
    done = run("""__shared__ float s[64]; const float *p = n > 32 + i / 4 ? A : s; s[i] = A[i] + 1; __syncthreads();
                  R[i] = p[i];""", A, out, n, block=64, parameters="const float *A, float *R, int n")
    t = np.arange(64)
    from_global = n > 32 + t // 4
    assert np.array_equal(out, np.where(from_global, A, A + 1))
    assert done.counts.global_load_words == 64 + from_global.sum()
    assert done.counts.shared_load_words == 64 - from_global.sum()


def test_one_request_to_two_arrays_is_one_request():
    A, B, out = np.arange(32, dtype=F32), np.arange(32, dtype=F32) * 2, np.zeros(32, F32)
    done = run("const float *p = i % n ? A : B; R[i] = p[i];", A, B, out, 2,
               parameters="const float *A, const float *B, float *R, int n")
    assert np.array_equal(out, np.where(LANE % 2, A, B))
    c = done.counts
    assert (c.global_load_requests, c.global_load_sectors, c.global_load_wavefronts) == (1, 8, 2)


def test_dynamic_and_constant_and_device_memory():
    A, out = np.arange(64, dtype=F32), np.zeros(64, F32)
    before = """extern __shared__ float dyn[]; __constant__ float c[4] = {1, 2, 3, 4}; __constant__ int zero[2];
                __device__ float scale = 0.5f; __device__ float table[64];"""
    done = run("""dyn[i] = A[i]; table[i] = i; __syncthreads(); R[i] = dyn[63 - i] * c[i & 3] + c[1] + scale + table[i]
                  + zero[1];""", A, out, block=64, parameters="const float *A, float *R", before=before,
               shared_bytes=256)
    t = np.arange(64)
    assert np.array_equal(out, (A[::-1] * (t % 4 + 1)) + F32(2) + F32(0.5) + t.astype(F32))
    assert done.counts.global_load_words == 64 + 64 + 64, "constants are not global memory"


@pytest.mark.parametrize("back_end", ["numpy", "llvm"])
def test_variables_keep_what_a_launch_leaves_in_them(back_end, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", back_end)
    source = """__device__ int table[32] = {5}, total;
                __global__ void k(int *R) { const int i = threadIdx.x; table[i] += 1; R[i] = table[i];
                                            if (i < 2) R[32 + i] = atomicAdd(&total, 1); }"""    # left to NumPy
    first = np.array([6, *[1] * 31])
    variables = {}
    for launch in range(3):
        out = ints(34)
        assert emulate(source, "k", 1, 32, [out], "values", variables=variables).completed
        assert np.array_equal(out[:32], first + launch) and sorted(out[32:]) == [2 * launch, 2 * launch + 1]
        held = {name: data.view(np.int32).tolist() for name, data in variables.items()}
        assert held == {"table": (first + launch).tolist(), "total": [2 * launch + 2]}
    out = ints(34)
    emulate(source, "k", 1, 32, [out], "values")
    assert np.array_equal(out[:32], first), "without them a launch is the first"
    with pytest.raises(ValueError, match="variables is a list; it must be a dict"):
        emulate(source, "k", 1, 32, [out], variables=[])


def test_control_flow():
    out = ints(40)
    run("""int s = 0, k = 0;
           do { switch ((i + k) & 3) { case 0: s += 1; break; case 1: s += 10; case 2: s += 100; break;
                                       default: s *= 2; }
                if (k == 5 && i == 7) break; if (i & 1) continue; s += k; } while (++k < i % 9);
           if (i > 35) return;
           for (;;) { if (s > 500) break; s += 77; }
           R[i] = s;""", out, block=40, parameters="int *R")

    def python(i):
        s = k = 0
        while True:
            case = (i + k) & 3
            s = s + 1 if case == 0 else s + 110 if case == 1 else s + 100 if case == 2 else s * 2
            if k == 5 and i == 7:
                break
            if not i & 1:
                s += k
            k += 1
            if not k < i % 9:
                break
        while s <= 500:
            s += 77
        return s
    assert out.tolist() == [python(n) if n <= 35 else 0 for n in range(40)]


def test_functions_lambdas_templates_and_structs():
    out = ints()
    before = """template <int N> struct Sum {
            int v;
            __device__ Sum operator+(const Sum &o) const { return {v + o.v * N}; }
        };
        struct Three { int a, b, c; };
        __device__ __noinline__ Three make(int x) { Three t; t.a = x; t.b = 2 * x; t.c = 3 * x; return t; }
        __device__ __noinline__ int pick(int x) { if (x % 3 == 0) return -1; return x * x; }
        __device__ __noinline__ void put(int *R, int i, int v) { if (v > 10) R[i] = v; else R[i] = -v; }"""
    run("""auto f = [&](int x) { return x + i; }; Three t = make(i); Sum<3> a{f(2)}, b{t.b * t.c};
           put(R, i, (a + b).v + pick(i) + pick(i + 1));""", out, parameters="int *R", before=before)

    def pick(x):
        return -1 if x % 3 == 0 else x * x
    want = [2 + n + 3 * 6 * n * n + pick(n) + pick(n + 1) for n in range(32)]
    assert out.tolist() == [v if v > 10 else -v for v in want]


# ---- warps ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("block", [32, 64])
def test_shuffles(block):
    x = np.random.default_rng(5).integers(0, 1000, block).astype(I32)
    out = ints(6 * block)
    run("""int v = X[i], n = blockDim.x; unsigned all = ~0u;
           R[i] = __shfl_xor_sync(all, v, 5); R[n + i] = __shfl_up_sync(all, v, 3, 8);
           R[2 * n + i] = __shfl_down_sync(all, v, 7);
           R[3 * n + i] = __shfl_sync(all, v, i * 7, 16); int s = v;
           for (int o = 16; o; o /= 2) s += __shfl_down_sync(all, s, o);
           R[4 * n + i] = __shfl_sync(all, s, 0); R[5 * n + i] = __shfl_sync(all, v, (i + 1) & 31);""",
        x, out, block=block, parameters="const int *X, int *R")
    for warp in range(block // 32):
        v = x[32 * warp:32 * warp + 32].tolist()
        got = out.reshape(6, block)[:, 32 * warp:32 * warp + 32].tolist()
        assert got == [[v[n ^ 5] for n in LANE], [v[n - 3] if n % 8 >= 3 else v[n] for n in LANE],
                       [v[n + 7] if n + 7 < 32 else v[n] for n in LANE],
                       [v[n // 16 * 16 + n * 7 % 16] for n in LANE], [sum(v)] * 32, [v[(n + 1) % 32] for n in LANE]]


def test_votes_matches_and_reductions():
    out = np.zeros(9 * 32, np.uint32)
    run("""unsigned all = ~0u; int p;
           R[i] = __any_sync(all, i == 3); R[32 + i] = __all_sync(all, i < 31);
           R[64 + i] = __ballot_sync(all, i % 3 == 0);
           R[96 + i] = __match_any_sync(all, i / 5); R[128 + i] = __match_all_sync(all, n, &p) + p;
           R[160 + i] = __reduce_add_sync(all, i); R[192 + i] = __reduce_max_sync(all, i * 3 % 32);
           if (i & 1) R[224 + i] = __activemask(); R[256 + i] = __popc(__ballot_sync(all, i > 20));""", out, 7,
        parameters="unsigned *R, int n")
    got = out.reshape(9, 32).tolist()
    assert got[0] == [1] * 32 and got[1] == [0] * 32
    assert got[2] == [sum(1 << n for n in range(0, 32, 3))] * 32
    assert got[3] == [sum(1 << m for m in range(32) if m // 5 == n // 5) for n in range(32)]
    assert got[4] == [0] * 32, "all lanes (2^32 - 1) plus 1"
    assert got[5] == [496] * 32 and got[6] == [31] * 32
    assert got[7] == [0xAAAAAAAA if n & 1 else 0 for n in range(32)] and got[8] == [11] * 32


def test_votes_of_a_half_warp_and_of_an_incomplete_one():
    out = np.zeros(40, np.uint32)
    run("if (i % 32 < 16) R[i] = __ballot_sync(0xffff, i & 1); __syncwarp();", out, block=40, parameters="unsigned *R")
    assert out.tolist() == [0xAAAA] * 16 + [0] * 16 + [0xAA] * 8


def test_barriers_with_a_vote():
    for threads in (32, 50, 96):
        out = ints(threads)
        run("""R[i] = __syncthreads_or(i == 3) + 2 * __syncthreads_and(i < 40)
                      + 4 * __syncthreads_count(i % 3 == 0);""",
            out, block=threads, grid=2, parameters="int *R", mode="count")
        assert set(out.tolist()) == {1 + 2 * (threads <= 40) + 4 * -(-threads // 3)}


@pytest.mark.parametrize("back_end", ["numpy", ""])
def test_a_vote_is_not_changed_by_the_next_one(back_end, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", back_end)
    out = ints(96)
    run("int n = __syncthreads_count(i % 3 == 0), m = __syncthreads_count(i < 5); R[i] = n + 100 * m;",
        out, block=96, parameters="int *R", mode="count")
    assert set(out.tolist()) == {32 + 100 * 5}


def test_atomics():
    C, F, U = np.zeros(128, I32), np.zeros(4, F32), np.zeros(128, np.uint32)
    C[6] = -1
    run("""__shared__ int s; __shared__ float sf[4]; if (i == 0) s = 0; if (i < 4) sf[i] = 0; __syncthreads();
           int old = atomicAdd(&s, i); atomicAdd(&sf[i & 3], 1.5f);
           atomicMax(&C[1], i * (i & 1 ? 1 : -1)); atomicMin(&C[2], -i); int e = atomicExch(&C[3], i + 1);
           atomicCAS(&C[4], 0, i + 1); atomicOr(&C[5], 1 << (i & 31)); atomicAnd(&C[6], ~(1 << (i & 31)));
           atomicXor(&C[7], i); unsigned w = atomicInc(&U[0], 10); atomicDec(&U[1], 10); atomicSub(&C[8], 2);
           atomicAdd(F, 0.25f);
           __syncthreads(); if (i == 0) { C[0] = s; F[1] = sf[0] + sf[3]; } C[16 + i] = old; U[16 + i] = w;
           if (e == 0) C[101] = 1;""", C, F, U, block=64, parameters="int *C, float *F, unsigned *U")
    assert C[:9].tolist() == [2016, 63, -63, 64, 1, -1, 0, 0, -128] and F[:2].tolist() == [16, 48]
    assert C[16:80].tolist() == np.cumsum([0, *range(63)]).tolist(), "each atomic sees what those before it left"
    assert U[16:80].tolist() == [n % 11 for n in range(64)] and C[101] == 1
    dec = 0
    for _ in range(64):
        dec = 10 if dec == 0 or dec > 10 else dec - 1
    assert U[0] == 64 % 11 and U[1] == dec


def test_64_bit_atomics():
    out = np.array([2**40, 0], np.uint64)
    run("atomicAdd(R, (unsigned long long)i << 33); atomicMax(R + 1, (unsigned long long)i << 60);", out,
        parameters="unsigned long long *R", block=16)
    assert out.tolist() == [2**40 + (120 << 33), 15 << 60]


COPY = """unsigned to = __cvta_generic_to_shared(&s[i * 4]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(to), "l"(A + i * 4));
    asm volatile("cp.async.commit_group;");"""


def test_cp_async_arrives_at_the_wait():
    A, out = np.arange(128, dtype=F32), np.zeros(64, F32)
    done = run(f"""__shared__ float s[128]; {COPY} asm volatile("cp.async.wait_group 0;"); __syncthreads();
               R[i] = s[127 - i]; R[32 + i] = s[i];""", A, out, parameters="const float *A, float *R")
    assert np.array_equal(out, np.concatenate((A[127 - LANE], A[LANE])))
    assert (done.counts.global_load_words, done.counts.shared_store_words) == (128, 128)


def test_without_the_wait_shared_memory_still_holds_what_it_held():
    A, out = np.arange(128, dtype=F32), np.zeros(32, F32)
    source = f"""__global__ void k(const float *A, float *R) {{
        __shared__ __align__(16) float s[128]; int i = threadIdx.x;
        {COPY} __syncthreads(); R[i] = s[127 - i]; asm volatile("cp.async.wait_all;"); }}"""
    done = emulate(source, "k", 1, 32, (A, out), mode="check")
    assert np.isnan(out).all() and {f.kind for f in done.findings} >= {"uninitialized"}


def test_older_groups_of_copies_arrive_first():
    A, out = np.arange(64, dtype=F32), np.zeros(64, F32)
    run("""__shared__ float s[64]; s[i] = s[32 + i] = -1;
        for (int g = 0; g < 2; ++g) {
            unsigned to = __cvta_generic_to_shared(&s[g * 32 + i]);
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(A + g * 32 + i));
            asm volatile("cp.async.commit_group;");
        }
        asm volatile("cp.async.wait_group 1;"); R[i] = s[i]; R[32 + i] = s[32 + i];
        asm volatile("cp.async.wait_all;");""",
        A, out, parameters="const float *A, float *R")
    assert np.array_equal(out, np.concatenate((A[:32], np.full(32, -1))))


def test_cp_async_fills_with_zeros_and_does_not_read_what_it_skips():
    A, out = np.arange(20, dtype=F32), np.zeros(32, F32)
    run("""__shared__ float s[32]; unsigned to = __cvta_generic_to_shared(&s[i]); int bytes = i < 20 ? 4 : 0;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(to), "l"(A + i), "r"(bytes));
        asm volatile("cp.async.wait_all;"); R[i] = s[i];""", A, out, parameters="const float *A, float *R")
    assert np.array_equal(out, np.concatenate((A, np.zeros(12))))


def test_inline_assembly_with_scopes_and_special_registers():
    out = np.zeros(64, np.uint32)
    run("""unsigned l, m, w; asm("mov.u32 %0, %%laneid;" : "=r"(l)); asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
        asm("mov.u32 %0, %%warpid;" : "=r"(w)); R[i] = l + 100 * w; R[i] += __popc(m) * 1000;
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 3; @p st.global.u32 [%1], 77; }" :: "r"(l), "l"(R));
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 5; @!p st.global.u32 [%1+4], 78; }" :: "r"(l), "l"(R));""",
        out, block=64, parameters="unsigned *R", mode="count")    # not "check": many threads write R[0] and R[1]
    want = [n % 32 * 1001 + n // 32 * 100 for n in range(64)]
    want[0], want[1] = 77, 78
    assert out.tolist() == want


def test_a_volatile_and_restrict_and_ldg():
    A, out = np.arange(96, dtype=F32), np.zeros(32, F32)
    run("volatile float x = __ldg(&A[i * 3]); R[i] = x + __ldcg(&A[1]) + ((const volatile float *)A)[2];", A, out,
        parameters="const float *__restrict__ A, float *__restrict__ R")
    assert np.array_equal(out, A[::3] + 3)


def test_printf_and_a_passing_assertion():
    out = ints(8)
    done = run(r"""if (i < 2) printf("thread %d: %5.2f|%s|%lld %c%%\n", i, i / 4.0f, "text", 1LL << 40, 'x');
                   if (i == 3) printf("plain\n"); assert(i < 8); R[i] = 1;""", out, block=8, parameters="int *R")
    assert done.output == ("thread 0:  0.00|text|1099511627776 x%\nthread 1:  0.25|text|1099511627776 x%\nplain\n")
    assert out.tolist() == [1] * 8


def test_spinning_on_a_flag_of_another_warp():
    """A lockstep that always runs the lowest thread would never let the other warp set the flag."""
    for schedule in ("lockstep", "warps", (1, 0)):
        out = ints(64)
        run("""__shared__ volatile int flag; if (i == 0) flag = 0; __syncthreads();
               if (i < 32) { while (flag == 0) ; } else if (i == 32) flag = 5;
               __syncthreads(); R[i] = flag;""", out, block=64, parameters="int *R", mode="count", schedule=schedule)
        assert out.tolist() == [5] * 64


def test_a_lock_that_many_threads_want():
    out = ints(4)
    run("while (atomicCAS(&R[0], 0, 1)) ; R[1] += i; __threadfence(); atomicExch(&R[0], 0);", out, block=40,
        parameters="int *R", mode="count")
    assert out.tolist() == [0, sum(range(40)), 0, 0]


def test_unoptimised_ptx_gives_the_same(monkeypatch):
    """With -G nothing is folded, and all addresses are generic."""
    from gemm_lab import compiler
    plain = compiler.compile_ptx
    monkeypatch.setattr(compiler, "compile_ptx", lambda source, entry, options=(): plain(source, entry, ("-G",)))
    A, out = np.random.default_rng(6).integers(0, 9, (16, 16)).astype(F32), np.zeros((16, 16), F32)
    done = run("""__shared__ float s[16][17]; int x = i % 16, y = i / 16; s[y][x] = A[i]; __syncthreads();
                  float acc = 0; for (int k = 0; k < 16; ++k) acc += s[y][k] * s[k][x]; R[i] = acc;""",
               A, out, block=256, parameters="const float *A, float *R")
    assert np.array_equal(out, A @ A) and done.counts.shared_load_words == 2 * 16 * 256


def test_same_address_for_the_same_array():
    A = np.arange(32, dtype=F32)
    out = ints()
    run("R[i] = A == B && A != C; A[i] += 1; R[i] += (int)B[i];", A, A, A[1:], out,
        parameters="float *A, const float *B, const float *C, int *R", mode="values")
    assert out.tolist() == [n + 2 for n in range(32)]
