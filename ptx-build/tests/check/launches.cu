// Which launches are refused, and how many blocks and clusters run at one time. The answers go to the file that is named, or to the
// output. launches.txt has those of an H100 (driver 580.159.04, CUDA 13.0): the draws are always the same.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include "thrust/launched.h"

__global__ void plain(int *to) {
  if (to) *to = 1;
}

__global__ void __launch_bounds__(256) bounded(int *to) {
  if (to) *to = 1;
}

__global__ void __cluster_dims__(4, 1, 1) clustered(int *to) {
  if (to) *to = 1;
}

__global__ void has_shared(int *to) {
  __shared__ int a[6000];
  if (!to) return;
  a[threadIdx.x] = threadIdx.x;
  __syncthreads();
  *to = a[1];
}

// It takes 64 registers.
__global__ void __launch_bounds__(1024) wide(float *to) {
  if (!to) return;
  float x[40];
  for (int i = 0; i < 40; i++) x[i] = to[i];
  for (int j = 0; j < 9; j++)
    for (int i = 0; i < 40; i++) x[i] = x[i] * x[(i + j) % 40];
  for (int i = 0; i < 40; i++) to[i] = x[i];
}

extern __shared__ int dynamic[];

__global__ void uses_dynamic(int *to) {
  if (!to) return;
  dynamic[threadIdx.x] = 1;
  *to = dynamic[0];
}

static const int KERNELS = 6;
static const void *const kernels[KERNELS] = {(void *)plain,      (void *)bounded, (void *)clustered,
                                             (void *)has_shared, (void *)wide,    (void *)uses_dynamic};
static const char *const names[KERNELS] = {"plain", "bounded", "clustered", "has_shared", "wide", "uses_dynamic"};
static FILE *to = stdout;

static unsigned draw(unsigned n) {
  static unsigned long long state = 88172645463325252ull;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 20) % n;
}

template <int N> static unsigned of(const unsigned (&list)[N]) { return list[draw(N)]; }

static void print(int error, int count) {
  if (error) fprintf(to, " e%d", error);
  else fprintf(to, " %d", count);
}

// Without the ones at the end.
static void print(const dim3 &sizes) {
  fprintf(to, " %u", sizes.x);
  if (sizes.y != 1 || sizes.z != 1) fprintf(to, ",%u", sizes.y);
  if (sizes.z != 1) fprintf(to, ",%u", sizes.z);
}

static int set(int k, cudaFuncAttribute attribute, int value) { return cudaFuncSetAttribute(kernels[k], attribute, value); }

// A kernel's attributes, which values are taken, and the values that the launches have.
static void attributes_of(int k) {
  cudaFuncAttributes a;
  int error = cudaFuncGetAttributes(&a, kernels[k]);
  fprintf(to, "%s: %d shared %zu local %zu const %zu threads %d max dynamic %d carveout %d cluster %d %d %d %d\n", names[k], error,
          a.sharedSizeBytes, a.localSizeBytes, a.constSizeBytes, a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes,
          a.preferredShmemCarveout, a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight,
          a.clusterSchedulingPolicyPreference);
  auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
  for (int bytes : {-1, 0, 1, 1024, 49152, 49153, 100000, 207000, 208448, 208449, 232448, 232449, 400000})
    fprintf(to, "%s dynamic %d: %d\n", names[k], bytes, set(k, most, bytes));
  auto carveout = cudaFuncAttributePreferredSharedMemoryCarveout;
  for (int percent : {-2, -1, 0, 50, 100, 101}) fprintf(to, "%s carveout %d: %d\n", names[k], percent, set(k, carveout, percent));
  fprintf(to, "%s nonportable: %d\n", names[k], set(k, cudaFuncAttributeNonPortableClusterSizeAllowed, k % 2));
  set(k, most, k == 5 ? 232448 : k == 3 ? 100000 : 0);
  set(k, carveout, -1);
}

