// The probe, and the latency of each kind of load: one thread follows links, and every load waits for the one before it.
#include "lab.cuh"

#define CHASE(name, ptx)                                                                                             \
    LOAD(Load_##name, ptx, u64, "l")                                                                                 \
    extern "C" __global__ void name(unsigned *times, unsigned *ticket, unsigned sm, u64 start, unsigned steps) {     \
        if (chosen(ticket, sm)) probe(times, start, steps, Load_##name());                                           \
    }

CHASE(chase_cg, "ld.global.cg.u64")
CHASE(chase_weak, "ld.global.u64")
CHASE(chase_nc, "ld.global.nc.u64")
CHASE(chase_relaxed_gpu, "ld.relaxed.gpu.global.u64")
CHASE(chase_relaxed_sys, "ld.relaxed.sys.global.u64")
CHASE(chase_acquire_gpu, "ld.acquire.gpu.global.u64")
CHASE(chase_acquire_sys, "ld.acquire.sys.global.u64")
CHASE(chase_volatile, "ld.volatile.global.u64")
CHASE(chase_mmio, "ld.mmio.relaxed.sys.global.u64")

extern "C" __global__ void chase_empty(unsigned *times, unsigned *ticket, unsigned sm, u64 start, unsigned steps) {
    if (chosen(ticket, sm)) timed(times, start, steps, [](u64, u64 clock) { return clock; });
}

extern "C" __global__ void link(u64 base, const unsigned *__restrict__ order, unsigned n) {
    const unsigned step = thread_count();
    for (unsigned i = thread_index(); i < n; i += step) {
        const unsigned next = i + 1 < n ? i + 1 : 0;
        *reinterpret_cast<u64 *>(base + __ldg(&order[i])) = base + __ldg(&order[next]);
    }
}
