__global__ void teams(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // A block has R * S threads for each of its TEAMS: y counts the rows of team 0 first, then those of team 1, and on.
    // All teams compute the same R x S elements of C. In a step of DEPTH values of k they take turns: team 0 multiplies
    // k = 0, TEAMS, 2 * TEAMS, ..., team 1 k = 1, TEAMS + 1, ... In the end the last team has the sums and stores them.
    constexpr int R = 8, S = 16, DEPTH = 24, TEAMS = 3, THREADS = TEAMS * R * S;
    __shared__ float a_tile[R][DEPTH], b_tile[DEPTH][S];
    const int x = threadIdx.x, y = threadIdx.y % R, mine = threadIdx.y / R, thread = threadIdx.y * S + x;
    const int top = blockIdx.y * R, left = blockIdx.x * S;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int i = thread; i < R * DEPTH; i += THREADS) {
            const int r = top + i / DEPTH, k = k0 + i % DEPTH;
            a_tile[i / DEPTH][i % DEPTH] = r < M && k < K ? A[(size_t)r * K + k] : 0.0f;
        }
        for (int i = thread; i < DEPTH * S; i += THREADS) {
            const int k = k0 + i / S, c = left + i % S;
            b_tile[i / S][i % S] = k < K && c < N ? B[(size_t)k * N + c] : 0.0f;
        }
        __syncthreads();
        // ### BEGIN SOLUTION #error "1 of 3, 2 lines: this team's products of the step"
        for (int k = mine; k < DEPTH; k += TEAMS)
            acc += a_tile[y][k] * b_tile[k][x];
        // ### END SOLUTION
        __syncthreads();
    }
    float *hands = &a_tile[0][0];  // R * DEPTH words, which nobody needs any more
    // ### BEGIN SOLUTION #error "2 of 3, about 6 lines: team after team hands its sums over to the last, through hands"
    for (int giver = 0; giver < TEAMS - 1; ++giver) {
        if (mine == giver) hands[y * S + x] = acc;
        __syncthreads();
        if (mine == TEAMS - 1) acc += hands[y * S + x];
        __syncthreads();
    }
    // ### END SOLUTION
    // ### BEGIN SOLUTION #error "3 of 3, about 5 lines: the last team stores C, within its edges; beta = 0 reads no C"
    if (mine == TEAMS - 1 && top + y < M && left + x < N) {
        float *c = C + (size_t)(top + y) * N + left + x;
        *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
    }
    // ### END SOLUTION
}
