// What the twins share: a thread's place, the clock, and the chase that every probe is.
#pragma once

constexpr unsigned STEPS = 16384;

typedef unsigned long long u64;

__device__ __forceinline__ unsigned thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ unsigned thread_count() { return gridDim.x * blockDim.x; }

__device__ __forceinline__ unsigned multiprocessor() {
    unsigned number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

// The multiprocessor's clock once `value`, which is not 0, is here: reading it waits for the value.
__device__ __forceinline__ u64 clock_after(u64 value) {
    u64 clock;
    asm volatile(
        "{\n.reg .pred %%here;\nsetp.ne.u64 %%here, %1, 0;\nmov.u64 %0, 0;\n@%%here mov.u64 %0, %%clock64;\n}"
        : "=l"(clock)
        : "l"(value)
        : "memory");
    return clock;
}

// The first thread of a block on that multiprocessor, of the first of these blocks to come.
__device__ __forceinline__ bool chosen(unsigned *ticket, unsigned sm) {
    if (threadIdx.x != 0 || multiprocessor() != sm) return false;
    unsigned before;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(ticket) : "memory");
    return before == 0;
}

// The loop of every probe: `next` gives the next link, of the last one and of the clock that was read after it.
template <typename Next>
__device__ __forceinline__ void timed(unsigned *times, u64 start, unsigned steps, Next next) {
    __shared__ unsigned short spent[STEPS];
    u64 at = start, before = clock_after(start);
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
        at = next(at, before);
        const u64 now = clock_after(at), passed = now - before;
        spent[step] = passed < 65535 ? passed : 65535;
        before = now;
    }
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) __stcs(&times[step], unsigned(spent[step]));
}

template <typename Load>
__device__ __forceinline__ void probe(unsigned *times, u64 start, unsigned steps, Load load) {
    timed(times, start, steps, [load](u64 at, u64) { return load(at); });
}

// A load in PTX's own words.
#define LOAD(name, ptx, type, constraint)                                        \
    struct name {                                                                \
        __device__ __forceinline__ type operator()(u64 at) const {               \
            type value;                                                          \
            asm volatile(ptx " %0, [%1];" : "=" constraint(value) : "l"(at) : "memory"); \
            return value;                                                        \
        }                                                                        \
    };
