// A transpose through shared memory: a block of 32 by 8 threads turns a tile of 32 by 32, whose rows are one element
// longer so that a column lies in 32 banks.
constexpr int TILE = 32, ROWS = 8;

extern "C" __global__ void transpose(float *__restrict__ out, const float *__restrict__ in, unsigned width,
                                     unsigned height) {
    __shared__ float tile[TILE][TILE + 1];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned from = (blockIdx.y * TILE + y) * width + blockIdx.x * TILE + x;
    const unsigned to = (blockIdx.x * TILE + y) * height + blockIdx.y * TILE + x;
#pragma unroll
    for (int k = 0; k < TILE / ROWS; ++k) tile[y + k * ROWS][x] = __ldg(&in[from + k * ROWS * width]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE / ROWS; ++k) __stcs(&out[to + k * ROWS * height], tile[x][y + k * ROWS]);
}
