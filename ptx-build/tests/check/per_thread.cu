// A program whose default stream is each thread's own: `nvcc --default-stream per-thread`.
#include <cstdio>
#include <cstring>
#include <thread>

__device__ int seen[2];

__global__ void add(int *numbers, int n, int more) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] += more;
  if (i == 0) seen[more & 1] = more;
}

#define OK(call)                                                                    \
  do {                                                                              \
    cudaError_t error = (call);                                                     \
    if (error) { printf(#call ": %s\n", cudaGetErrorName(error)); return 3; }       \
  } while (0)

// Says which stream the thread has. "long" goes beyond the end.
static int run(int more, int n, unsigned long long *id) {
  int numbers[300], *device, told[2];
  for (int i = 0; i < 300; i++) numbers[i] = i;
  OK(cudaMallocAsync(&device, sizeof numbers, 0));
  OK(cudaMemcpyAsync(device, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  add<<<3, 128>>>(device, n, more);
  OK(cudaGetLastError());
  cudaLaunchConfig_t config = {};
  config.gridDim = 3;
  config.blockDim = 128;
  OK(cudaLaunchKernelEx(&config, add, device, 300, more));
  OK(cudaStreamSynchronize(0));
  OK(cudaMemcpy(numbers, device, sizeof numbers, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 300; i++)
    if (numbers[i] != i + 2 * more) { printf("%d: %d\n", i, numbers[i]); return 5; }
  OK(cudaMemsetAsync(device, 7, sizeof numbers));
  OK(cudaMemcpy2D(numbers, 8, device, 8, 4, 100, cudaMemcpyDeviceToHost));
  if (numbers[0] != 0x07070707 || numbers[1] != 1 + 2 * more) return 6;
  OK(cudaMemcpyFromSymbol(told, seen, sizeof told));
  OK(cudaStreamGetId(0, id));
  OK(cudaFreeAsync(device, 0));
  return told[more & 1] == more ? 0 : 7;
}

int main(int count, char **words) {
  int n = count > 1 && !strcmp(words[1], "long") ? 301 : 300;
  unsigned long long ids[3];
  int results[2];
  std::thread other([&] { results[1] = run(5, 300, &ids[1]); });
  other.join();
  results[0] = run(4, n, &ids[0]);
  OK(cudaStreamGetId(cudaStreamLegacy, &ids[2]));
  bool apart = ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2];
  printf("%d %d %s\n", results[0], results[1], apart ? "apart" : "together");
  return results[0] || results[1] || !apart;
}
