// A sum: 128-bit loads, four of each thread in flight, then shuffles, then shared memory.
#include "block.cuh"
#include "ptx.cuh"

constexpr int UNROLL = 4;

__device__ __forceinline__ float4 add(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

extern "C" __global__ void reduce(float *__restrict__ out, const float4 *__restrict__ in, unsigned n) {
    __shared__ float warps[WARP];
    const unsigned step = thread_count();
    unsigned i = thread_index();
    float4 sums = make_float4(0, 0, 0, 0);
    for (; i + (UNROLL - 1) * step < n; i += UNROLL * step) {
        float4 values[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) values[k] = __ldg(&in[i + k * step]);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) sums = add(sums, values[k]);
    }
    for (; i < n; i += step) sums = add(sums, __ldg(in + i));
    float sum = (sums.x + sums.y) + (sums.z + sums.w);
    sum = over_block(sum, warps, 0.0f, [](float a, float b) { return a + b; });
    if (threadIdx.x == 0) __stcs(out + blockIdx.x, sum);
}
