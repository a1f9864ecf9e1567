// The threads of a block as one: values reduced over all of them.
#pragma once

constexpr int WARP = 32;

// The thread's number in its warp.
__device__ __forceinline__ unsigned lane_id() {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

template <typename Reduce>
__device__ __forceinline__ float over_warp(float value, Reduce reduce) {
#pragma unroll
    for (int mask = WARP / 2; mask > 0; mask /= 2) value = reduce(value, __shfl_xor_sync(~0u, value, mask));
    return value;
}

template <typename Reduce>
__device__ __forceinline__ float over_block(float value, float *warps, float none, Reduce reduce) {
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    value = over_warp(value, reduce);
    __syncthreads();
    if (lane == 0) warps[warp] = value;
    __syncthreads();
    value = lane < blockDim.x / WARP ? warps[lane] : none;
    return over_warp(value, reduce);
}
