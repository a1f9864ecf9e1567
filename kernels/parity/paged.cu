// A sequence's rows gathered out of the pages of a cache, as attention keeps keys and values: a table says which page has which
// tokens.
#include "ptx.cuh"

constexpr unsigned PAGE = 16, ROW = 16;
constexpr int UNROLL = 4;

LOAD_IF(load_entry, "ld.global.nc.L1::evict_last.u32", unsigned, "r")

extern "C" __global__ void paged_gather_first(uint4 *__restrict__ out, const uint4 *__restrict__ cache,
                                              const unsigned *__restrict__ table, unsigned tokens) {
    for (unsigned i = thread_index(); i < tokens * ROW; i += thread_count()) {
        const unsigned token = i / ROW, part = i % ROW;
        const unsigned from = table[token / PAGE] * PAGE + token % PAGE;
        out[i] = cache[from * ROW + part];
    }
}

extern "C" __global__ void __launch_bounds__(256, 2)
    paged_gather(uint4 *__restrict__ out, const uint4 *__restrict__ cache, const unsigned *__restrict__ table,
                 unsigned tokens) {
    const unsigned index = thread_index(), part = index % ROW, step = unsigned(thread_count()) / ROW;
    cache += part;
    out += part;
    unsigned token = index / ROW, next[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const unsigned at = token + k * step;
        next[k] = load_entry(at < tokens, &table[at / PAGE], 0);
    }
    while (token < tokens) {
        unsigned from[UNROLL];
        uint4 values[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) from[k] = next[k] * PAGE + (token + k * step) % PAGE;
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const unsigned at = token + (UNROLL + k) * step;
            next[k] = load_entry(at < tokens, &table[at / PAGE], 0);
        }
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) values[k] = load_stream(&cache[from[k] * ROW]);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
            const unsigned at = token + k * step;
            if (at < tokens) __stcs(&out[at * ROW], values[k]);
        }
        token += UNROLL * step;
    }
}
