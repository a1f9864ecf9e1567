// Kernels that launch kernels (dynamic parallelism). Each case is named on the command line; "right" before it is its twin.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define OK(call)                                                                                   \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error) { printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error)); exit(3); }      \
  } while (0)

struct Part {
  char first;
  double scale;
};

extern "C" __global__ void sum(const int *numbers, int n, Part part, int *to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(to, numbers[i] * (int)part.scale + part.first);  // ~adds
}

// All threads fill, in a warp and a part of one, and one lets their numbers be added.
extern "C" __global__ void early(int *numbers, int *to, bool right) {
  numbers[threadIdx.x] = threadIdx.x;  // ~early
  if (right) __syncthreads();
  if (threadIdx.x == 0) sum<<<2, 32>>>(numbers, 40, Part{1, 2.0}, to);  // ~launches
}

extern "C" __global__ void add_one(int *to) { *to += 1; }

// What a kernel launches has not ended when it goes on. Its tail begins when all has ended.
extern "C" __global__ void result(int *numbers, int *to, bool right) {
  if (threadIdx.x) return;
  *to = 1;
  sum<<<2, 32>>>(numbers, 64, Part{1, 2.0}, to);  // ~beside
  if (right) add_one<<<1, 1, 0, cudaStreamTailLaunch>>>(to);
  else *to += 1;  // ~result
}

extern "C" __global__ void too_many(int *numbers, int *to, bool right) {
  if (threadIdx.x == 0) sum<<<1, right ? 64 : 2048>>>(numbers, 64, Part{0, 1.0}, to);  // ~too_many
}

// Calls itself until nothing is left, in streams of its own.
extern "C" __global__ void halves(int *numbers, int n) {
  if (n == 1) {
    *numbers += 1;
    return;
  }
  for (int half = 0; half < 2; half++) {
    cudaStream_t own;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    halves<<<1, 1, 0, own>>>(numbers + half * (n / 2), n / 2);
    cudaStreamDestroy(own);
  }
  if (cudaGetLastError() != cudaSuccess) printf("an error\n");
}

int main(int count, char **words) {
  bool right = count > 2;
  const char *word = words[count - 1];
  int *numbers, *to, found = 0, all[64];
  OK(cudaMalloc(&numbers, 64 * sizeof(int)));
  OK(cudaMalloc(&to, sizeof(int)));
  OK(cudaMemset(numbers, 0, 64 * sizeof(int)));
  OK(cudaMemset(to, 0, sizeof(int)));
  if (!strcmp(word, "early")) early<<<1, 40>>>(numbers, to, right);
  if (!strcmp(word, "result")) result<<<1, 64>>>(numbers, to, right);
  if (!strcmp(word, "too_many")) too_many<<<1, 64>>>(numbers, to, right);
  if (!strcmp(word, "halves")) halves<<<1, 1>>>(numbers, 64);
  cudaDeviceSynchronize();
  OK(cudaMemcpy(all, numbers, sizeof(all), cudaMemcpyDeviceToHost));
  OK(cudaMemcpy(&found, to, sizeof(int), cudaMemcpyDeviceToHost));
  for (int one : all) found += one;
  printf("%d\n", found);
}
