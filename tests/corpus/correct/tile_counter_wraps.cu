// entry: persistent
// grid: 3
// block: 64
// about: Blocks fetch tiles from a counter that is back at 0 when all are done.

__device__ unsigned next_tile;
struct Coord { int m, n; };
static __device__ Coord decode(unsigned t, int tilesN) { Coord c; c.m = (t / tilesN) * 8; c.n = (t % tilesN) * 8; return c; }
__global__ void persistent(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ unsigned tile;
    __shared__ float sA[8][9], sB[8][9];
    const unsigned tilesN = (N + 7) / 8, tiles = tilesN * ((M + 7) / 8);
    const int x = threadIdx.x % 8, y = threadIdx.x / 8;
    while (true) {
        if (threadIdx.x == 0) tile = atomicInc(&next_tile, tiles + gridDim.x - 1);  // back at 0 when all blocks are done
        __syncthreads();
        const unsigned t = tile;
        __syncthreads();
        if (t >= tiles) break;
        const Coord o = decode(t, tilesN);
        float acc = 0.0f;
        for (int k = 0; k < K; k += 8) {
            sA[y][x] = o.m + y < M && k + x < K ? A[(o.m + y) * K + k + x] : 0.0f;
            sB[y][x] = k + y < K && o.n + x < N ? B[(k + y) * N + o.n + x] : 0.0f;
            __syncthreads();
            for (int i = 0; i < 8; ++i) acc += sA[y][i] * sB[i][x];
            __syncthreads();
        }
        if (o.m + y < M && o.n + x < N) {
            float *c = &C[(o.m + y) * N + o.n + x];
            *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
        }
    }
}
