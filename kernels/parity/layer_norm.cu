// Layer normalisation of rows: a block takes a row.
#include "block.cuh"
#include "ptx.cuh"

constexpr int THREADS = 256, EACH = 4;

__device__ __forceinline__ float rsqrt_approx(float x) {
    float d;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}

extern "C" __global__ void layer_norm_first(float *__restrict__ out, const float *__restrict__ in,
                                            const float *__restrict__ gamma, const float *__restrict__ beta, unsigned n,
                                            float epsilon) {
    __shared__ float sums[WARP], squares[WARP];
    const auto add = [](float a, float b) { return a + b; };
    const unsigned row = blockIdx.x * n;
    float sum = 0;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) sum += in[row + i];
    const float mean = over_block(sum, sums, 0.0f, add) / n;
    sum = 0;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        const float off = in[row + i] - mean;
        sum += off * off;
    }
    const float variance = over_block(sum, squares, 0.0f, add) / n;
    const float scale = rsqrt_approx(variance + epsilon);
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        out[row + i] = (in[row + i] - mean) * scale * gamma[i] + beta[i];
}

LOAD_IF_OF_FOUR(load_row, "ld.global.nc.L1::no_allocate.L2::256B.v4.f32", float4, "f")

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    layer_norm(float4 *__restrict__ out, const float4 *__restrict__ in, const float4 *__restrict__ gamma,
               const float4 *__restrict__ beta, unsigned vectors, float epsilon) {
    __shared__ float sums[WARP], squares[WARP];
    const auto add = [](float a, float b) { return a + b; };
    const unsigned row = blockIdx.x * vectors;
    const float elements = 4 * vectors;
    float4 values[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const unsigned at = threadIdx.x + k * blockDim.x;
        values[k] = load_row(at < vectors, &in[row + at], make_float4(0, 0, 0, 0));
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; ++k) sum += (values[k].x + values[k].y) + (values[k].z + values[k].w);
    const float mean = over_block(sum, sums, 0.0f, add) / elements;
    sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; ++k)
        if (threadIdx.x + k * blockDim.x < vectors) {
            const float4 v = make_float4(values[k].x - mean, values[k].y - mean, values[k].z - mean, values[k].w - mean);
            sum = fmaf(v.x, v.x, fmaf(v.y, v.y, fmaf(v.z, v.z, fmaf(v.w, v.w, sum))));
        }
    const float variance = over_block(sum, squares, 0.0f, add) / elements;
    const float scale = rsqrt_approx(variance + epsilon);
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const unsigned at = threadIdx.x + k * blockDim.x;
        if (at < vectors) {
            const float4 g = load_last(&gamma[at]), b = load_last(&beta[at]), v = values[k];
            __stcs(&out[row + at],
                   make_float4(fmaf((v.x - mean) * scale, g.x, b.x), fmaf((v.y - mean) * scale, g.y, b.y),
                               fmaf((v.z - mean) * scale, g.z, b.z), fmaf((v.w - mean) * scale, g.w, b.w)));
        }
    }
}
