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

struct Odd {
  __host__ __device__ bool operator()(int number) const { return number & 1; }
};
struct Twice {
  __host__ __device__ int operator()(int number) const { return 2 * number; }
};

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 10000;
  std::vector<int> numbers(n), found(n);
  for (int i = 0; i < n; i++) numbers[i] = int(i * 7919LL % n);
  int *in, *out;
  OK(cudaMalloc(&in, n * sizeof(int)));
  OK(cudaMalloc(&out, (n + 1) * sizeof(int)));
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
  RUN(cub::DeviceSelect::If, in, out, out + n, n, Odd());
  OK(fetch(n / 2));
  for (int i = 0, kept = 0; i < n; i++)
    if (numbers[i] & 1 && found[kept++] != numbers[i]) { printf("select: %d is %d\n", kept, found[kept - 1]); return 5; }
  RUN(cub::DeviceHistogram::HistogramEven, in, out, 17, 0, n, n);
  OK(fetch(16));
  std::vector<int> bins(16);
  for (int number : numbers) bins[number * 16LL / n]++;
  for (int i = 0; i < 16; i++)
    if (found[i] != bins[i]) { printf("histogram: %d is %d\n", i, found[i]); return 5; }
  OK(cub::DeviceTransform::Transform(in, out, n, Twice()));
  OK(fetch(n));
  for (int i = 0; i < n; i++)
    if (found[i] != 2 * numbers[i]) { printf("transform: %d is %d\n", i, found[i]); return 5; }
  OK(cudaDeviceSynchronize());
  printf("right\n");
  return 0;
}
