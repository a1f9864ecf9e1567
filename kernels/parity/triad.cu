// a = b + s * c, product and sum each rounded.
#include "ptx.cuh"

constexpr int UNROLL = 2;

__device__ __forceinline__ float4 multiply_add(float4 b, float s, float4 c) {
    return make_float4(__fadd_rn(b.x, __fmul_rn(s, c.x)), __fadd_rn(b.y, __fmul_rn(s, c.y)),
                       __fadd_rn(b.z, __fmul_rn(s, c.z)), __fadd_rn(b.w, __fmul_rn(s, c.w)));
}

extern "C" __global__ void triad(float4 *__restrict__ a, const float4 *__restrict__ b, const float4 *__restrict__ c,
                                 float s, size_t all) {
    const unsigned n = all, step = thread_count();
    unsigned i = thread_index();
    for (; i + (UNROLL - 1) * step < n; i += UNROLL * step) {
        float4 bs[UNROLL], cs[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) bs[k] = load_stream(&b[i + k * step]);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) cs[k] = load_stream(&c[i + k * step]);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) __stcs(&a[i + k * step], multiply_add(bs[k], s, cs[k]));
    }
    for (; i < n; i += step) __stcs(&a[i], multiply_add(load_stream(&b[i]), s, load_stream(&c[i])));
}
