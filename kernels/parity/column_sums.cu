// Sums of the columns of a matrix of signed bytes, which are the zero points of a product in 8 bits: each block of a cluster adds up
// a quarter of the rows, and bulk copies add its sums to those of the block that writes them.
#include "cluster.cuh"
#include "ptx.cuh"

#if __CUDA_ARCH__ >= 900
constexpr unsigned CLUSTER = 4, THREADS = 128, CHUNK = 16, STRIP = CHUNK * THREADS, PART = STRIP / CLUSTER, BYTES = 4 * PART, UNROLL = 4;

__device__ __forceinline__ void add(int (&totals)[CHUNK], uint4 chunk) {
    const unsigned words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
    for (unsigned k = 0; k < CHUNK; ++k) totals[k] = __dp4a(int(words[k / 4]), 1 << (8 * (k % 4)), totals[k]);
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 4)
    column_sums(int4 *__restrict__ out, const uint4 *__restrict__ matrix, unsigned rows, unsigned width) {
    __shared__ alignas(16) int sums[STRIP];
    __shared__ unsigned long long added;
    const unsigned me = threadIdx.x, rank = rank_in_cluster(), strip = blockIdx.x / CLUSTER * THREADS;
    int totals[CHUNK] = {};
    if (strip + me < width) {
        const uint4 *from = matrix + strip + me;
        unsigned row = rank;
#pragma unroll 1
        for (; row + (UNROLL - 1) * CLUSTER < rows; row += UNROLL * CLUSTER) {
            uint4 chunks[UNROLL];
#pragma unroll
            for (unsigned k = 0; k < UNROLL; ++k) chunks[k] = __ldg(&from[(row + k * CLUSTER) * width]);
#pragma unroll
            for (unsigned k = 0; k < UNROLL; ++k) add(totals, chunks[k]);
        }
#pragma unroll 1
        for (; row < rows; row += CLUSTER) add(totals, __ldg(&from[row * width]));
    }
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
        reinterpret_cast<int4 *>(sums + CHUNK * me)[k] =
            make_int4(totals[4 * k], totals[4 * k + 1], totals[4 * k + 2], totals[4 * k + 3]);
    if (me == 0) {
        init_barrier(shared(&added), 1);
        arrive_expecting(shared(&added), (CLUSTER - 1) * BYTES);
    }
    fence_async();
    sync_cluster();
    if (me < CLUSTER && me != rank) {
        const unsigned part = shared(&sums[me * PART]);
        asm volatile(
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s32 [%0], [%1], %2, [%3];" ::"r"(
                shared_of(part, me)),
            "r"(part), "r"(BYTES), "r"(shared_of(shared(&added), me))
            : "memory");
    }
    wait(shared(&added), 0);
    const unsigned four = rank * (PART / 4) + me;
    if (strip + four / 4 < width) __stcs(&out[4 * strip + four], reinterpret_cast<int4 *>(sums)[four]);
    sync_cluster();
}
#endif
