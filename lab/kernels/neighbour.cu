// The latency of shared memory: the block's own, and that of its neighbour in the cluster.
#include "lab.cuh"

constexpr unsigned LINKS = 1024, STRIDE = 257;

__device__ __forceinline__ void sync_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ unsigned rank() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

#define CHASE(name, load, map)                                                             \
    extern "C" __global__ void name(unsigned *times, unsigned steps) {                     \
        __shared__ unsigned links[LINKS];                                                  \
        u64 base = __cvta_generic_to_shared(links);                                        \
        map;                                                                               \
        if (threadIdx.x == 0) {                                                            \
            _Pragma("unroll 1") for (unsigned i = 0; i < LINKS; ++i)                       \
                links[i] = (i + STRIDE) % LINKS * 4;                                       \
        }                                                                                  \
        sync_cluster();                                                                    \
        if (threadIdx.x == 0 && rank() == 0) {                                             \
            probe(times, base, steps, [base](u64 at) {                                     \
                unsigned value;                                                            \
                asm volatile(load " %0, [%1];" : "=r"(value) : "r"(unsigned(at)) : "memory"); \
                return base + value;                                                       \
            });                                                                            \
        }                                                                                  \
        sync_cluster();                                                                    \
    }

CHASE(chase_shared, "ld.shared.u32", )
CHASE(chase_neighbour, "ld.shared::cluster.u32", asm("mapa.shared::cluster.u64 %0, %0, 1;" : "+l"(base)))

extern "C" __global__ void chase_shared_empty(unsigned *times, unsigned steps) {
    __shared__ unsigned links[LINKS];
    const u64 base = __cvta_generic_to_shared(links);
    if (threadIdx.x == 0 && rank() == 0)
        timed(times, base, steps, [base](u64, u64 clock) { return base + unsigned(clock); });
}
