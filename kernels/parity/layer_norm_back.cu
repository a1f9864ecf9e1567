// The way back through layer normalisation: a warp takes a row. What the columns gather over all rows is added up in shared memory
// first, as in the second kernel of llm.c.
#include "block.cuh"
#include "ptx.cuh"

constexpr int COLUMNS = 1024;

extern "C" __global__ void __launch_bounds__(512, 2)
    layer_norm_back(float *__restrict__ d_input, float *__restrict__ d_gamma, float *__restrict__ d_beta,
                    const float *__restrict__ d_out, const float *__restrict__ in, const float *__restrict__ gamma,
                    const float *__restrict__ means, const float *__restrict__ scales, unsigned rows, unsigned n) {
    __shared__ float of_gamma[COLUMNS], of_beta[COLUMNS];
    const auto add = [](float a, float b) { return a + b; };
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) of_gamma[i] = of_beta[i] = 0;
    __syncthreads();
    for (unsigned row = thread_index() / WARP; row < rows; row += thread_count() / WARP) {
        const float mean = means[row], scale = scales[row];
        const unsigned start = row * n;
        float *const d_in = d_input + start;
        const float *const d_o = d_out + start, *const x = in + start;
        float sum = 0, along = 0;
#pragma unroll 4
        for (unsigned i = lane_id(); i < n; i += WARP) {
            const float normal = (x[i] - mean) * scale, d_normal = gamma[i] * d_o[i];
            sum += d_normal;
            along = fmaf(d_normal, normal, along);
        }
        sum = over_warp(sum, add) / n;
        along = over_warp(along, add) / n;
#pragma unroll 4
        for (unsigned i = lane_id(); i < n; i += WARP) {
            const float d = d_o[i], normal = (x[i] - mean) * scale, d_normal = gamma[i] * d;
            atomicAdd(&of_beta[i], d);
            atomicAdd(&of_gamma[i], normal * d);
            d_in[i] += (d_normal - sum - normal * along) * scale;
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&d_beta[i], of_beta[i]);
        atomicAdd(&d_gamma[i], of_gamma[i]);
    }
}
