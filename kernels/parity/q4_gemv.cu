// A vector times a matrix of 4-bit weights, in blocks of 32 with a scale each, as `Q4_0` has them: a byte holds weights
// `i` and `i + 16`, each with 8 added. The vector is quantised to 8 bits. A warp sums up a row.
#include "block.cuh"
#include "half.cuh"
#include "ptx.cuh"

constexpr unsigned WORDS = 4;
constexpr int UNROLL = 2;
constexpr unsigned LOW = 0x0f0f0f0f;

extern "C" __global__ void q4_gemv_first(float *__restrict__ out, const unsigned *__restrict__ weights,
                                         const unsigned short *__restrict__ scales, const unsigned *__restrict__ vector,
                                         const float2 *__restrict__ vector_scales, unsigned blocks) {
    const unsigned row = thread_index() / WARP;
    float sum = 0;
    for (unsigned block = lane_id(); block < blocks; block += WARP) {
        int dot = 0;
        for (unsigned word = 0; word < WORDS; ++word) {
            const unsigned ws = weights[(row * blocks + block) * WORDS + word];
            dot = __dp4a(int(ws & LOW), int(vector[block * 2 * WORDS + word]), dot);
            dot = __dp4a(int(ws >> 4 & LOW), int(vector[block * 2 * WORDS + WORDS + word]), dot);
        }
        const float2 of_vector = vector_scales[block];
        sum += to_float(scales[row * blocks + block]) * (dot * of_vector.x - 8.0f * of_vector.y);
    }
    sum = over_warp(sum, [](float a, float b) { return a + b; });
    if (lane_id() == 0) out[row] = sum;
}

__device__ __forceinline__ int dot(int sum, unsigned weights, unsigned low, unsigned high) {
    return __dp4a(int(weights >> 4 & LOW), int(high), __dp4a(int(weights & LOW), int(low), sum));
}

__device__ __forceinline__ float add(float sum, uint4 weights, unsigned short scale, uint4 low, uint4 high,
                                     float2 of_vector) {
    int d = dot(0, weights.x, low.x, high.x);
    d = dot(d, weights.y, low.y, high.y);
    d = dot(d, weights.z, low.z, high.z);
    d = dot(d, weights.w, low.w, high.w);
    return fmaf(to_float(scale), fmaf(float(d), of_vector.x, -8.0f * of_vector.y), sum);
}

extern "C" __global__ void __launch_bounds__(128, 4)
    q4_gemv(float *__restrict__ out, const uint4 *__restrict__ weights, const unsigned short *__restrict__ scales,
            const uint4 *__restrict__ vector, const float2 *__restrict__ vector_scales, unsigned blocks) {
    constexpr unsigned STEP = WARP * UNROLL;
    const unsigned row = thread_index() / WARP;
    weights += row * blocks;
    scales += row * blocks;
    float sum = 0;
    unsigned at = lane_id();
    for (; at + (STEP - WARP) < blocks; at += STEP) {
        const uint4 *w = weights + at, *v = vector + 2 * at;
        const unsigned short *s = scales + at;
        const float2 *vector_s = vector_scales + at;
        uint4 ws[UNROLL], vs[2 * UNROLL];
        unsigned short scale[UNROLL];
        float2 of_vector[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) ws[k] = load_stream(w + k * WARP);
#pragma unroll
        for (int k = 0; k < 2 * UNROLL; ++k) vs[k] = load_last(v + k / 2 * 2 * WARP + k % 2);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) scale[k] = load_past(s + k * WARP);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) of_vector[k] = load_last(vector_s + k * WARP);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) sum = add(sum, ws[k], scale[k], vs[2 * k], vs[2 * k + 1], of_vector[k]);
    }
    for (; at < blocks; at += WARP)
        sum = add(sum, load_stream(&weights[at]), load_past(&scales[at]), load_last(&vector[2 * at]),
                  load_last(&vector[2 * at + 1]), load_last(&vector_scales[at]));
    sum = over_warp(sum, [](float a, float b) { return a + b; });
    if (lane_id() == 0) __stcs(&out[row], sum);
}
