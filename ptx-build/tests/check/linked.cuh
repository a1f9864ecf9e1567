// What both files of a program have that is compiled with -rdc=true.
#include <cstdio>
#include <cstdlib>

#define OK(call)                                                                                   \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error) { printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error)); exit(3); }      \
  } while (0)

extern __device__ int shared_count;
extern __constant__ int table[4];
__device__ int of_one(int);
__device__ int of_other(int);
__device__ void add_up(int *sums);

template <class T>
__device__ __noinline__ T twice(T value) { return value + value; }

extern "C" __global__ void work_of_other(int *to);
int total_of_other();
