// A kernel that launches another one (dynamic parallelism).
#include <cstdio>

extern "C" __global__ void child(int *to) { to[threadIdx.x] = 7; }

extern "C" __global__ void parent(int *to) {
  if (threadIdx.x == 0) child<<<1, 32>>>(to);
}

int main() {
  int *to;
  cudaMalloc(&to, 32 * sizeof(int));
  parent<<<1, 32>>>(to);
  printf("%d\n", cudaDeviceSynchronize());
}
