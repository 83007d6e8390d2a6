// entry: switched
// grid: (-(-N // 16), -(-M // 16))
// block: (16, 16)
// about: A state machine, the same in all threads, with barriers in its states.

__global__ void switched(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    // a little state machine, the same in all threads of the block
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, k0 = 0;
    enum { LOAD, COMPUTE, STORE, DONE } state = LOAD;
    float acc = 0;
    while (state != DONE) switch (state) {
        case LOAD:
            As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0;
            Bs[ty][tx] = col < N && k0 + ty < K ? B[(k0 + ty) * N + col] : 0;
            __syncthreads();
            state = COMPUTE;
            break;
        case COMPUTE:
            for (int k = 0; k < 16; ++k) acc += As[ty][k] * Bs[k][tx];
            __syncthreads();
            state = (k0 += 16) < K ? LOAD : STORE;
            break;
        case STORE:
            if (row < M && col < N) C[row * N + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * N + col]);
        default: state = DONE;
    }
}
