// Attention of all queries to all keys, as a model reads a prompt, in bf16: cp.async brings tiles of keys and values into a ring of
// two, a warp has 16 queries, and the softmax is made online in float.
#include "bf16.cuh"
#include "matrix.cuh"

constexpr unsigned NUMBERS = 64, ROWS = 64, WARP = 32, THREADS = ROWS / 16 * WARP;
constexpr unsigned CHUNKS = ROWS * NUMBERS / 8, TILE = ROWS * NUMBERS * 2, SIXTEEN = 16 * NUMBERS * 2;

// Past L1; __pipeline_memcpy_async takes the same way for 16 bytes.
__device__ __forceinline__ void copy_async(unsigned to, const uint4 *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__device__ __forceinline__ void wait_all() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

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

// A thread reads its first chunk at `from`.
__device__ __forceinline__ void bring(unsigned tile, const uint4 *from) {
    const unsigned to = tile + swizzle_128(16 * threadIdx.x);
#pragma unroll
    for (unsigned part = 0; part < CHUNKS / THREADS; ++part) copy_async(to + 16 * THREADS * part, &from[THREADS * part]);
}

extern "C" __global__ void __launch_bounds__(THREADS, 3)
    flash_attention(unsigned *__restrict__ out, const uint4 *__restrict__ queries, const uint4 *__restrict__ keys,
                    const uint4 *__restrict__ values, unsigned tiles, float scale) {
    __shared__ __align__(128) unsigned char query_tile[TILE], key_tiles[2 * TILE], value_tiles[2 * TILE];
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, block = blockIdx.y * gridDim.x + blockIdx.x;
    const unsigned query_at = __cvta_generic_to_shared(query_tile), keys_at = __cvta_generic_to_shared(key_tiles),
                   values_at = __cvta_generic_to_shared(value_tiles);
    const unsigned a_row = swizzle_128(2 * NUMBERS * (lane % 16) + 16 * (lane / 16));
    const unsigned b_row = swizzle_128(2 * NUMBERS * (lane / 16 * 8 + lane % 8) + 16 * (lane / 8 % 2));
    keys += blockIdx.y * tiles * CHUNKS + threadIdx.x;
    values += blockIdx.y * tiles * CHUNKS + threadIdx.x;
    bring(query_at, queries + block * CHUNKS + threadIdx.x);
    bring(keys_at, keys);
    bring(values_at, values);
    commit();
    wait_all();
    __syncthreads();
    unsigned query[4][4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) load_matrices(query[k], query_at + SIXTEEN * warp + (a_row ^ 32 * k));

    float highest[2] = {-INFINITY, -INFINITY}, sums[2] = {}, held[8][4] = {};
    unsigned place = 0;
#pragma unroll 1
    for (unsigned left = tiles; left > 0;) {
        if (--left > 0) {
            keys += CHUNKS;
            values += CHUNKS;
            bring(keys_at + (place ^ TILE), keys);
            bring(values_at + (place ^ TILE), values);
            commit();
        }
        const unsigned key_tile = keys_at + place, value_tile = values_at + place;
        float scores[8][4] = {};
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
#pragma unroll
            for (unsigned n = 0; n < 4; ++n) {
                unsigned key[4];
                load_matrices(key, key_tile + (b_row ^ 32 * k) + SIXTEEN * n);
                multiply_add(scores[2 * n], query[k], key[0], key[1]);
                multiply_add(scores[2 * n + 1], query[k], key[2], key[3]);
            }
        }
        // A lane has two columns of two rows of each product, and the other three of its four lanes the others.
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
            float most = highest[half];
#pragma unroll
            for (unsigned n = 0; n < 8; ++n) most = fmaxf(fmaxf(most, scores[n][2 * half]), scores[n][2 * half + 1]);
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
            const float scaled = most * scale, before = power(fmaf(highest[half], scale, -scaled));
            highest[half] = most;
            sums[half] *= before;
#pragma unroll
            for (unsigned n = 0; n < 8; ++n) {
#pragma unroll
                for (unsigned i = 2 * half; i < 2 * half + 2; ++i) {
                    held[n][i] *= before;
                    scores[n][i] = power(fmaf(scores[n][i], scale, -scaled));
                    sums[half] += scores[n][i];
                }
            }
        }
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
            const float(&a)[4] = scores[2 * k], (&b)[4] = scores[2 * k + 1];
            const unsigned weights[4] = {pack(a[0], a[1]), pack(a[2], a[3]), pack(b[0], b[1]), pack(b[2], b[3])};
#pragma unroll
            for (unsigned n = 0; n < 4; ++n) {
                unsigned value[4];
                load_matrices_trans(value, value_tile + (a_row ^ 32 * n) + SIXTEEN * k);
                multiply_add(held[2 * n], weights, value[0], value[1]);
                multiply_add(held[2 * n + 1], weights, value[2], value[3]);
            }
        }
        place ^= TILE;
        // The next tile is here, and this one's place is free, both for all threads.
        wait_all();
        __syncthreads();
    }
    out += block * CHUNKS * 4 + (16 * warp + lane / 4) * (NUMBERS / 2) + lane % 4;
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        const float sum = sums[half] + __shfl_xor_sync(~0u, sums[half], 1);
        const float share = reciprocal(sum + __shfl_xor_sync(~0u, sum, 2));
#pragma unroll
        for (unsigned n = 0; n < 8; ++n)
            __stcs(&out[half * 4 * NUMBERS + 4 * n], pack(held[n][2 * half] * share, held[n][2 * half + 1] * share));
    }
}
