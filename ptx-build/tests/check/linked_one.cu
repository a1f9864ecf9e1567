// One of two files that are compiled apart (-rdc=true) and call each other's functions.
#include <cstring>

#include "linked.cuh"

// The other file has one of the same name.
static __device__ int own = 3;

static __device__ __noinline__ int scale(int value) { return 2 * value + own; }

__device__ int of_one(int value) { return scale(value) + shared_count; }

extern "C" __global__ void work_of_one(int *to) {
  extern __shared__ int row[];
  row[threadIdx.x] = twice(of_other(threadIdx.x)) + table[1];
  __syncthreads();
  to[threadIdx.x] = row[31 - threadIdx.x];
  if (threadIdx.x == 0) printf("one: %d\n", own);
}

extern "C" __global__ void sum_up(int *to) {
  __shared__ int sums[32];
  sums[threadIdx.x] = threadIdx.x;
  add_up(sums);
  to[threadIdx.x] = sums[0];
}

int main(int count, char **words) {
  int *device, numbers[32], five = 5;
  OK(cudaMalloc(&device, sizeof numbers));
  if (count > 1) {
    sum_up<<<1, 32>>>(device);
  } else {
    work_of_one<<<1, 32, sizeof numbers>>>(device);
    OK(cudaMemcpy(numbers, device, sizeof numbers, cudaMemcpyDeviceToHost));
    printf("%d %d\n", numbers[0], numbers[31]);
    OK(cudaMemcpyToSymbol(shared_count, &five, sizeof five));
    work_of_other<<<1, 32, sizeof numbers>>>(device);
  }
  OK(cudaMemcpy(numbers, device, sizeof numbers, cudaMemcpyDeviceToHost));
  printf("%d %d %d\n", numbers[0], numbers[31], total_of_other());
  return 0;
}
