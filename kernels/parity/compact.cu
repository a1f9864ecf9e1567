// Stream compaction: the elements that are not below a threshold, in any order, and how many there are.
#include "block.cuh"
#include "ptx.cuh"

constexpr int UNROLL = 2;

extern "C" __global__ void compact_first(unsigned *__restrict__ out, unsigned *count, const unsigned *__restrict__ in,
                                        unsigned n, unsigned least) {
    for (unsigned i = thread_index(); i < n; i += thread_count()) {
        const unsigned value = in[i];
        if (value >= least) out[atomicAdd(count, 1)] = value;
    }
}

LOAD_IF_OF_FOUR(load_vector, "ld.global.nc.L1::no_allocate.L2::256B.v4.u32", uint4, "r")

extern "C" __global__ void __launch_bounds__(256, 2)
    compact(unsigned *__restrict__ out, unsigned *count, const uint4 *__restrict__ in, unsigned vectors, unsigned least) {
    const unsigned lane = lane_id(), step = thread_count(), before = (1u << lane) - 1;
    for (unsigned first = unsigned(thread_index()) - lane; first < vectors; first += UNROLL * step) {
        uint4 values[UNROLL];
        unsigned masks[UNROLL][4], all = 0, place = 0;
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const unsigned at = first + lane + k * step;
            values[k] = load_vector(at < vectors, &in[at], make_uint4(0, 0, 0, 0));
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const bool is_one = first + lane + k * step < vectors;
            const unsigned parts[4] = {values[k].x, values[k].y, values[k].z, values[k].w};
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                masks[k][part] = __ballot_sync(~0u, is_one && parts[part] >= least);
                all += __popc(masks[k][part]);
            }
        }
        if (lane == 0) place = atomicAdd(count, all);
        place = __shfl_sync(~0u, place, 0);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const unsigned parts[4] = {values[k].x, values[k].y, values[k].z, values[k].w};
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                const unsigned mask = masks[k][part];
                if (mask >> lane & 1) __stcs(&out[place + __popc(mask & before)], parts[part]);
                place += __popc(mask);
            }
        }
    }
}
