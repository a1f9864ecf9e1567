// CUB's algorithms with their own host code.
#include <cstdio>
#include <cub/cub.cuh>
#include <vector>

#define OK(call)                                                                    \
  do {                                                                              \
    cudaError_t error = (call);                                                     \
    if (error) { printf(#call ": %s\n", cudaGetErrorName(error)); return 3; }       \
  } while (0)
// Each algorithm is called once for the size of its scratch memory, and once to run.
#define RUN(algorithm, ...)                                                         \
  do {                                                                              \
    void *scratch = nullptr;                                                        \
    size_t bytes = 0;                                                               \
    OK(algorithm(scratch, bytes, __VA_ARGS__));                                     \
    OK(cudaMalloc(&scratch, bytes));                                                \
    OK(algorithm(scratch, bytes, __VA_ARGS__));                                     \
    OK(cudaFree(scratch));                                                          \
  } while (0)

int main() {
  const int n = 10000;
  std::vector<int> numbers(n), found(n);
  for (int i = 0; i < n; i++) numbers[i] = int(i * 7919LL % n);
  int *in, *out;
  OK(cudaMalloc(&in, n * sizeof(int)));
  OK(cudaMalloc(&out, n * sizeof(int)));
  OK(cudaMemcpy(in, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  auto fetch = [&](int count) { return cudaMemcpy(found.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost); };
  RUN(cub::DeviceRadixSort::SortKeys, in, out, n);
  OK(fetch(n));
  for (int i = 0; i < n; i++)
    if (found[i] != i) { printf("sort: %d is %d\n", i, found[i]); return 5; }
  RUN(cub::DeviceScan::InclusiveSum, in, out, n);
  OK(fetch(n));
  for (int i = 0, sum = 0; i < n; i++)
    if (found[i] != (sum += numbers[i])) { printf("scan: %d is %d\n", i, found[i]); return 5; }
  RUN(cub::DeviceReduce::Max, in, out, n);
  OK(fetch(1));
  if (found[0] != n - 1) { printf("reduce: %d\n", found[0]); return 5; }
  OK(cudaDeviceSynchronize());
  printf("right\n");
  return 0;
}
