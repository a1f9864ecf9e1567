// A copy, four loads of each thread in flight, in every width of a load.
#include "ptx.cuh"

constexpr int UNROLL = 4;

template <typename T>
__device__ __forceinline__ void copy(T *__restrict__ out, const T *__restrict__ in, unsigned n) {
    const unsigned step = thread_count();
    unsigned i = thread_index();
    for (; i + (UNROLL - 1) * step < n; i += UNROLL * step) {
        T values[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) values[k] = __ldg(&in[i + k * step]);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) __stcs(&out[i + k * step], values[k]);
    }
    for (; i < n; i += step) __stcs(&out[i], __ldg(&in[i]));
}

extern "C" __global__ void copy32(float *__restrict__ out, const float *__restrict__ in, unsigned n) {
    copy(out, in, n);
}

extern "C" __global__ void copy64(float2 *__restrict__ out, const float2 *__restrict__ in, unsigned n) {
    copy(out, in, n);
}

extern "C" __global__ void copy128(float4 *__restrict__ out, const float4 *__restrict__ in, unsigned n) {
    copy(out, in, n);
}

#if __CUDA_ARCH__ >= 1000
extern "C" __global__ void copy256(float8 *__restrict__ out, const float8 *__restrict__ in, unsigned n) {
    copy(out, in, n);
}
#endif
