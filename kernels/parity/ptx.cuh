// What the twins share: a thread's place in the grid, and the loads and stores that CUDA C++ has no builtin for.
#pragma once

__device__ __forceinline__ size_t thread_index() { return size_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ size_t thread_count() { return size_t(gridDim.x) * blockDim.x; }

#if __CUDA_ARCH__ >= 1000
struct alignas(32) float8 {
    float v[8];
};

__device__ __forceinline__ float8 __ldg(const float8 *p) {
    float8 d;
    asm("ld.global.nc.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
        : "=f"(d.v[0]), "=f"(d.v[1]), "=f"(d.v[2]), "=f"(d.v[3]), "=f"(d.v[4]), "=f"(d.v[5]), "=f"(d.v[6]), "=f"(d.v[7])
        : "l"(p));
    return d;
}

__device__ __forceinline__ void __stcs(float8 *p, float8 d) {
    asm volatile("st.global.cs.v8.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(p), "f"(d.v[0]), "f"(d.v[1]),
                 "f"(d.v[2]), "f"(d.v[3]), "f"(d.v[4]), "f"(d.v[5]), "f"(d.v[6]), "f"(d.v[7])
                 : "memory");
}
#endif

// A load that has no builtin: of one value, of two, of four.
#define LOAD(name, ptx, type, constraint)                                   \
    __device__ __forceinline__ type name(const type *p) {                   \
        type d;                                                             \
        asm(ptx " %0, [%1];" : "=" constraint(d) : "l"(p));                 \
        return d;                                                           \
    }
#define LOAD_OF_TWO(name, ptx, type, constraint)                                                \
    __device__ __forceinline__ type name(const type *p) {                                       \
        type d;                                                                                 \
        asm(ptx " {%0, %1}, [%2];" : "=" constraint(d.x), "=" constraint(d.y) : "l"(p));        \
        return d;                                                                               \
    }
#define LOAD_OF_FOUR(name, ptx, type, constraint)                                               \
    __device__ __forceinline__ type name(const type *p) {                                       \
        type d;                                                                                 \
        asm(ptx " {%0, %1, %2, %3}, [%4];"                                                      \
            : "=" constraint(d.x), "=" constraint(d.y), "=" constraint(d.z), "=" constraint(d.w) \
            : "l"(p));                                                                          \
        return d;                                                                               \
    }

// Read once: past L1, and L2 may fetch the neighbour.
LOAD_OF_FOUR(load_stream, "ld.global.nc.L1::no_allocate.L2::256B.v4.u32", uint4, "r")
LOAD_OF_FOUR(load_stream, "ld.global.nc.L1::no_allocate.L2::256B.v4.f32", float4, "f")
LOAD_OF_TWO(load_stream, "ld.global.nc.L1::no_allocate.L2::256B.v2.f32", float2, "f")

// Read again and again.
LOAD_OF_FOUR(load_kept, "ld.global.nc.L1::evict_last.L2::256B.v4.f32", float4, "f")
LOAD_OF_FOUR(load_last, "ld.global.nc.L1::evict_last.v4.u32", uint4, "r")
LOAD_OF_FOUR(load_last, "ld.global.nc.L1::evict_last.v4.f32", float4, "f")
LOAD_OF_TWO(load_last, "ld.global.nc.L1::evict_last.v2.f32", float2, "f")
LOAD(load_last, "ld.global.nc.L1::evict_last.f32", float, "f")
LOAD(load_last, "ld.global.nc.L1::evict_last.u32", unsigned, "r")

// Read once, too little for the neighbour to be worth it.
LOAD(load_past, "ld.global.nc.L1::no_allocate.u16", unsigned short, "h")

// Written past L1.
__device__ __forceinline__ void store_past(uint4 *p, uint4 d) {
    asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(d.x), "r"(d.y), "r"(d.z), "r"(d.w)
                 : "memory");
}

// The loads of one value that are done only where `cond` holds, else `d` stays as it is.
#define LOAD_IF(name, ptx, type, constraint)                                        \
    __device__ __forceinline__ type name(bool cond, const type *p, type d) {        \
        asm("{\n.reg .pred %%cond;\nsetp.ne.b32 %%cond, %2, 0;\n@%%cond " ptx       \
            " %0, [%1];\n}"                                                         \
            : "+" constraint(d)                                                     \
            : "l"(p), "r"(int(cond)));                                              \
        return d;                                                                   \
    }

// The same of four values.
#define LOAD_IF_OF_FOUR(name, ptx, type, constraint)                                                          \
    __device__ __forceinline__ type name(bool cond, const type *p, type d) {                                  \
        asm("{\n.reg .pred %%cond;\nsetp.ne.b32 %%cond, %5, 0;\n@%%cond " ptx " {%0, %1, %2, %3}, [%4];\n}" \
            : "+" constraint(d.x), "+" constraint(d.y), "+" constraint(d.z), "+" constraint(d.w)              \
            : "l"(p), "r"(int(cond)));                                                                        \
        return d;                                                                                             \
    }
