// What the GPU's system does for a kernel: `printf`, `assert` and the barrier of a whole grid.
#include <cassert>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();

__global__ void say(const int *numbers) {
    int at = threadIdx.x;
    if (at % warpSize == 0)
        printf("%d in %s:%6.2f|%-4x|%c%*d %lld %g%%\n", at, "warps", at / 3.0, at, 'a' + at / warpSize, 3, -at, ~0ll, 1e-7);
    assert(numbers[at] < 100);
}

// As `cooperative_groups::grid_group::sync` does it: the system says where the blocks count themselves.
__device__ void grid_sync() {
    unsigned low, high, before, now;
    asm volatile("mov.u32 %0, %%envreg2;\n\tmov.u32 %1, %%envreg1;" : "=r"(low), "=r"(high));
    unsigned long long place = (unsigned long long)high << 32 | low;
    if (!place) asm volatile("trap;");
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned count = blockIdx.x == 0 ? 0x80000001u - gridDim.x : 1;
        asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(place + 4), "r"(count) : "memory");
        do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(place + 4) : "memory");
        while ((int)(before ^ now) >= 0);
    }
    __syncthreads();
}

// Each cell gets what another block wrote.
__global__ void turned(int *cells) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
    cells[at] = at;
    grid_sync();
    int other = cells[count - 1 - at];
    grid_sync();
    cells[at] = other;
}

int main(int count, char **words) {
    const char *word = count > 1 ? words[1] : "";
    int *cells;
    cudaMallocManaged(&cells, 256 * sizeof(int));
    memset(cells, 0, 256 * sizeof(int));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.num_bytes = 1024;
    bool right = !cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
    window = {};
    right &= !cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
    right &= window.accessPolicyWindow.num_bytes == 1024 && !cudaProfilerStart();
    cells[7] = strcmp(word, "asserts") ? 0 : 100;
    printf("begin\n");
    say<<<1, 64, 0, stream>>>(cells);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    if (!strcmp(word, "plain")) {
        turned<<<4, 64>>>(cells);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    void *arguments[] = {&cells};
    right &= !cudaLaunchCooperativeKernel((void *)turned, 4, 64, arguments, 0, stream) && !cudaDeviceSynchronize();
    for (int at = 0; right && at < 256; ++at)
        right &= cells[at] == 255 - at;
    right &= !cudaProfilerStop();
    puts(right ? "right" : "wrong");
    return !right;
}
