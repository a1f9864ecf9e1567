// A vector times a matrix of 8-bit weights, in blocks of 32 with a scale each, as `Q8_0` has them; the vector is quantised
// likewise. A warp sums up a row.
#include "block.cuh"
#include "half.cuh"
#include "ptx.cuh"

constexpr unsigned WORDS = 8;
constexpr int UNROLL = 8;

extern "C" __global__ void q8_gemv_first(float *__restrict__ out, const unsigned *__restrict__ weights,
                                         const unsigned short *__restrict__ scales, const unsigned *__restrict__ vector,
                                         const float *__restrict__ vector_scales, unsigned blocks) {
    const unsigned row = thread_index() / WARP;
    float sum = 0;
    for (unsigned block = lane_id(); block < blocks; block += WARP) {
        int dot = 0;
        for (unsigned word = 0; word < WORDS; ++word)
            dot = __dp4a(int(weights[(row * blocks + block) * WORDS + word]), int(vector[block * WORDS + word]), dot);
        sum += dot * to_float(scales[row * blocks + block]) * vector_scales[block];
    }
    sum = over_warp(sum, [](float a, float b) { return a + b; });
    if (lane_id() == 0) out[row] = sum;
}

__device__ __forceinline__ int dot(uint4 a, uint4 b) {
    return __dp4a(int(a.w), int(b.w), __dp4a(int(a.z), int(b.z), __dp4a(int(a.y), int(b.y), __dp4a(int(a.x), int(b.x), 0))));
}

extern "C" __global__ void __launch_bounds__(128, 4)
    q8_gemv(float *__restrict__ out, const uint4 *__restrict__ weights, const unsigned short *__restrict__ scales,
            const uint4 *__restrict__ vector, const float *__restrict__ vector_scales, unsigned blocks) {
    constexpr unsigned STEP = WARP * UNROLL;
    const unsigned row = thread_index() / WARP, quads = 2 * blocks;
    weights += row * quads;
    scales += row * blocks;
    float sum = 0;
    unsigned at = lane_id();
    for (; at + (STEP - WARP) < quads; at += STEP) {
        const uint4 *w = weights + at, *v = vector + at;
        const unsigned short *s = scales + at / 2;
        const float *vector_s = vector_scales + at / 2;
        uint4 ws[UNROLL], vs[UNROLL];
        float both[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) ws[k] = load_stream(w + k * WARP);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) vs[k] = load_last(v + k * WARP);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k)
            both[k] = to_float(load_past(s + k * WARP / 2)) * load_last(vector_s + k * WARP / 2);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) sum = fmaf(float(dot(ws[k], vs[k])), both[k], sum);
    }
    for (; at < quads; at += WARP) {
        const int d = dot(load_stream(&weights[at]), load_last(&vector[at]));
        sum = fmaf(float(d), to_float(load_past(&scales[at / 2])) * load_last(&vector_scales[at / 2]), sum);
    }
    sum = over_warp(sum, [](float a, float b) { return a + b; });
    if (lane_id() == 0) __stcs(&out[row], sum);
}
