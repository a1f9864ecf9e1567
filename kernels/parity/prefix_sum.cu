// A prefix sum of rows: a block walks along a row, tile after tile, by shuffles in a warp and shared memory between.
#include "block.cuh"
#include "ptx.cuh"

__device__ __forceinline__ unsigned over_warp(unsigned sum) {
#pragma unroll
    for (unsigned distance = 1; distance < WARP; distance *= 2) {
        asm volatile(
            "{\n.reg .pred %%inside;\n.reg .b32 %%other;\n"
            "shfl.sync.up.b32 %%other|%%inside, %0, %1, 0, -1;\n"
            "@%%inside add.u32 %0, %0, %%other;\n}"
            : "+r"(sum)
            : "r"(distance));
    }
    return sum;
}

extern "C" __global__ void prefix_sum(uint4 *__restrict__ out, const uint4 *__restrict__ in, unsigned vectors) {
    __shared__ unsigned sums[WARP];
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const unsigned start = blockIdx.x * vectors;
    unsigned before = 0;
    for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x) {
        uint4 value = load_stream(&in[start + i]);
        value.y += value.x;
        value.z += value.y;
        value.w += value.z;
        const unsigned to_here = over_warp(value.w);
        if (lane == WARP - 1) sums[warp] = to_here;
        __syncthreads();
        const unsigned warps = over_warp(sums[lane]);
        const unsigned of_warps = __shfl_sync(~0u, warps, warp - 1);
        const unsigned ahead = (warp == 0 ? 0 : of_warps) + before + (to_here - value.w);
        __stcs(&out[start + i], make_uint4(value.x + ahead, value.y + ahead, value.z + ahead, value.w + ahead));
        before += __shfl_sync(~0u, warps, WARP - 1);
        __syncthreads();
    }
}
