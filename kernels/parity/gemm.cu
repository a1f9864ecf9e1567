// A product of matrices of bf16: a warp brings tiles by tensor copies into a ring in shared memory, and eight warps multiply them.
#include "async.cuh"
#include "bf16.cuh"
#include "matrix.cuh"

#if __CUDA_ARCH__ >= 900
constexpr unsigned TILE = 128, DEPTH = 64, STAGES = 4, DOWN = 64, ACROSS = 32, WARP = 32;
constexpr unsigned MAKERS = TILE / DOWN * (TILE / ACROSS), THREADS = (MAKERS + 1) * WARP;
constexpr unsigned FACTOR = TILE * DEPTH * 2, PART = DOWN * ACROSS * 2;

extern __shared__ __align__(1024) unsigned char tiles_in_shared[];

// A place in the ring: which one, and the parity of its phase.
struct Turn {
    unsigned stage, parity;

    __device__ __forceinline__ void next() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

__device__ __forceinline__ void bring(const TensorMap *a, const TensorMap *b, unsigned full, unsigned empty, unsigned tiles,
                                      unsigned columns, unsigned depth) {
    constexpr unsigned long long FIRST = 0x12f0000000000000, LAST = 0x14f0000000000000;
    const unsigned all = shared(tiles_in_shared);
    Turn turn{0, 1};
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const unsigned row = tile / columns * TILE, column = tile % columns * TILE;
        for (unsigned at = 0; at < depth; ++at) {
            const unsigned to = all + 2 * FACTOR * turn.stage, barrier = full + 8 * turn.stage;
            wait(empty + 8 * turn.stage, turn.parity);
            // The copies write what the warps have read by ldmatrix.
            fence_async();
            arrive_expecting(barrier, 2 * FACTOR);
            bring_box(to, a, at * DEPTH, row, barrier, FIRST);
            bring_box(to + FACTOR, b, at * DEPTH, column, barrier, LAST);
            turn.next();
        }
    }
}

__device__ __forceinline__ void multiply(float (&sums)[4][4][4], unsigned a, unsigned b) {
    unsigned left[4][4], right[2][4];
#pragma unroll
    for (int m = 0; m < 4; ++m) load_matrices(left[m], a + 2048 * m);
#pragma unroll
    for (int n = 0; n < 2; ++n) load_matrices(right[n], b + 2048 * n);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) multiply_add(sums[m][n], left[m], right[n / 2][n % 2 * 2], right[n / 2][n % 2 * 2 + 1]);
    }
}

__device__ __forceinline__ void write(const TensorMap *d, unsigned x, unsigned y, unsigned part, const float (&sums)[4][4][4]) {
    const unsigned lane = threadIdx.x % WARP;
    wait_bulk_read();
    __syncwarp();
#pragma unroll
    for (int m = 0; m < 4; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float(&a)[4] = sums[m][2 * half], (&b)[4] = sums[m][2 * half + 1];
            const unsigned packed[4] = {pack(a[0], a[1]), pack(a[2], a[3]), pack(b[0], b[1]), pack(b[2], b[3])};
            const unsigned row = 16 * m + lane % 16, chunk = 2 * half + lane / 16;
            store_matrices(part + swizzle_64(64 * row + 16 * chunk), packed);
        }
    }
    fence_async();
    __syncwarp();
    if (lane == 0) {
        take_box(d, x, y, part);
        commit_bulk();
    }
}

__device__ __forceinline__ void make(const TensorMap *d, unsigned full, unsigned empty, unsigned tiles, unsigned columns,
                                     unsigned depth) {
    const unsigned all = shared(tiles_in_shared), warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const unsigned down = warp / (TILE / ACROSS) * DOWN, across = warp % (TILE / ACROSS) * ACROSS;
    // What a lane reads of the first quarter of a tile's depth: 16 bytes of a row. The swizzle is an exclusive or, and so is the
    // way to the other quarters.
    const unsigned a_row = swizzle_128(128 * (down + lane % 16) + 16 * (lane / 16));
    const unsigned b_row = swizzle_128(128 * (across + lane / 16 * 8 + lane % 8) + 16 * (lane / 8 % 2));
    const unsigned part = all + 2 * STAGES * FACTOR + PART * warp;
    Turn turn{0, 0};
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        float sums[4][4][4] = {};
#pragma unroll 1
        for (unsigned at = 0; at < depth; ++at) {
            const unsigned a = all + 2 * FACTOR * turn.stage, b = a + FACTOR;
            wait(full + 8 * turn.stage, turn.parity);
#pragma unroll
            for (unsigned quarter = 0; quarter < 4; ++quarter)
                multiply(sums, a + (a_row ^ 32 * quarter), b + (b_row ^ 32 * quarter));
            __syncwarp();
            if (lane == 0) arrive(empty + 8 * turn.stage);
            turn.next();
        }
        write(d, tile % columns * TILE + across, tile / columns * TILE + down, part, sums);
    }
    wait_bulk_read();
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ TensorMap d, const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
         unsigned tiles, unsigned columns, unsigned depth) {
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    const unsigned me = threadIdx.x;
    if (me == 0) {
        prefetch_map(&d);
        prefetch_map(&a);
        prefetch_map(&b);
#pragma unroll
        for (unsigned stage = 0; stage < STAGES; ++stage) {
            init_barrier(shared(&full[stage]), 1);
            init_barrier(shared(&empty[stage]), MAKERS);
        }
    }
    __syncthreads();
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (me < MAKERS * WARP) {
        make(&d, shared(full), shared(empty), tiles, columns, depth);
    } else if (me == MAKERS * WARP) {
        bring(&a, &b, shared(full), shared(empty), tiles, columns, depth);
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    }
}
#endif
