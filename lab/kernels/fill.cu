// Writing a piece of memory once, all of the GPU together, under each hint of stores; and throwing its lines away.
#include "lab.cuh"

constexpr unsigned LINE = 128;

#define FILL(name, ptx)                                                                            \
    extern "C" __global__ void name(uint4 *to, unsigned n, unsigned value) {                       \
        const unsigned step = thread_count();                                                      \
        for (unsigned i = thread_index(); i < n; i += step)                                        \
            asm volatile(ptx " [%0], {%1, %1, %1, %1};" ::"l"(to + i), "r"(value) : "memory");     \
    }

FILL(fill_wb, "st.global.wb.v4.u32")
FILL(fill_cg, "st.global.cg.v4.u32")
FILL(fill_cs, "st.global.cs.v4.u32")
FILL(fill_wt, "st.global.wt.v4.u32")

extern "C" __global__ void discard(char *to, unsigned n) {
    const unsigned step = thread_count();
    for (unsigned i = thread_index(); i < n; i += step)
        asm volatile("discard.global.L2 [%0], 128;" ::"l"(to + size_t(i) * LINE) : "memory");
}
