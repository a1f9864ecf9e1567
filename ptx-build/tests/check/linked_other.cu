// The other one of two files that are compiled apart.
#include "linked.cuh"

__device__ int shared_count = 100;
__constant__ int table[4] = {1, 2, 3, 4};
__managed__ int total;
static __device__ int own = 7;

static __device__ __noinline__ int scale(int value) { return 3 * value + own; }

__device__ int of_other(int value) { return scale(value) + of_one(value); }

// Lacks a barrier.
__device__ void add_up(int *sums) {
  if (threadIdx.x == 0)
    for (int at = 1; at < 32; at++) sums[0] += sums[at];
}

extern "C" __global__ void work_of_other(int *to) {
  extern __shared__ int row[];
  row[threadIdx.x] = twice(of_one(threadIdx.x)) + table[2];
  __syncthreads();
  to[threadIdx.x] = row[31 - threadIdx.x];
  atomicAdd(&total, 1);
  if (threadIdx.x == 0) printf("other: %d\n", own);
}

int total_of_other() { return total; }
