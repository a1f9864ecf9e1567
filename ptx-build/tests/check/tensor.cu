// A kernel that transposes blocks of a matrix by tensor copies, a second one that adds to a matrix by them, and one that gathers rows
// through a swizzle.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

constexpr int WIDTH = 80, HEIGHT = 40, SIDE = 32;

__device__ uint32_t in_shared(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void wait(uint64_t *bar, uint32_t parity) {
    uint32_t done;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(in_shared(bar)), "r"(parity) : "memory");
    } while (!done);
}

__device__ void fetch(const CUtensorMap *map, void *to, uint64_t *bar, int x, int y, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(in_shared(bar)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                     in_shared(to)), "l"(map), "r"(x), "r"(y), "r"(in_shared(bar)) : "memory");
}

__device__ void begin(uint64_t *bar) {
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(in_shared(bar)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
}

__global__ void transpose(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int forgets) {
    __shared__ alignas(128) float tile[SIDE][SIDE], turned[SIDE][SIDE];
    __shared__ alignas(8) uint64_t bar;
    begin(&bar);
    int x = blockIdx.x * SIDE, y = blockIdx.y * SIDE;
    if (threadIdx.x == 0) fetch(&from, tile, &bar, x, y, sizeof tile);
    wait(&bar, 0);
    for (int at = threadIdx.x; at < SIDE * SIDE; at += blockDim.x) turned[at % SIDE][at / SIDE] = tile[at / SIDE][at % SIDE];
    if (!forgets) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(y), "r"(x),
                     "r"(in_shared(turned)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

__global__ void add(const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(128) float tile[SIDE][SIDE];
    for (int at = threadIdx.x; at < SIDE * SIDE; at += blockDim.x) tile[at / SIDE][at % SIDE] = 0.5f;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(0),
                     "r"(0), "r"(in_shared(tile)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

__global__ void swizzled(const __grid_constant__ CUtensorMap from, float *to) {
    __shared__ alignas(1024) unsigned char tile[8 * 128];
    __shared__ alignas(8) uint64_t bar;
    begin(&bar);
    if (threadIdx.x == 0) fetch(&from, tile, &bar, 0, 0, sizeof tile);
    wait(&bar, 0);
    // Each 16 bytes are where their number is changed by the row's.
    for (int at = threadIdx.x; at < 8 * 32; at += blockDim.x) {
        int row = at / 32, chunk = at % 32 / 4;
        memcpy(to + at, tile + row * 128 + (chunk ^ row) * 16 + at % 4 * 4, 4);
    }
}

using Encode = CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                            const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill);

static Encode encode;

static CUtensorMap map_of(float *data, cuuint64_t width, cuuint64_t height, cuuint32_t rows, CUtensorMapSwizzle swizzle) {
    alignas(64) CUtensorMap map;
    cuuint64_t sizes[] = {width, height}, strides[] = {width * sizeof(float)};
    cuuint32_t box[] = {SIDE, rows}, steps[] = {1, 1};
    CUresult status = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                             swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS) printf("refused: %d\n", status);
    return map;
}

int main(int count, char **words) {
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", reinterpret_cast<void **>(&encode), 12000, cudaEnableDefault, &found);
    static float host[HEIGHT][WIDTH], back[WIDTH][HEIGHT], chunk[8 * 32];
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x) host[y][x] = 100.0f * y + x;
    float *from, *to, *out;
    cudaMalloc(&from, sizeof host);
    cudaMalloc(&to, sizeof back);
    cudaMalloc(&out, sizeof chunk);
    cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(to, 0, sizeof back);
    if (count > 1 && !strcmp(words[1], "wide")) map_of(from, WIDTH, HEIGHT, SIDE, CU_TENSOR_MAP_SWIZZLE_64B);
    CUtensorMap in = map_of(from, WIDTH, HEIGHT, SIDE, CU_TENSOR_MAP_SWIZZLE_NONE);
    CUtensorMap turned = map_of(to, HEIGHT, WIDTH, SIDE, CU_TENSOR_MAP_SWIZZLE_NONE);
    transpose<<<dim3(3, 2), 64>>>(in, turned, count > 1 && !strcmp(words[1], "forgets"));
    add<<<2, 64>>>(turned);
    swizzled<<<1, 64>>>(map_of(from, WIDTH, HEIGHT, 8, CU_TENSOR_MAP_SWIZZLE_128B), out);
    cudaMemcpy(back, to, sizeof back, cudaMemcpyDeviceToHost);
    cudaMemcpy(chunk, out, sizeof chunk, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int x = 0; x < WIDTH; ++x)
        for (int y = 0; y < HEIGHT; ++y) wrong += back[x][y] != host[y][x] + (x < SIDE && y < SIDE ? 1.0f : 0.0f);
    for (int at = 0; at < 8 * 32; ++at) wrong += chunk[at] != host[at / 32][at % 32];
    printf("%d wrong, %s\n", wrong, cudaGetErrorString(cudaDeviceSynchronize()));
}
