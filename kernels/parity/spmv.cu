// A sparse matrix in compressed rows times a vector: a thread adds up a row, five entries in flight.
#include "ptx.cuh"

constexpr int ROUND = 5;

LOAD_IF(load_column, "ld.global.nc.L1::evict_first.u32", unsigned, "r")
LOAD_IF(load_value, "ld.global.nc.L1::evict_first.f32", float, "f")
LOAD_IF(load_vector, "ld.global.nc.L1::evict_last.f32", float, "f")

extern "C" __global__ void spmv(float *__restrict__ y, const unsigned *__restrict__ row_start,
                                const unsigned *__restrict__ columns, const float *__restrict__ values,
                                const float *__restrict__ x, size_t rows) {
    for (size_t row = thread_index(); row < rows; row += thread_count()) {
        unsigned at = load_column(true, row_start + row, 0);
        const unsigned end = load_column(true, row_start + row + 1, 0);
        float sum = 0;
        for (; at < end; at += ROUND) {
            const unsigned left = end - at, *column_at = columns + at;
            const float *value_at = values + at;
            unsigned column[ROUND];
            float product[ROUND];
#pragma unroll
            for (int k = 0; k < ROUND; ++k) column[k] = load_column(k < left, column_at + k, 0);
#pragma unroll
            for (int k = 0; k < ROUND; ++k) product[k] = load_value(k < left, value_at + k, 0);
#pragma unroll
            for (int k = 0; k < ROUND; ++k) product[k] = __fmul_rn(product[k], load_vector(k < left, x + column[k], 0));
#pragma unroll
            for (int k = 0; k < ROUND; ++k) sum = k < left ? __fadd_rn(sum, product[k]) : sum;
        }
        __stcs(y + row, sum);
    }
}
