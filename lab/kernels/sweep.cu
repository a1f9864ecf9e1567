// Reading a piece of memory once, all of the GPU together, under each hint.
#include "lab.cuh"

constexpr int UNROLL = 4;

#define LOAD_QUAD(name, ptx)                                                                             \
    struct name {                                                                                        \
        __device__ __forceinline__ uint4 operator()(const uint4 *at) const {                             \
            uint4 value;                                                                                 \
            asm volatile(ptx " {%0, %1, %2, %3}, [%4];"                                                  \
                         : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)                    \
                         : "l"(at)                                                                       \
                         : "memory");                                                                    \
            return value;                                                                                \
        }                                                                                                \
    };

LOAD_QUAD(Plain, "ld.global.v4.u32")
LOAD_QUAD(NoAllocate, "ld.global.L1::no_allocate.v4.u32")

struct Policy {
    u64 policy;
    __device__ __forceinline__ uint4 operator()(const uint4 *at) const {
        uint4 value;
        asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                     : "l"(at), "l"(policy)
                     : "memory");
        return value;
    }
};

template <typename Load>
__device__ __forceinline__ void sweep(unsigned *out, unsigned told, const uint4 *from, unsigned n, Load load) {
    const unsigned first = thread_index(), step = thread_count();
    unsigned at[UNROLL], sum = 0;
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) at[k] = first + k * step;
    while (at[UNROLL - 1] < n) {
        uint4 values[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) values[k] = load(from + at[k]);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) sum ^= values[k].x ^ values[k].y ^ values[k].z ^ values[k].w;
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) at[k] += UNROLL * step;
    }
    for (unsigned i = at[0]; i < n; i += step) {
        const uint4 value = load(from + i);
        sum ^= value.x ^ value.y ^ value.z ^ value.w;
    }
    if (sum == told) __stcs(out, sum);
}

extern "C" __global__ void sweep_plain(unsigned *out, unsigned told, const uint4 *from, unsigned n) {
    sweep(out, told, from, n, Plain());
}

extern "C" __global__ void sweep_no_allocate(unsigned *out, unsigned told, const uint4 *from, unsigned n) {
    sweep(out, told, from, n, NoAllocate());
}

extern "C" __global__ void sweep_policy(unsigned *out, unsigned told, const uint4 *from, unsigned n, u64 policy) {
    sweep(out, told, from, n, Policy{policy});
}
