// Rows copied by a warp each, as tokens are sent to their experts.
#include "block.cuh"
#include "ptx.cuh"

constexpr int UNROLL = 16;

extern "C" __global__ void warp_copy_first(uint4 *__restrict__ out, const uint4 *__restrict__ in, unsigned rows,
                                           unsigned vectors) {
    for (unsigned row = thread_index() / WARP; row < rows; row += thread_count() / WARP)
        for (unsigned at = row * vectors + lane_id(); at < (row + 1) * vectors; at += WARP) out[at] = in[at];
}

extern "C" __global__ void __launch_bounds__(256, 2)
    warp_copy(uint4 *__restrict__ out, const uint4 *__restrict__ in, unsigned rows, unsigned vectors) {
    constexpr unsigned STEP = WARP * UNROLL;
    const unsigned warps = thread_count() / WARP;
    for (unsigned row = thread_index() / WARP; row < rows; row += warps) {
        unsigned at = row * vectors + lane_id();
        const unsigned end = (row + 1) * vectors;
        for (; at + (STEP - WARP) < end; at += STEP) {
            const uint4 *from = in + at;
            uint4 *to = out + at, values[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) values[k] = load_stream(from + k * WARP);
#pragma unroll
            for (int k = 0; k < UNROLL; ++k) store_past(to + k * WARP, values[k]);
        }
        for (; at < end; at += WARP) store_past(&out[at], load_stream(&in[at]));
    }
}
