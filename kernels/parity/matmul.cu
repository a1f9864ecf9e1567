// A product of matrices, tile by tile: while the threads multiply one pair of tiles, cp.async brings the next.
#include "ptx.cuh"

constexpr int TILE = 64, DEPTH = 16, THREADS = 256, QUADS = TILE * DEPTH / 4;

// Past L1, under a policy; __pipeline_memcpy_async has no word for one.
__device__ __forceinline__ void copy_async(float4 *shared, const float4 *p, unsigned long long policy) {
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                     unsigned(__cvta_generic_to_shared(shared))),
                 "l"(p), "l"(policy)
                 : "memory");
}

__device__ __forceinline__ void multiply_add(float4 &sum, float x, float4 weight) {
    sum.x = __fadd_rn(sum.x, __fmul_rn(x, weight.x));
    sum.y = __fadd_rn(sum.y, __fmul_rn(x, weight.y));
    sum.z = __fadd_rn(sum.z, __fmul_rn(x, weight.z));
    sum.w = __fadd_rn(sum.w, __fmul_rn(x, weight.w));
}

extern "C" __global__ void matmul(float4 *__restrict__ out, const float4 *__restrict__ input,
                                  const float4 *__restrict__ weights, unsigned rows, unsigned depth, unsigned columns) {
    __shared__ float4 tiles[2][2][QUADS];
    const unsigned me = threadIdx.x, deep = depth * (DEPTH / 4), wide = columns * (TILE / 4);
    const unsigned input_row = me / 4, input_quad = me % 4, weights_row = me / 16, quad = me % 16, row = weights_row * 4;
    unsigned long long first, last;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));

    for (unsigned tile = blockIdx.x; tile < rows * columns; tile += gridDim.x) {
        const unsigned down = tile / columns, across = tile % columns;
        const auto bring = [&](unsigned step) {
            copy_async(&tiles[step % 2][0][me], &input[(down * TILE + input_row) * deep + step * (DEPTH / 4) + input_quad],
                       first);
            copy_async(&tiles[step % 2][1][me], &weights[(step * DEPTH + weights_row) * wide + across * (TILE / 4) + quad],
                       last);
        };
        float4 sums[4] = {};
        if (depth > 0) bring(0);
        asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll 1
        for (unsigned step = 0; step < depth; ++step) {
            if (step + 1 < depth) bring(step + 1);
            asm volatile("cp.async.commit_group;" ::: "memory");
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            __syncthreads();
            const float4 *inputs = tiles[step % 2][0], *factors = tiles[step % 2][1];
#pragma unroll
            for (int k = 0; k < DEPTH; k += 4) {
                float4 x[4], weight[4];
#pragma unroll
                for (int r = 0; r < 4; ++r) x[r] = inputs[(row + r) * (DEPTH / 4) + k / 4];
#pragma unroll
                for (int j = 0; j < 4; ++j) weight[j] = factors[(k + j) * (TILE / 4) + quad];
#pragma unroll
                for (int r = 0; r < 4; ++r) {
                    multiply_add(sums[r], x[r].x, weight[0]);
                    multiply_add(sums[r], x[r].y, weight[1]);
                    multiply_add(sums[r], x[r].z, weight[2]);
                    multiply_add(sums[r], x[r].w, weight[3]);
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int r = 0; r < 4; ++r) __stcs(&out[(down * TILE + row + r) * wide + across * (TILE / 4) + quad], sums[r]);
    }
}
