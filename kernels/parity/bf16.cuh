// Pairs of bf16 in a word, the first in the lower half.
#pragma once

__device__ __forceinline__ float2 unpack(unsigned pair) {
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));
}

__device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

__device__ __forceinline__ float add_squares(float sum, unsigned pair) {
    const float2 x = unpack(pair);
    return fmaf(x.y, x.y, fmaf(x.x, x.x, sum));
}

__device__ __forceinline__ unsigned scaled(unsigned pair, unsigned weights, float scale) {
    const float2 x = unpack(pair), w = unpack(weights);
    return pack(x.x * scale * w.x, x.y * scale * w.y);
}
