// Look-ups in a hash table filled by linear probing: while four keys are looked up, the buckets of the next four are on
// their way.
#include "ptx.cuh"

typedef unsigned long long u64;

constexpr int BATCH = 4;
constexpr u64 EMPTY = ~0ull, MISSING = ~0ull;

LOAD_IF(load_key, "ld.global.nc.L1::no_allocate.L2::128B.u64", u64, "l")

__device__ __forceinline__ ulonglong2 load_slot(const ulonglong2 *p) {
    ulonglong2 d;
    asm("ld.global.nc.L1::evict_first.v2.u64 {%0, %1}, [%2];" : "=l"(d.x), "=l"(d.y) : "l"(p));
    return d;
}

__device__ __forceinline__ size_t home(u64 key, unsigned bits) { return key * 0x9e3779b97f4a7c15ull >> (64 - bits); }

__device__ __forceinline__ void announce(u64 (&batch)[BATCH], const ulonglong2 *(&homes)[BATCH], unsigned first,
                                         unsigned step, const ulonglong2 *table, unsigned bits, const u64 *keys,
                                         unsigned n) {
#pragma unroll
    for (int k = 0; k < BATCH; ++k) batch[k] = load_key(first + k * step < n, &keys[first + k * step], EMPTY);
#pragma unroll
    for (int k = 0; k < BATCH; ++k) homes[k] = table + home(batch[k], bits);
#pragma unroll
    for (int k = 0; k < BATCH; ++k) asm volatile("prefetch.L2 [%0];" ::"l"(homes[k]) : "memory");
}

__device__ __forceinline__ u64 walk(const ulonglong2 *table, unsigned bits, u64 key, ulonglong2 slot) {
    const size_t last = (size_t(1) << bits) - 1;
    for (size_t at = home(key, bits);;) {
        if (slot.x == key) return slot.y;
        if (slot.x == EMPTY) return MISSING;
        at = (at + 1) & last;
        slot = load_slot(table + at);
    }
}

extern "C" __global__ void __launch_bounds__(256, 2)
    probe(u64 *__restrict__ found, const ulonglong2 *__restrict__ table, unsigned bits, const u64 *__restrict__ keys, size_t all) {
    const unsigned n = all, step = thread_count();
    unsigned i = thread_index();
    u64 next[BATCH];
    const ulonglong2 *next_homes[BATCH];
    announce(next, next_homes, i, step, table, bits, keys, n);
    while (i < n) {
        u64 batch[BATCH];
        ulonglong2 homes[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; ++k) batch[k] = next[k];
#pragma unroll
        for (int k = 0; k < BATCH; ++k) homes[k] = load_slot(next_homes[k]);
        announce(next, next_homes, i + BATCH * step, step, table, bits, keys, n);
#pragma unroll
        for (int k = 0; k < BATCH; ++k)
            if (i + k * step < n) __stcs(&found[i + k * step], walk(table, bits, batch[k], homes[k]));
        i += BATCH * step;
    }
}
