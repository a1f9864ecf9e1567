// How a program ends, and which order of the threads a finding names.
#include <csignal>
#include <cstdio>
#include <cstring>

// It goes astray in every order, or if the first warp comes first.
__global__ void astray(int* out, int* first, bool always) {
  bool is_first = threadIdx.x % 32 == 0 && atomicAdd(first, 1) == 0;
  if (always || is_first && threadIdx.x == 0) out[1 << 24] = 1;
}

// Threads race, and the kernel ends.
__global__ void race(int* out) { out[0] = threadIdx.x; }

int main(int count, char** words) {
  int* out;
  cudaMalloc(&out, 256);
  cudaMemset(out, 0, 256);
  if (!strcmp(words[1], "crash")) {
    race<<<2, 32>>>(out);
    cudaDeviceSynchronize();
    raise(SIGABRT);
  }
  astray<<<1, 64>>>(out, out + 1, !strcmp(words[1], "always"));
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
