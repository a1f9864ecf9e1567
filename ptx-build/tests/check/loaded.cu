// A library of nvcc's with the runtime in it, as nvcc links it by itself. `run(1)` reads beyond the end.
#include <cuda_runtime.h>

__global__ void twice(float* numbers, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) numbers[at] *= 2;
}

#include <cstdio>

extern "C" float run(int beyond) {
  float numbers[100], *there, last = 0;
  for (int at = 0; at < 100; at++) numbers[at] = at;
  // So this function has the name, too, by which the runtime's is found.
  if (cudaError_t status = cudaMalloc(&there, sizeof numbers)) {
    printf("%s and %s: %d\n", "cudaMalloc", "more", status);
    return -1;
  }
  cudaMemcpy(there, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  twice<<<1, 128>>>(there, 100 + beyond);
  cudaMemcpy(&last, there + 99, sizeof last, cudaMemcpyDeviceToHost);
  cudaFree(there);
  return last;
}
