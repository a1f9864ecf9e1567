// A transpose through shared memory: a block of 32 by 8 threads turns a tile of 32 by 32, whose rows are one element
// longer so that a column lies in 32 banks.
constexpr int TILE = 32, ROWS = 8;

extern "C" __global__ void transpose(float *__restrict__ out, const float *__restrict__ in, unsigned width,
                                     unsigned height) {
    __shared__ float tile[TILE][TILE + 1];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const float *from = in + (blockIdx.y * TILE + y) * size_t(width) + blockIdx.x * TILE + x;
    float *to = out + (blockIdx.x * TILE + y) * size_t(height) + blockIdx.y * TILE + x;
#pragma unroll
    for (int k = 0; k < TILE / ROWS; ++k) tile[y + k * ROWS][x] = __ldg(from + k * ROWS * size_t(width));
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE / ROWS; ++k) __stcs(to + k * ROWS * size_t(height), tile[x][y + k * ROWS]);
}
