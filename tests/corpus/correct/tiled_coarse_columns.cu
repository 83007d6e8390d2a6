// entry: coarse
// grid: (-(-N // 64), -(-M // 16))
// block: (16, 16)
// about: A thread computes four columns, one tile of B after the other.

#define TILE_WIDTH 16
#define COARSE_FACTOR 4
__global__ void coarse(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C) {
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    int bx = blockIdx.x; int by = blockIdx.y;
    int tx = threadIdx.x; int ty = threadIdx.y;
    int row = by*TILE_WIDTH + ty;
    int colStart = bx*TILE_WIDTH*COARSE_FACTOR + tx;
    float Pvalue[COARSE_FACTOR];
    for(int c = 0; c < COARSE_FACTOR; ++c) {
        Pvalue[c] = 0.0f;
    }
    for(int ph = 0; ph < (K + TILE_WIDTH - 1)/TILE_WIDTH; ++ph) {
        if ((row < M) && (ph*TILE_WIDTH + tx) < K)
            Mds[ty][tx] = A[row*K + ph*TILE_WIDTH + tx];
        else
            Mds[ty][tx] = 0.0f;
        for(int c = 0; c < COARSE_FACTOR; ++c) {
            int col = colStart + c*TILE_WIDTH;
            if ((ph*TILE_WIDTH + ty) < K && col < N)
                Nds[ty][tx] = B[(ph*TILE_WIDTH + ty)*N + col];
            else
                Nds[ty][tx] = 0.0f;
            __syncthreads();
            for(int k = 0; k < TILE_WIDTH; ++k) {
                Pvalue[c] += Mds[ty][k]*Nds[k][tx];
            }
            __syncthreads();
        }
    }
    for(int c = 0; c < COARSE_FACTOR; ++c) {
        int col = colStart + c*TILE_WIDTH;
        if (row < M && col < N) {
            if (beta != 0.0f)
                C[row*N + col] = alpha*Pvalue[c] + beta*C[row*N + col];
            else
                C[row*N + col] = alpha*Pvalue[c];
        }
    }
}
