// Rows gathered out of a cache whose pages have one row: `cp.async.bulk.tensor` brings four rows at a time into a ring of chunks, and
// bulk copies take them away. No row passes through registers.
#include "async.cuh"
#include "ptx.cuh"

#if __CUDA_ARCH__ >= 1000
constexpr unsigned ROW = 128, THREADS = 32, FOURS = 8, STAGES = 4, BYTES = 4 * ROW * 2;

struct alignas(128) Four {
    unsigned short numbers[4 * ROW];
};

__device__ __forceinline__ void bring(unsigned chunk, unsigned barrier, const TensorMap *cache, int4 rows, unsigned count) {
    const unsigned lane = threadIdx.x;
    if (lane == 0 && count > 0) arrive_expecting(barrier, count * BYTES);
    if (lane < count)
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], "
            "[%7];" ::"r"(chunk + lane * BYTES),
            "l"(cache), "r"(0), "r"(rows.x), "r"(rows.y), "r"(rows.z), "r"(rows.w), "r"(barrier)
            : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    gather_rows(Four *__restrict__ out, const __grid_constant__ TensorMap cache, const int4 *__restrict__ table, unsigned fours) {
    __shared__ Four chunks[STAGES][FOURS];
    __shared__ unsigned long long here[STAGES];
    const unsigned lane = threadIdx.x, stride = gridDim.x * FOURS;
    const auto count = [&](unsigned at) { return at < fours ? min(fours - at, FOURS) : 0; };
    const auto rows = [&](unsigned at) { return lane < count(at) ? __ldg(&table[at + lane]) : make_int4(0, 0, 0, 0); };
    unsigned at = blockIdx.x * FOURS;
    if (lane == 0) {
        prefetch_map(&cache);
#pragma unroll
        for (unsigned stage = 0; stage < STAGES; ++stage) init_barrier(shared(&here[stage]), 1);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncwarp();
    asm volatile("griddepcontrol.wait;" ::: "memory");
#pragma unroll
    for (unsigned turn = 0; turn < STAGES; ++turn)
        bring(shared(chunks[turn]), shared(&here[turn]), &cache, rows(at + turn * stride), count(at + turn * stride));
#pragma unroll 1
    for (unsigned turn = 0; at < fours; ++turn, at += stride) {
        const unsigned later = at + (STAGES - 1) * stride, stage = turn % STAGES, before = (turn + STAGES - 1) % STAGES;
        const int4 next = rows(later);
        wait(shared(&here[stage]), turn / STAGES % 2);
        if (lane == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(&out[at]), "r"(shared(chunks[stage])),
                         "r"(count(at) * BYTES)
                         : "memory");
            commit_bulk();
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        }
        __syncwarp();
        if (turn > 0) bring(shared(chunks[before]), shared(&here[before]), &cache, next, count(later));
    }
    wait_bulk_read();
}
#endif
