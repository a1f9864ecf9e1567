// Kernels that are launched several times: the user says which launches are checked.
#include <cstdio>
#include <cstring>

namespace wrong {
// Each thread reads what another one stores.
__global__ void rotate(int *all) {
    int next = all[(threadIdx.x + 1) % blockDim.x];
    all[threadIdx.x] = next;
}

__global__ void astray(int *all, int past) {
    int before = all[threadIdx.x]++;
    if (threadIdx.x == 0) {
        printf("%d before\n", before);
    }
    all[threadIdx.x + past] = 1; // ~astray
}
} // namespace wrong

__global__ void fill(float *all, float value) {
    all[blockIdx.x * blockDim.x + threadIdx.x] = value;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        printf("filled with %d\n", (int)value);
    }
}

__global__ void sum(const float *all, float *to, int count) {
    float sum = 0;
    for (int at = 0; at < count; at++) {
        sum += all[at];
    }
    *to += sum;
}

__global__ void make(int *data) { *data = 7; }

__global__ void raise(int *flag) { asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory"); }

__global__ void await(int *flag) {
    int is_there = 0;
    while (!is_there) {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(is_there) : "l"(flag) : "memory");
    }
}

__global__ void take(int *data) { printf("%d taken\n", *data); }

// The flag orders two kernels in different streams.
static int flag(int *numbers) {
    cudaStream_t one, other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    make<<<1, 1, 0, one>>>(numbers);
    raise<<<1, 1, 0, one>>>(numbers + 1);
    await<<<1, 1, 0, other>>>(numbers + 1);
    take<<<1, 1, 0, other>>>(numbers);
    return cudaDeviceSynchronize() != cudaSuccess;
}

int main(int count, char **words) {
    int *numbers;
    float *all, *to;
    cudaMalloc(&numbers, 64 * sizeof(int));
    cudaMalloc(&all, 64 * sizeof(float));
    cudaMalloc(&to, sizeof(float));
    cudaMemset(numbers, 0, 64 * sizeof(int));
    cudaMemset(to, 0, sizeof(float));
    if (count > 1 && !strcmp(words[1], "flag")) {
        return flag(numbers);
    }
    if (count > 1 && !strcmp(words[1], "astray")) {
        wrong::astray<<<1, 32>>>(numbers, 64);
    }
    for (int turn = 1; turn <= 3; turn++) {
        fill<<<2, 32>>>(all, turn);
        sum<<<1, 1>>>(all, to, 64);
        wrong::rotate<<<1, 64>>>(numbers);
    }
    // Another shape is another kernel's first launch.
    wrong::rotate<<<1, 32>>>(numbers);
    float total = 0;
    cudaMemcpy(&total, to, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%d\n", (int)total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
