// entry: gemm
// grid: (-(-N // 8), -(-M // 8))
// block: (8, 16)
// about: Half of the threads copy A and half copy B, by one instruction.

__global__ void gemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float s[2][2][8][8];                 // [stage][A, B]
    const int t = threadIdx.y * 8 + threadIdx.x, half = t >> 6, e = t & 63, y = e >> 3, x = e & 7;
    const int r0 = blockIdx.y * 8, c0 = blockIdx.x * 8;
    auto issue = [&](int st, int k0) {
        const bool ok = half ? k0 + y < K && c0 + x < N : r0 + y < M && k0 + x < K;
        const float *src = half ? B + (k0 + y) * N + c0 + x : A + (r0 + y) * K + k0 + x;
        if (!ok) src = A;
        unsigned d = (unsigned)__cvta_generic_to_shared(&s[st][half][y][x]);
        const int bytes = ok ? 4 : 0;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(d), "l"(src), "r"(bytes));
        asm volatile("cp.async.commit_group;");
    };
    issue(0, 0);
    float acc = 0;
    for (int k0 = 0, p = 0; k0 < K; k0 += 8, p ^= 1) {
        if (k0 + 8 < K) { issue(p ^ 1, k0 + 8); asm volatile("cp.async.wait_group 1;" ::: "memory"); }
        else asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        if (!half) for (int i = 0; i < 8; ++i) acc += s[p][0][y][i] * s[p][1][i][x];
        __syncthreads();
    }
    if (!half && r0 + y < M && c0 + x < N)
        C[(r0 + y) * N + c0 + x] = beta == 0 ? alpha * acc : alpha * acc + beta * C[(r0 + y) * N + c0 + x];
}
