// A transposed matrix: each block of a cluster reads rows of a square of tiles and sends every other block its tile by `st.async`, so
// that each has whole rows of the result to write.
#include "cluster.cuh"
#include "ptx.cuh"

#if __CUDA_ARCH__ >= 900
constexpr unsigned CLUSTER = 4, TILE = 32, SQUARE = CLUSTER * TILE, THREADS = 256, BYTES = (CLUSTER - 1) * TILE * TILE * 4,
                   ROW = SQUARE + 4;

__device__ __forceinline__ unsigned place(unsigned row) { return (row % 4 * (TILE / 4) + row / 4) * ROW; }

__device__ __forceinline__ bool is_here_for_cluster(unsigned barrier, unsigned parity) {
    unsigned done;
    asm volatile(
        "{\n.reg .pred %%done;\nmbarrier.try_wait.parity.acquire.cluster.shared.b64 %%done, [%1], %2;\nselp.u32 %0, 1, 0, %%done;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
    return done;
}

__device__ __forceinline__ void store_later(unsigned there, float4 v, unsigned barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(there), "f"(v.x),
                 "f"(v.y), "f"(v.z), "f"(v.w), "r"(barrier)
                 : "memory");
}

__device__ __forceinline__ float part(float4 v, unsigned k) { return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w; }

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 4)
    all_to_all(float4 *__restrict__ out, const float4 *__restrict__ in, unsigned width, unsigned height) {
    __shared__ alignas(16) float turned[TILE * ROW];
    __shared__ unsigned long long sent;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, rank = rank_in_cluster();
    const unsigned square = blockIdx.x / CLUSTER, down = square / width, across = square % width;
    const unsigned to = warp % CLUSTER, row = warp / CLUSTER * 16 + lane / 8 * 4, column = lane % 8 * 4;
    if (threadIdx.x == 0) {
        init_barrier(shared(&sent), 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        arrive_expecting(shared(&sent), BYTES);
    }
    const float4 *from = &in[(((down * SQUARE + rank * TILE + row) * width + across) * SQUARE + to * TILE + column) / 4];
    float4 rows[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) rows[k] = __ldg(&from[k * (width * SQUARE / 4)]);
    sync_cluster();
    float *here = &turned[rank * TILE + row];
    const unsigned barrier = shared_of(shared(&sent), to);
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
        float4 *place_here = reinterpret_cast<float4 *>(here + place(column + k));
        const float4 value = make_float4(part(rows[0], k), part(rows[1], k), part(rows[2], k), part(rows[3], k));
        if (to == rank)
            *place_here = value;
        else
            store_later(shared_of(shared(place_here), to), value, barrier);
    }
    while (!is_here_for_cluster(shared(&sent), 0)) {
    }
    __syncthreads();
    float4 *to_here = &out[((across * SQUARE + rank * TILE) * height + down) * SQUARE / 4 + lane];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
        const unsigned own = 8 * k + warp;
        __stcs(&to_here[own * height * (SQUARE / 4)], reinterpret_cast<float4 *>(turned + place(own))[lane]);
    }
}
#endif
