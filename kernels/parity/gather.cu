// Copies row index[i] of a table to row i of out: half a warp moves a row, two rows are in flight, and the indices of
// the next two arrive meanwhile.
#include "ptx.cuh"

constexpr int ROW = 16, UNROLL = 2;

LOAD_IF(load_index, "ld.global.nc.L1::evict_first.u32", unsigned, "r")

extern "C" __global__ void gather(float4 *__restrict__ out, const float4 *__restrict__ table,
                                  const unsigned *__restrict__ index, size_t all_rows) {
    const unsigned rows = all_rows, lane = thread_index() % ROW, step = thread_count() / ROW;
    unsigned row = thread_index() / ROW;
    table += lane;
    out += lane;
    unsigned next[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) next[k] = load_index(row + k * step < rows, &index[row + k * step], 0);
    while (row < rows) {
        unsigned from[UNROLL];
        float4 values[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) from[k] = next[k];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const unsigned at = row + (UNROLL + k) * step;
            next[k] = load_index(at < rows, &index[at], 0);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) values[k] = load_kept(table + size_t(from[k]) * ROW);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const unsigned at = row + k * step;
            if (at < rows) __stcs(out + size_t(at) * ROW, values[k]);
        }
        row += UNROLL * step;
    }
}
