__global__ void teams(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // TEAMS teams of T x T threads, along z, compute the same T x T elements of C, one for each thread of a team. Of
    // the DEPTH values of k in a step a team multiplies SHARE neighbours. In the end team 0 has the sums and stores them.
    constexpr int T = 16, DEPTH = 32, TEAMS = 4, SHARE = DEPTH / TEAMS, THREADS = TEAMS * T * T;
    __shared__ float As[T][DEPTH], Bs[DEPTH][T];
    const int tx = threadIdx.x, ty = threadIdx.y, team = threadIdx.z, thread = (team * T + ty) * T + tx;
    const int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int i = thread; i < T * DEPTH; i += THREADS) {
            const int r = row0 + i / DEPTH, ka = k0 + i % DEPTH, kb = k0 + i / T, c = col0 + i % T;
            As[i / DEPTH][i % DEPTH] = r < M && ka < K ? A[(size_t)r * K + ka] : 0.0f;
            Bs[i / T][i % T] = kb < K && c < N ? B[(size_t)kb * N + c] : 0.0f;
        }
        __syncthreads();
        // ### BEGIN SOLUTION #error "1 of 3, 2 lines: this team's products of the step"
        for (int k = team * SHARE; k < (team + 1) * SHARE; ++k)
            acc += As[ty][k] * Bs[k][tx];
        // ### END SOLUTION
        __syncthreads();
    }
    float *hands = &As[0][0];  // T * DEPTH words, which nobody needs any more
    // ### BEGIN SOLUTION #error "2 of 3, about 6 lines: team after team hands its sums over to team 0, through hands"
    for (int giver = 1; giver < TEAMS; ++giver) {
        if (team == giver) hands[ty * T + tx] = acc;
        __syncthreads();
        if (team == 0) acc += hands[ty * T + tx];
        __syncthreads();
    }
    // ### END SOLUTION
    // ### BEGIN SOLUTION #error "3 of 3, about 5 lines: team 0 stores C, nothing beyond an edge; beta = 0 reads no C"
    if (team == 0 && row0 + ty < M && col0 + tx < N) {
        float *c = C + (size_t)(row0 + ty) * N + col0 + tx;
        *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
    }
    // ### END SOLUTION
}
