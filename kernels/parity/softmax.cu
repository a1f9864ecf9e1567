// Softmax of rows that fit into shared memory: a block reads a row once, keeps it there, and writes it once.
#include "block.cuh"
#include "ptx.cuh"

constexpr int LONGEST = 1024;

__device__ __forceinline__ float exp2_approx(float x) {
    float d;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}

__device__ __forceinline__ float reciprocal(float x) {
    float d;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}

extern "C" __global__ void softmax(float4 *__restrict__ out, const float4 *__restrict__ in, unsigned vectors) {
    __shared__ float4 row[LONGEST];
    __shared__ float warps[WARP];
    const unsigned start = blockIdx.x * vectors;
    float highest = -INFINITY;
    for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x) {
        const float4 value = load_stream(&in[start + i]);
        row[i] = value;
        highest = fmaxf(highest, fmaxf(fmaxf(value.x, value.y), fmaxf(value.z, value.w)));
    }
    highest = over_block(highest, warps, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
    constexpr float LOG2_E = 1.44269504f;
    float sum = 0;
    for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x) {
        float4 value = row[i];
        value.x = exp2_approx((value.x - highest) * LOG2_E);
        value.y = exp2_approx((value.y - highest) * LOG2_E);
        value.z = exp2_approx((value.z - highest) * LOG2_E);
        value.w = exp2_approx((value.w - highest) * LOG2_E);
        row[i] = value;
        sum += (value.x + value.y) + (value.z + value.w);
    }
    sum = over_block(sum, warps, 0.0f, [](float a, float b) { return a + b; });
    const float scale = reciprocal(sum);
    for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x) {
        const float4 value = row[i];
        __stcs(&out[start + i], make_float4(value.x * scale, value.y * scale, value.z * scale, value.w * scale));
    }
}
