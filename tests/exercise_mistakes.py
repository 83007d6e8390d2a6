"""Plausible wrong answers to tasks whose misconceptions are not listed in the task itself, with what each must be told.

A kernel is given by edits of the model answer, other answers as they are: (answer, kind of the mistake, a piece of the
message). They belong to the public version of the exercises.
"""

from __future__ import annotations

FOUR_AT_ONCE = """{ const float4 f = *(const float4 *)&As[k][top + i / 4 * 4];
x[i] = i % 4 == 0 ? f.x : i % 4 == 1 ? f.y : i % 4 == 2 ? f.z : f.w; }"""
EXIT_EARLY = ("if (row >= M || col >= N) return;", "")

WRONG = {
    "00": {
        "emulator": [
            ("abce", "believes: how many microseconds does the kernel take on an H200?", "how long they take"),
            ("acde", "believes: how often does a load find its word in L1?", "not modelled"),
            ("acef", "believes: which of two kernels is faster?", "a measurement"),
            ("ac", "too-few", "1 more"), ("e", "too-few", "2 more"), ("xyz", "unreadable", "letters")],
        "scaled": [
            ([("beta == 0.0f ? alpha * acc :", "beta == 0.0f ? acc :")], "wrong-values", "beta = 0"),
            ([("beta == 0.0f ? alpha * acc : alpha * acc + beta * *c", "alpha * acc")], "wrong-values", "another"),
            ([("beta == 0.0f ? alpha * acc : alpha * acc", "alpha * acc")], "not-answered", "1 line"),
            ([(": alpha * acc + beta", ": acc + beta")], "wrong-values", "alpha*A*B"),
            ([("beta == 0.0f", "beta != 0.0f")], "wrong-values", "NaN"),
            ([(": alpha * acc + beta * *c", ": alpha * acc + *c")], "wrong-values", "alpha*A*B"),
            ([("acc = 0.0f", "acc = -0.0f"), ("++k", "k++"), ("const int row", "int row")], "too-many-changes",
             "takes 1"),
            ([("*c;\n    // ### END", "*c\n    // ### END")], "compile-error", "expected a")]},
    "01": {
        "suspect": [(2, "row", "rows go with y"), (3, "column", "columns go with x"), (4, "guard", "guard"),
                    (6, "loop", "once"),
                    (8, "address", "N elements"), (9, "epilogue", "stored"), ({4, 8}, "guard", "guard"),
                    (99, "unreadable", "1 to")],
        "grid": [
            (("(M + 31) // 32", "(N + 15) // 16"), "swapped", "exchanged"),
            (("N // 16", "M // 32"), "too-few-blocks", "no block"),
            (("(N + 15) // 16", "(M + 7) // 8"), "too-many-blocks", "nothing to do"),
            (("N / 16", "M / 32"), "no-whole-number", "fraction"),
            (("N // 16 + 1", "M // 32 + 1"), "too-many-blocks", "nothing to do"),
            (("ceil(N/16)", "ceil(M/32"), "unreadable", "arithmetic"), ((3, 4), "unreadable", "wo formulas")],
        "guard": [
            ([("row >= M || col >= N", "row >= M && col >= N")], "out-of-bounds", "beyond an edge"),
            ([("row >= M || col >= N", "row >= N || col >= M")], "out-of-bounds", "beyond an edge"),
            ([("row >= M || col >= N", "row > M || col > N")], "out-of-bounds", "beyond an edge"),
            ([("row >= M || col >= N", "row >= M - 1 || col >= N")], "wrong-values", "sent away"),
            ([EXIT_EARLY], "out-of-bounds", "beyond an edge"),
            ([("row >= M || col >= N) return;", "row >= M || col >= N) break;")], "compile-error", "break")],
        "flat": [
            ([("if (t >= (size_t)M * N) return;", "")], "out-of-bounds", "no element"),
            ([("row = t / N, col = t % N", "row = t / M, col = t % M")], "out-of-bounds", "every column below N"),
            ([("row = t / N, col = t % N", "row = t % M, col = t / M"), ("C[t] =", "C[row * N + col] ="),
              ("* C[t];", "* C[row * N + col];")],
             "over-budget", "neighbours in a row"),
            ([("blockIdx.x * blockDim.x", "blockIdx.x * 32")], "race", "exactly once"),
            ([("t >= (size_t)M * N", "t > (size_t)M * N")], "out-of-bounds", "no element"),
            ([("acc += A[row * K + k]", "acc += A[row * K + k] * A[row * K + k] / A[row * K + k] + 0 * A[row * K]")],
             "wrong-values", "element"),
            ([("size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x", "size_t t = threadIdx.x")], "race",
             "exactly once"),
            ([("beta == 0.0f ? alpha * acc : ", "")], "wrong-values", "element")]},
    "02": {
        "race": [({8, 12}, "wrong-tile", "follow this tile"), ({9, 13}, "barrier", "does not race"),
                 ({10}, "too-few", "not all"),
                 ({12, 17}, "own-element", "of its own"), ({6, 12}, "own-register", "its own"),
                 ({3, 10}, "declaration", "declares"),
                 ({11, 12}, "no-access", "no word")],
        "order": [
            (([0, 1, 2, 3], [3, 2, 1, 0]), "both-wrong", "wrong"),
            (([0, 1, 3, 2], [1, 0, 3, 2]), "both-right", "right"),
            (([2, 0, 1, 3], [0, 1, 3, 2]), "exchanged", "other way round"),
            (([0, 1, 2], [3, 2, 1]), "unreadable", "each"),
            (([0, 1, 2, 2], [2, 0, 1, 3]), "unreadable", "once"), ([0, 1, 3, 2], "unreadable", "wo orders")],
        "mend": [
            ([("A[(size_t)row * K + k0 + tx] : ", "A[(size_t)row * N + k0 + tx] : ")], "wrong-values", "products"),
            ([("] = row < M && k0 + tx < K", "] = k0 + tx < K")], "out-of-bounds", "index"),
            ([("] = row < M && k0 + tx < K", "] = row < M")], "out-of-bounds", "index"),
            ([("As[ty][tx] = row", "As[tx][ty] = row")], "wrong-values", "products"),
            ([("k0 + tx] : 0.0f", "tx] : 0.0f")], "wrong-values", "products"),
            ([("] = row < M && k0", "] = row < M || k0")], "out-of-bounds", "index"),
            ([("float acc = 0.0f;", "float acc = 0.0f, a = 0.0f;"), ("++k", "k++")], "too-many-changes", "takes 1")],
        "rect": [
            ([("if (tx < TK) As", "As")], "out-of-bounds", "index"),
            ([("if (tx < TK) As", "if (tx < TK && row < M && k0 + tx < K) As")], "uninitialized", "zeros"),
            ([("row < M && k0 + tx < K ? A[(size_t)row * K + k0 + tx] : 0.0f", "A[(size_t)row * K + k0 + tx]")],
             "out-of-bounds", "index"),
            ([("acc += As[ty][k] * Bs[k][tx];", "if (row < M && k0 + k < K && col < N) acc += A[(size_t)row * K + k0 + "
                                                "k] * Bs[k][tx];")],
             "over-budget", "once"),
            ([("As[ty][k] * Bs[k][tx]", "As[ty][k] * Bs[tx][k]")], "out-of-bounds", "index"),
            ([("k < TK; ++k", "k < TY && k0 + k < K - 1; ++k")], "wrong-values", "zeros"),
            ([("B[(size_t)(k0 + ty) * N + col]", "B[(size_t)(k0 + ty) * K + col]")], "out-of-bounds", "index"),
            ([("const int tx = threadIdx.x, ty", "const int ty = threadIdx.x, tx")], "skeleton-changed", "skeleton")],
        "turn": [
            ([("WIDTH = T + 2", "WIDTH = T")], "over-budget", "banks"),
            ([("WIDTH = T + 2", "WIDTH = T + 1")], "over-budget", "banks"),
            ([("WIDTH = T + 2", "WIDTH = T + 4")], "over-budget", "banks"),
            ([("As[tx][ty] = a", "As[ty][tx] = a")], "wrong-values", "stored so"),
            ([("WIDTH = T + 2", "WIDTH = T + 16")], "compile-error", "at most 4"),
            ([("As[tx][ty] = a;", "")], "uninitialized", "nobody wrote"),
            ([("As[k][ty]", "As[ty][k]")], "skeleton-changed", "As[k][ty]")]},
    "03": {
        "pipe": [("DRAM", "chose DRAM", "bandwidth"), ("L2", "chose L2", "bandwidth"),
                 ("load/store pipe", "chose load/store pipe", "cap"),
                 ("words", "unreadable", "hoose"), (3, "unreadable", "hoose"), (["arithmetic"], "unreadable", "hoose")],
        "repair": [
            ([("if (row < M && col0 + col < N)", "if (row < M)")], "out-of-bounds", "Which rows"),
            ([("if (row < M && col0 + col < N)", "if (col0 + col < N)")], "out-of-bounds", "Which rows"),
            ([("if (row < M && col0 + col < N)", "if (row < M && col < N)")], "out-of-bounds", "Which rows"),
            ([("if (row < M && col0 + col < N)", "if (row + TM < M && col0 + col < N)")], "wrong-values", "wrong"),
            ([("if (row < M && col0 + col < N)", "if (row <= M && col0 + col < N)")], "out-of-bounds", "Which rows"),
            ([("if (row < M && col0 + col < N)", "if (row < N && col0 + col < M)")], "race", "next strip")],
        "along": [
            ([("const float a = As[row][k];", ""), ("a * Bs[k][left + c]", "As[row][k] * Bs[k][left]")], "wrong-values",
             "accumulator"),
            ([("acc[c] += a * Bs[k][left + c];", "acc[c] += *(volatile float *)&As[row][k] * Bs[k][left + c];")],
             "over-budget", "9 words"),
            ([("row0 + row < M && col < N", "row0 + row < M")], "out-of-bounds", "index"),
            ([("row0 + row < M && col < N", "col < N")], "out-of-bounds", "index"),
            ([("beta == 0.0f ? alpha * acc[c] : ", "")], "wrong-values", "accumulator"),
            ([("const int col = col0 + left + c;", "const int col = col0 + left + c * TN;")], "wrong-values",
             "accumulator"),
            ([("constexpr int BM = 32", "constexpr int BM = 16")], "skeleton-changed", "skeleton")],
        "wide": [
            ([("if (N % 4 == 0)", "if (true)")], "out-of-bounds", "row lengths"),
            ([("if (N % 4 == 0)", "if (K % 4 == 0)")], "out-of-bounds", "row lengths"),
            ([("if (N % 4 == 0)", "if (N % 2 == 0)")], "out-of-bounds", "row lengths"),
            ([("if (N % 4 == 0)", "if (col0 + bc + 3 < N)")], "misaligned", "16 bytes"),
            ([("if (N % 4 == 0)", "if (N > 1000)")], "over-budget", "one float4"),
            ([("k0 + br < K && col0 + bc < N;", "k0 + br < K;")], "out-of-bounds", "beyond the edge"),
            ([("k0 + br < K && col0 + bc + i < N ? b[i]", "k0 + br < K ? b[i]")],
             "out-of-bounds", "beyond the edge"), ([("*(float4 *)&Bs[br][bc] = inside ? *(const float4 *)b : "
                                                     "make_float4(0.0f, 0.0f, 0.0f, 0.0f);",
              "if (inside) *(float4 *)&Bs[br][bc] = *(const float4 *)b;")], "uninitialized", "nobody wrote")],
        "tile": [
            ("gl.RegisterTiling1D(BM=64, BN=64, BK=8, TM=8)", "global-words", "elements of C"),
            ("gl.RegisterTiling1D(BM=128, BN=64, BK=8, TM=16)", "global-words", "elements of C"),
            ("gl.RegisterTiling1D(BM=96, BN=96, BK=8, TM=12)", "shared-words", "one of the four"),
            ("gl.RegisterTiling1D(BM=128, BN=128, BK=16, TM=16)", "shared-memory", "BK * (BM + BN)"),
            ("gl.RegisterTiling1D(BM=128, BN=128, BK=8, TM=32)", "warps", "Registers limit"),
            ("gl.SharedTiling(TILE=32)", "unreadable", "RegisterTiling1D")]},
    "04": {
        "banks": [
            ({12}, "too-few", "not all"), ({21, 22}, "too-few", "not all"), ({12, 16, 21}, "row", "into one row"),
            ({20, 21, 22}, "broadcast", "different ones"), ({12, 35}, "global", "no banks"),
            ({26}, "registers", "registers of one thread"), ({4, 5}, "declaration", "touches no word"),
            ({18}, "no-access", "no word"), ({99}, "unreadable", "1 to")],
        "change": [
            ("waiting for global memory", "chose waiting for global memory", "by a quarter"),
            ("waiting for registers", "chose waiting for registers", "by a quarter"),
            ("traffic with DRAM", "chose traffic with DRAM", "did not fall"), ("wavefronts", "unreadable", "hoose"),
            (1, "unreadable", "hoose"), (["bank conflicts"], "unreadable", "hoose")],
        "repair": [
            ([("if (r < M && c < N)", "if (r < M)")], "out-of-bounds", "Which rows"),
            ([("if (r < M && c < N)", "if (c < N)")], "out-of-bounds", "Which rows"),
            ([("if (r < M && c < N)", "if (r < M && left + j < N)")], "out-of-bounds", "Which rows"),
            ([("if (r < M && c < N)", "if (r + TM < M && c < N)")], "wrong-values", "wrong"),
            ([("if (r < M && c < N)", "if (r <= M && c < N)")], "out-of-bounds", "Which rows"),
            ([("if (r < M && c < N)", "if (r < N && c < M)")], "race", "same element"),
            ([("acc[TM][TN] = {}", "acc[TM][TN] = {0.0f}"), ("TM = 4, TN", "TM = 2 + 2, TN")], "too-many-changes",
             "takes 1")],
        "outer": [
            ([("WIDTH = BM + 4", "WIDTH = BM")], "over-budget", "in a store"),
            ([("WIDTH = BM + 4", "WIDTH = BM + 8")], "over-budget", "in a store"),
            ([("WIDTH = BM + 4", "WIDTH = BM + 1")], "over-budget", "by one load"),
            ([("WIDTH = BM + 4", "WIDTH = BM + 12")], "compile-error", "at most 8"),
            ([("As[i % BK][i / BK] = a;", "As[i / BK][i % BK] = a;")], "out-of-bounds", "index"),
            ([("As[i % BK][i / BK] = a;", "")], "uninitialized", "nobody wrote"),
            ([("x[i] = As[k][top + i]", "x[i] = As[k][top]")], "wrong-values", "accumulator"),
            ([("+= x[i] * y[j]", "+= *(volatile float *)&As[k][top + i] * y[j]")], "over-budget", "more words"),
            ([("y[j] = Bs[k][left + j]", "y[j] = *(volatile float *)&Bs[k][left + j]")], "over-budget", "by one load"),
            ([("WIDTH = BM + 4", "WIDTH = BM + 2"), ("x[i] = As[k][top + i];", FOUR_AT_ONCE)], "misaligned",
             "16 bytes"),
            ([("if (r < M && c < N)", "if (r < M)")], "out-of-bounds", "index"),
            ([("beta == 0.0f ? alpha * acc[i][j] : ", "")], "wrong-values", "accumulator"),
            ([("BM = 64, BN = 64", "BM = 32, BN = 64")], "skeleton-changed", "skeleton")],
        "tile": [
            ("gl.RegisterTiling2D(BM=64, BN=64, BK=8, TM=8, TN=4)", "global-words", "elements of C"),
            ("gl.RegisterTiling2D(BM=128, BN=64, BK=32, TM=4, TN=4)", "shared-words", "Two of the five"),
            ("gl.RegisterTiling2D(BM=128, BN=128, BK=16, TM=8, TN=4)", "shared-memory", "BK * (BM + BN)"),
            ("gl.RegisterTiling2D(BM=64, BN=128, BK=8, TM=8, TN=8)", "registers", "TM * TN sums"),
            ("gl.RegisterTiling2D(BM=128, BN=64, BK=16, TM=8, TN=8)", "warps", "TM * TN sums"),
            ("gl.RegisterTiling1D(BM=64, BN=64, BK=8, TM=8)", "unreadable", "RegisterTiling2D")]},
    "05": {
        "repair": [
            ([("copy((n + STAGES - 1) % STAGES,", "copy((n + 1) % STAGES,")], "race", "which place"),
            ([("copy((n + STAGES - 1) % STAGES,", "copy((n + STAGES) % STAGES,")], "race", "which place"),
            ([("copy((n + STAGES - 1) % STAGES,", "copy(n + STAGES - 1,")], "unsupported", "beyond an array"),
            ([("copy((n + STAGES - 1) % STAGES,", "copy((n + STAGES - 1) % (STAGES - 1),")], "race", "which place"),
            ([("1) % STAGES, n + STAGES - 1);", "1) % STAGES, n + STAGES);")],
             "wrong-values", "Which words"),
            ([("1) % STAGES, n + STAGES - 1);", "1) % STAGES, n + 1);")],
             "wrong-values", "Which words"),
            ([("__pipeline_wait_prior(STAGES - 2)", "__pipeline_wait_prior(0)"), ("float acc = 0.0f", "float acc = 0")],
             "too-many-changes", "takes 1"),
            ([("#include <cuda_pipeline_primitives.h>", "#include <cuda_pipeline.h>")], "preprocessor", "#include")],
        "deal": [
            ([("lane / 2 % 4 * 4", "lane / 8 * 4"), ("(lane % 2 + lane / 8 * 2) * 4", "lane % 8 * 4")], "over-budget",
             "more wavefronts"),
            ([("lane / 2 % 4 * 4", "lane % 4 * 4"), ("(lane % 2 + lane / 8 * 2) * 4", "lane / 4 * 4")], "over-budget",
             "more wavefronts"),
            ([("warp * 16 +", "warp * 8 +")], "race", "places of their own"),
            ([("(lane % 2 + lane / 8 * 2) * 4", "(lane % 2 + lane / 16 * 2) * 4")], "race", "places of their own"),
            ([("y[j] = Bs[k][col + j / 4 * 32 + j % 4]", "y[j] = Bs[k][col + j]")], "wrong-values", "accumulator"),
            ([("x[i] = As[k][row + i]", "x[i] = As[row + i][k]")], "out-of-bounds", "index"),
            ([("+= x[i] * y[j]", "+= *(volatile float *)&As[k][row + i] * y[j]")], "over-budget", "more words"),
            ([("if (r < M && c < N)", "if (r < M)")], "out-of-bounds", "index"),
            ([("(lane % 2 + lane / 8 * 2) * 4", "(lane % 2 + lane / 8 * 2) * 4 + 1")], "out-of-bounds", "index"),
            ([("beta == 0.0f ? alpha * acc[i][j] : ", "")], "wrong-values", "accumulator"),
            ([("As[i % BK][i / BK] =", "As[i / BM][i % BM] =")], "skeleton-changed", "skeleton")]},
}
