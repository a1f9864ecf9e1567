// Sums that go from block to block: each waits for those of the block before it, adds its own part, and hands them on. With
// a flag for all of them, or with one in each packet, as NCCL's protocol LL has it.
#include "ptx.cuh"

constexpr int UNROLL = 4, THREADS = 256;

__device__ __forceinline__ unsigned load_acquire(const unsigned *p) {
    unsigned d;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(d) : "l"(p) : "memory");
    return d;
}

__device__ __forceinline__ void store_release(unsigned *p, unsigned d) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(d) : "memory");
}

__device__ __forceinline__ ulonglong2 load_packet(const ulonglong2 *p) {
    ulonglong2 d;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(d.x), "=l"(d.y) : "l"(p) : "memory");
    return d;
}

__device__ __forceinline__ void send(ulonglong2 *p, ulonglong2 d) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(d.x), "l"(d.y) : "memory");
}

extern "C" __global__ void relay_first(float *__restrict__ out, const float *__restrict__ in, float *inbox,
                                       unsigned *flags, unsigned n) {
    const unsigned block = blockIdx.x;
    const bool last = block + 1 == gridDim.x;
    if (block > 0) {
        if (threadIdx.x == 0)
            while (load_acquire(&flags[block]) == 0) {
            }
        __syncthreads();
    }
    float *const to = last ? out : inbox + (block + 1) * n;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        to[i] = in[block * n + i] + inbox[block * n + i];
    }
    if (!last) {
        __syncthreads();
        if (threadIdx.x == 0) store_release(&flags[block + 1], 1);
    }
}

__device__ __forceinline__ unsigned long long packed(float sum, unsigned flag) {
    return (unsigned long long)(flag) << 32 | __float_as_uint(sum);
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    relay(float2 *__restrict__ out, const float2 *__restrict__ in, ulonglong2 *inbox, unsigned pairs, unsigned flag) {
    const unsigned start = blockIdx.x * pairs, threads = blockDim.x;
    const bool first = blockIdx.x == 0, last = blockIdx.x + 1 == gridDim.x;
    for (unsigned i = threadIdx.x; i < pairs; i += UNROLL * threads) {
        float2 sums[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) sums[k] = load_stream(&in[start + i + k * threads]);
        if (!first) {
            ulonglong2 packets[UNROLL];
            bool here;
            do {
                here = true;
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) packets[k] = load_packet(&inbox[start + i + k * threads]);
#pragma unroll
                for (int k = 0; k < UNROLL; ++k)
                    here &= unsigned(packets[k].x >> 32) == flag && unsigned(packets[k].y >> 32) == flag;
            } while (!here);
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) {
                sums[k].x += __uint_as_float(unsigned(packets[k].x));
                sums[k].y += __uint_as_float(unsigned(packets[k].y));
            }
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            if (last)
                __stcs(&out[i + k * threads], sums[k]);
            else
                send(&inbox[start + pairs + i + k * threads],
                     make_ulonglong2(packed(sums[k].x, flag), packed(sums[k].y, flag)));
        }
    }
}
