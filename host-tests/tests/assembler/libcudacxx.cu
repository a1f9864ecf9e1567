// What libcu++ makes of atomics, locks and pipelines, for the audit and its reader.
#include <cuda/atomic>
#include <cuda/pipeline>
#include <cuda/semaphore>

template <class T, cuda::thread_scope Scope> __device__ void each(T *x, T *out) {
    cuda::atomic_ref<T, Scope> at(*x);
    out[0] = at.load(cuda::memory_order_acquire);
    at.store(out[1], cuda::memory_order_release);
    out[2] = at.fetch_add(out[3], cuda::memory_order_acq_rel);
    out[4] = at.exchange(out[5], cuda::memory_order_seq_cst);
    out[6] = at.load(cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, Scope);
    T expected = out[7];
    at.compare_exchange_strong(expected, out[8]);
    out[9] = expected;
}

#define KERNEL(T, NAME)                                                                                    \
    __global__ void block_##NAME(T *x, T *out) { each<T, cuda::thread_scope_block>(x, out); }              \
    __global__ void device_##NAME(T *x, T *out) { each<T, cuda::thread_scope_device>(x, out); }            \
    __global__ void system_##NAME(T *x, T *out) { each<T, cuda::thread_scope_system>(x, out); }

KERNEL(int, int)
KERNEL(unsigned, unsigned)
KERNEL(long long, long)
KERNEL(unsigned long long, unsigned_long)

__global__ void locked(cuda::binary_semaphore<cuda::thread_scope_device> *lock, int *x) {
    lock->acquire();
    *x += 1;
    lock->release();
}

__global__ void hinted(const float4 *x, float4 *y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float4 a = __ldcs(x + i), b = __ldcg(x + n + i), c = __ldca(x + 2 * n + i), d = __ldlu(x + 3 * n + i), e = __ldcv(x + 4 * n + i);
        float4 sum = {a.x + b.x + c.x + d.x + e.x, a.y + b.y, c.z + d.z, e.w};
        __stcs(y + i, sum);
        __stwt(y + n + i, sum);
        __stcg(y + 2 * n + i, sum);
    }
}

__global__ void piped(const int4 *x, int4 *y, int n) {
    __shared__ int4 stages[2][128];
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < n; ++i) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stages[i % 2][threadIdx.x], x + i * 128 + threadIdx.x, cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        y[i * 128 + threadIdx.x] = stages[i % 2][threadIdx.x];
        pipe.consumer_release();
    }
}
