// Barriers in shared memory, tensor copies, and products of small matrices by a warp.
#pragma once

#if __CUDA_ARCH__ >= 900
// A tensor map as the driver makes it.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};

__device__ __forceinline__ unsigned shared(const void *p) { return __cvta_generic_to_shared(p); }

__device__ __forceinline__ void init_barrier(unsigned barrier, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void arrive(unsigned barrier) {
    asm volatile("{\n.reg .b64 %%state;\nmbarrier.arrive.shared.b64 %%state, [%0];\n}" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void arrive_expecting(unsigned barrier, unsigned bytes) {
    asm volatile("{\n.reg .b64 %%state;\nmbarrier.arrive.expect_tx.shared.b64 %%state, [%0], %1;\n}" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ bool is_here(unsigned barrier, unsigned parity) {
    unsigned done;
    asm volatile("{\n.reg .pred %%done;\nmbarrier.try_wait.parity.shared.b64 %%done, [%1], %2;\nselp.u32 %0, 1, 0, %%done;\n}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return done;
}

__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
    while (!is_here(barrier, parity)) {
    }
}

__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ __forceinline__ void commit_bulk() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

__device__ __forceinline__ void wait_bulk_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

__device__ __forceinline__ void prefetch_map(const TensorMap *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__device__ __forceinline__ void bring_box(unsigned to, const TensorMap *map, int x, int y, unsigned barrier,
                                          unsigned long long policy) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3}], "
        "[%4], %5;" ::"r"(to),
        "l"(map), "r"(x), "r"(y), "r"(barrier), "l"(policy)
        : "memory");
}

__device__ __forceinline__ void take_box(const TensorMap *map, int x, int y, unsigned from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y),
                 "r"(from)
                 : "memory");
}

__device__ __forceinline__ void store_matrices(unsigned row, const unsigned (&v)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(v[0]), "r"(v[1]), "r"(v[2]),
                 "r"(v[3])
                 : "memory");
}
#endif
