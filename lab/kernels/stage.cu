// One thread does something to a piece of memory, then to another, waits, and probes: what is where after hints,
// prefetches and fences.
#include "lab.cuh"

constexpr int BATCH = 8;

LOAD(Plain, "ld.global.u32", unsigned, "r")
LOAD(Size64, "ld.global.L2::64B.u32", unsigned, "r")
LOAD(Size128, "ld.global.L2::128B.u32", unsigned, "r")
LOAD(Size256, "ld.global.L2::256B.u32", unsigned, "r")
LOAD(Normal, "ld.global.L1::evict_normal.u32", unsigned, "r")
LOAD(Unchanged, "ld.global.L1::evict_unchanged.u32", unsigned, "r")
LOAD(First, "ld.global.L1::evict_first.u32", unsigned, "r")
LOAD(Last, "ld.global.L1::evict_last.u32", unsigned, "r")
LOAD(NoAllocate, "ld.global.L1::no_allocate.u32", unsigned, "r")
LOAD(Relaxed, "ld.relaxed.gpu.global.u32", unsigned, "r")
LOAD(Volatile, "ld.volatile.global.u32", unsigned, "r")
LOAD(Acquire, "ld.acquire.gpu.global.u32", unsigned, "r")
LOAD(ProbeWeak, "ld.global.u64", u64, "l")
LOAD(ProbeL2, "ld.global.cg.u64", u64, "l")

// What reads nothing.
#define DO(name, ptx)                                              \
    struct name {                                                  \
        __device__ __forceinline__ unsigned operator()(u64 at) const { \
            asm volatile(ptx ::"l"(at) : "memory");                \
            return 0;                                              \
        }                                                          \
    };
DO(PrefetchL1, "prefetch.global.L1 [%0];")
DO(PrefetchL2, "prefetch.global.L2 [%0];")
DO(PrefetchL2Last, "prefetch.global.L2::evict_last [%0];")
DO(PrefetchBulk, "cp.async.bulk.prefetch.L2.global [%0], 128;")
DO(ApplyPriority, "applypriority.global.L2::evict_normal [%0], 128;")

struct Nothing {
    __device__ __forceinline__ unsigned operator()(u64) const { return 0; }
};
struct FenceAcqRel {
    __device__ __forceinline__ unsigned operator()(u64) const {
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        return 0;
    }
};
struct FenceSc {
    __device__ __forceinline__ unsigned operator()(u64) const {
        asm volatile("fence.sc.gpu;" ::: "memory");
        return 0;
    }
};
struct Keep {
    __device__ __forceinline__ unsigned operator()(u64 at) const {
        unsigned value;
        u64 policy;
        asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
        asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(value) : "l"(at), "l"(policy) : "memory");
        return value;
    }
};

template <typename Touch>
__device__ __forceinline__ unsigned each(u64 at, unsigned count, unsigned step, Touch touch) {
    unsigned sum = 0;
#pragma unroll 1
    for (; count >= BATCH; count -= BATCH) {
        unsigned values[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; ++k) values[k] = touch(at + k * u64(step));
#pragma unroll
        for (int k = 0; k < BATCH; ++k) sum ^= values[k];
        at += BATCH * u64(step);
    }
#pragma unroll 1
    for (; count > 0; --count) {
        sum ^= touch(at);
        at += step;
    }
    return sum;
}

template <typename A, typename B, typename Probe>
__device__ __forceinline__ void stage(unsigned *times, unsigned *ticket, unsigned sm, u64 a, unsigned a_count,
                                      unsigned a_step, u64 b, unsigned b_count, unsigned b_step, unsigned pause,
                                      u64 start, unsigned steps) {
    if (!chosen(ticket, sm)) return;
    const unsigned first = each(a, a_count, a_step, A());
    // The second begins once the first is here; what is never 0 must not be known to the assembler as that.
    if (clock_after(first ^ start) == 0) b = a;
    const unsigned second = each(b, b_count, b_step, B());
    const u64 begun = clock_after((first ^ second) ^ start);
    while (clock_after(begun) - begun < pause) {}
    probe(times, start, steps, Probe());
}

#define STAGE(name, a, b, probed)                                                                                  \
    extern "C" __global__ void name(unsigned *times, unsigned *ticket, unsigned sm, u64 a_at, unsigned a_count,    \
                                    unsigned a_step, u64 b_at, unsigned b_count, unsigned b_step, unsigned pause,  \
                                    u64 start, unsigned steps) {                                                   \
        stage<a, b, probed>(times, ticket, sm, a_at, a_count, a_step, b_at, b_count, b_step, pause, start, steps); \
    }

STAGE(touch_plain, Plain, Nothing, ProbeL2)
STAGE(touch_64, Size64, Nothing, ProbeL2)
STAGE(touch_128, Size128, Nothing, ProbeL2)
STAGE(touch_256, Size256, Nothing, ProbeL2)

STAGE(hot_stream_plain, Plain, Plain, ProbeWeak)
STAGE(hot_stream_normal, Plain, Normal, ProbeWeak)
STAGE(hot_stream_unchanged, Plain, Unchanged, ProbeWeak)
STAGE(hot_stream_first, Plain, First, ProbeWeak)
STAGE(hot_stream_last, Plain, Last, ProbeWeak)
STAGE(hot_stream_no_allocate, Plain, NoAllocate, ProbeWeak)
STAGE(hot_last_stream_plain, Last, Plain, ProbeWeak)

STAGE(hot_then_relaxed, Plain, Relaxed, ProbeWeak)
STAGE(hot_then_volatile, Plain, Volatile, ProbeWeak)
STAGE(hot_then_acquire, Plain, Acquire, ProbeWeak)
STAGE(hot_then_fence_acq_rel, Plain, FenceAcqRel, ProbeWeak)
STAGE(hot_then_fence_sc, Plain, FenceSc, ProbeWeak)

STAGE(announce_nothing, Nothing, Nothing, ProbeWeak)
STAGE(announce_l1, PrefetchL1, Nothing, ProbeWeak)
STAGE(announce_l2, PrefetchL2, Nothing, ProbeWeak)
STAGE(announce_l2_last, PrefetchL2Last, Nothing, ProbeWeak)
#if __CUDA_ARCH__ >= 900
STAGE(announce_bulk, PrefetchBulk, Nothing, ProbeWeak)
#endif

STAGE(keep, Keep, Nothing, ProbeL2)
STAGE(keep_then_give_up, Keep, ApplyPriority, ProbeL2)