// The kernel, its blocks, its threads, its bytes of shared memory, its cluster, whether it is cooperative. Then the error of the
// launch, how many clusters the GPU has at one time, and how many blocks a multiprocessor has, of the threads in x. An error begins
// with e.
static void launch() {
  const unsigned blocks[] = {0, 1, 1, 2, 31, 32, 64, 128, 255, 256, 257, 512, 1024, 1025, 2048};
  const unsigned grids[] = {0, 1, 1, 1, 2, 3, 4, 8, 12, 16}, high[] = {0, 1, 2, 3, 65535, 65536};
  const unsigned shared[] = {0,     0,     0,     16,    1000,   24000,  25151,  25152,  25153, 49151,
                             49152, 49153, 65536, 100000, 207000, 232447, 232448, 232449, 300000};
  int k = draw(KERNELS);
  cudaLaunchConfig_t config = {};
  // In this order the answers were drawn.
  unsigned z = draw(8) ? 1 : of(high), y = draw(4) ? 1 : of(high), x = of(grids);
  config.gridDim = dim3(x, y == 65535 ? 65536 : y, z == 65535 ? 65536 : z);
  z = draw(4) ? 1 : of(blocks), y = draw(4) ? 1 : of(blocks), x = of(blocks);
  config.blockDim = dim3(x, y, z);
  config.dynamicSmemBytes = of(shared);
  cudaLaunchAttribute attributes[2];
  config.attrs = attributes;
  fputs(names[k], to);
  print(config.gridDim);
  print(config.blockDim);
  fprintf(to, " %zu", config.dynamicSmemBytes);
  if (draw(3) == 0) {
    const unsigned sizes[] = {0, 1, 2, 2, 3, 4, 4, 8, 16, 32};
    unsigned c[3];
    for (int i = 0; i < 3; i++) c[i] = i == 0 || draw(4) == 0 ? of(sizes) : 1;
    auto &attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = c[0], attribute.val.clusterDim.y = c[1], attribute.val.clusterDim.z = c[2];
    fputs(" cluster", to);
    print(dim3(c[0], c[1], c[2]));
  }
  if (draw(5) == 0) {
    auto &attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = draw(2);
    fputs(attribute.val.cooperative ? " cooperative" : " not cooperative", to);
  }
  void *nothing = nullptr, *arguments[] = {&nothing};
  int error = cudaLaunchKernelExC(&config, kernels[k], arguments);
  int after = cudaGetLastError();
  fprintf(to, ": e%d", error);
  if (after != error) fprintf(to, ", then e%d", after);
  int count = -1;
  error = cudaOccupancyMaxActiveClusters(&count, kernels[k], &config);
  print(error, count);
  error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernels[k], config.blockDim.x, config.dynamicSmemBytes);
  print(error, count);
  fputs("\n", to);
  cudaGetLastError();
}

// The kernel, the threads of a block, and its bytes of shared memory. Then how many blocks a multiprocessor has, and how many bytes
// each of them may add.
static void occupancy(int k, int threads, int bytes) {
  int count = 0, error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernels[k], threads, bytes);
  fprintf(to, "%s %d %d:", names[k], threads, bytes);
  print(error, count);
  size_t room = 0;
  error = cudaOccupancyAvailableDynamicSMemPerBlock(&room, kernels[k], count > 0 ? count : 1, threads);
  print(error, room);
  fputs("\n", to);
}

// What stands between <<< and >>> has another error than the same in a cudaLaunchConfig_t, and the memory does not.
static int by_brackets() {
  plain<<<1, 2048>>>(nullptr);
  int threads = cudaGetLastError();
  plain<<<dim3(1, 65536), 32>>>(nullptr);
  int blocks = cudaGetLastError();
  plain<<<1, 32, 49153>>>(nullptr);
  printf("%d %d %d\n", threads, blocks, cudaGetLastError());
  launched(plain, 4096);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "brackets")) return by_brackets();
  if (argc > 1 && !(to = fopen(argv[1], "w"))) return 2;
  for (int k = 0; k < KERNELS; k++) attributes_of(k);
  cudaGetLastError();
  for (int round = 0; round < 3000; round++) {
    launch();
    if (round % 50 == 49 && cudaDeviceSynchronize()) return 3;
  }
  for (int k = 0; k < KERNELS; k++)
    for (int threads = 32; threads <= 1024; threads += 96)
      for (int bytes : {0, 1, 1023, 1024, 5000, 16384, 30000, 45000, 49152, 100000, 115000, 232448}) occupancy(k, threads, bytes);
  for (int k = 0; k < KERNELS; k++) {
    int grid, block, error = cudaOccupancyMaxPotentialBlockSize(&grid, &block, (void (*)(int *))kernels[k], 0, 0);
    fprintf(to, "%s: %d %d %d\n", names[k], error, grid, block);
  }
  return fclose(to);
}
