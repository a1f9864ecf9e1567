// What the GPU's system does for a kernel: `printf`, `assert` and the barrier of a whole grid.
#include <cassert>
#include <cooperative_groups.h>
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

// Each cell gets what another block wrote.
__global__ void turned(int *cells) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int at = grid.thread_rank();
    cells[at] = at;
    grid.sync();
    int other = cells[grid.size() - 1 - at];
    grid.sync();
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
