// Attention of one query to all keys, as a model decodes: keys and values of 128 bf16 are read once, the softmax is made online in
// float. A warp has a key at a time, and a lane four of its numbers.
#include "block.cuh"

constexpr int NUMBERS = 128, WARPS = 4;

__device__ __forceinline__ uint2 load_row(const uint2 *p) {
    uint2 d;
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v2.u32 {%0, %1}, [%2];" : "=r"(d.x), "=r"(d.y) : "l"(p));
    return d;
}

__device__ __forceinline__ float4 four(uint2 bits) {
    return make_float4(__uint_as_float(bits.x << 16), __uint_as_float(bits.x & 0xffff0000), __uint_as_float(bits.y << 16),
                       __uint_as_float(bits.y & 0xffff0000));
}

__device__ __forceinline__ float power(float x) {
    float d;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}

__device__ __forceinline__ float reciprocal(float x) {
    float d;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x));
    return d;
}

extern "C" __global__ void __launch_bounds__(WARPS *WARP, 8)
    attention(float *__restrict__ out, const float4 *__restrict__ queries, const uint2 *__restrict__ keys,
              const uint2 *__restrict__ values, unsigned n, float scale) {
    __shared__ float warps[WARP];
    __shared__ float4 parts[WARPS * WARP];
    const unsigned head = blockIdx.x, me = threadIdx.x, warp = me / WARP, lane = me % WARP;
    float4 query = __ldg(&queries[head * WARP + lane]);
    query = make_float4(query.x * scale, query.y * scale, query.z * scale, query.w * scale);
    float highest = -INFINITY, sum = 0;
    float4 held = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (unsigned at_key = warp; at_key < n; at_key += WARPS) {
        const unsigned at = (head * n + at_key) * WARP + lane;
        const uint2 key_bits = load_row(&keys[at]), value_bits = load_row(&values[at]);
        const float4 key = four(key_bits);
        float score = fmaf(query.w, key.w, fmaf(query.z, key.z, fmaf(query.y, key.y, query.x * key.x)));
        score = over_warp(score, [](float a, float b) { return a + b; });
        const float next = fmaxf(highest, score), before = power(highest - next), now = power(score - next);
        const float4 value = four(value_bits);
        sum = fmaf(sum, before, now);
        held = make_float4(fmaf(held.x, before, now * value.x), fmaf(held.y, before, now * value.y),
                           fmaf(held.z, before, now * value.z), fmaf(held.w, before, now * value.w));
        highest = next;
    }
    const float all = over_block(highest, warps, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
    const float before = power(highest - all);
    sum = over_block(lane == 0 ? sum * before : 0.0f, warps, 0.0f, [](float a, float b) { return a + b; });
    parts[me] = make_float4(held.x * before, held.y * before, held.z * before, held.w * before);
    __syncthreads();
    const float *part = reinterpret_cast<const float *>(parts) + me;
    const float value = (part[0] + part[NUMBERS]) + (part[2 * NUMBERS] + part[3 * NUMBERS]);
    __stcs(&out[head * NUMBERS + me], value * reciprocal(sum));
}
