// RMSNorm of rows of bf16: a block takes a row, eight elements of a thread at a time, once for the sum of squares and
// once more, out of the cache, to scale.
#include "bf16.cuh"
#include "block.cuh"
#include "ptx.cuh"

__device__ __forceinline__ uint4 load_row(const uint4 *p) {
    uint4 d;
    asm("ld.global.nc.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
        : "l"(p));
    return d;
}

__device__ __forceinline__ uint4 load_weights(const uint4 *p) {
    uint4 d;
    asm("ld.global.nc.L1::evict_last.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
        : "l"(p));
    return d;
}

extern "C" __global__ void rms_norm(uint4 *__restrict__ out, const uint4 *__restrict__ in,
                                    const uint4 *__restrict__ weights, unsigned vectors, float epsilon) {
    __shared__ float warps[WARP];
    const unsigned start = blockIdx.x * vectors;
    float sum = 0;
    for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x) {
        const uint4 x = load_row(&in[start + i]);
        sum = add_squares(add_squares(add_squares(add_squares(sum, x.x), x.y), x.z), x.w);
    }
    sum = over_block(sum, warps, 0.0f, [](float a, float b) { return a + b; });
    const float scale = rsqrtf(sum / (vectors * 8) + epsilon);
    for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x) {
        const uint4 x = load_row(&in[start + i]), w = load_weights(&weights[i]);
        __stcs(&out[start + i], make_uint4(scaled(x.x, w.x, scale), scaled(x.y, w.y, scale), scaled(x.z, w.z, scale),
                                   scaled(x.w, w.w, scale)));
    }
}
