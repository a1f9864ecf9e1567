// RMSNorm of a sum, in bf16: what a layer made is added to the residual, and the sum is normalised for the next layer. A block takes
// a row, which is read once and stays in registers.
#include "bf16.cuh"
#include "block.cuh"
#include "ptx.cuh"

constexpr int THREADS = 256, EACH = 4;

LOAD_IF_OF_FOUR(load_row, "ld.global.nc.L1::no_allocate.L2::256B.v4.u32", uint4, "r")
LOAD_IF_OF_FOUR(load_residual, "ld.global.L1::no_allocate.L2::256B.v4.u32", uint4, "r")

__device__ __forceinline__ unsigned added(unsigned a, unsigned b) {
    const float2 x = unpack(a), y = unpack(b);
    return pack(x.x + y.x, x.y + y.y);
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    add_rms_norm(uint4 *__restrict__ out, uint4 *__restrict__ residual, const uint4 *__restrict__ in,
                 const uint4 *__restrict__ weights, unsigned vectors, float epsilon) {
    __shared__ float warps[WARP];
    const unsigned row = blockIdx.x * vectors;
    const uint4 none = make_uint4(0, 0, 0, 0);
    residual += row;
    uint4 made[EACH], held[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const unsigned at = threadIdx.x + k * blockDim.x;
        made[k] = load_row(at < vectors, &in[row + at], none);
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const unsigned at = threadIdx.x + k * blockDim.x;
        held[k] = load_residual(at < vectors, &residual[at], none);
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const unsigned at = threadIdx.x + k * blockDim.x;
        // What is normalised is what the next layer reads, which is rounded.
        const uint4 h = held[k], m = made[k];
        held[k] = make_uint4(added(h.x, m.x), added(h.y, m.y), added(h.z, m.z), added(h.w, m.w));
        sum = add_squares(add_squares(add_squares(add_squares(sum, held[k].x), held[k].y), held[k].z), held[k].w);
        if (at < vectors) residual[at] = held[k];
    }
    sum = over_block(sum, warps, 0.0f, [](float a, float b) { return a + b; });
    const float scale = rsqrtf(sum / (8 * vectors) + epsilon);
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const unsigned at = threadIdx.x + k * blockDim.x;
        if (at < vectors) {
            const uint4 w = load_last(&weights[at]), h = held[k];
            __stcs(&out[row + at], make_uint4(scaled(h.x, w.x, scale), scaled(h.y, w.y, scale), scaled(h.z, w.z, scale),
                                              scaled(h.w, w.w, scale)));
        }
    }
}
