// A program on the runtime: launches, variables, streams, events, attributes and clusters.
#include <cstdio>
#include <cstring>

__constant__ int factor;
__device__ int total;
__managed__ int counted;

__global__ void scale(int *numbers, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] *= factor;
  if (i == 0) total = n;
  if (i == 0) counted = n;
}

__global__ void set(int *numbers) { numbers[threadIdx.x] = threadIdx.x; }

__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

// Each block writes what the other one of its cluster has in shared memory.
__global__ void swap_in_cluster(int *numbers) {
  __shared__ int own;
  if (threadIdx.x == 0) own = numbers[blockIdx.x];
  cluster_sync();
  unsigned place = (unsigned)__cvta_generic_to_shared(&own), other;
  int found;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(place), "r"((blockIdx.x & 1) ^ 1));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(found) : "r"(other) : "memory");
  if (threadIdx.x == 0) numbers[blockIdx.x] = found;
  cluster_sync();
}

#define OK(call)                                                                    \
  do {                                                                              \
    cudaError_t error = (call);                                                     \
    if (error) { printf(#call ": %s\n", cudaGetErrorName(error)); return 3; }       \
  } while (0)

int main(int count, char **words) {
  const int n = 1000;
  int numbers[n], *device, three = 3, told = 0, resident = 0;
  for (int i = 0; i < n; i++) numbers[i] = i;
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  cudaStream_t stream;
  cudaEvent_t before, after;
  OK(cudaStreamCreate(&stream));
  OK(cudaEventCreate(&before));
  OK(cudaEventCreate(&after));
  OK(cudaMalloc(&device, sizeof numbers));
  OK(cudaMemcpyToSymbol(factor, &three, sizeof three));
  OK(cudaMemcpyAsync(device, numbers, sizeof numbers, cudaMemcpyHostToDevice, stream));
  OK(cudaEventRecord(before, stream));
  // "long" goes beyond the end.
  scale<<<8, 128, 0, stream>>>(device, count > 1 && !strcmp(words[1], "long") ? n + 1 : n);
  OK(cudaGetLastError());
  OK(cudaEventRecord(after, stream));
  cudaLaunchConfig_t config = {};
  config.gridDim = 8;
  config.blockDim = 32;
  config.stream = stream;
  cudaLaunchAttribute pairs[1];
  pairs[0].id = cudaLaunchAttributeClusterDimension;
  pairs[0].val.clusterDim.x = 2;
  pairs[0].val.clusterDim.y = pairs[0].val.clusterDim.z = 1;
  config.attrs = pairs;
  config.numAttrs = 1;
  OK(cudaLaunchKernelEx(&config, swap_in_cluster, device));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(numbers, device, sizeof numbers, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++)
    if (numbers[i] != 3 * (i < 8 ? i ^ 1 : i)) { printf("%d: %d\n", i, numbers[i]); return 5; }
  OK(cudaMemcpyFromSymbol(&told, total, sizeof told));
  float milliseconds = -1;
  OK(cudaEventElapsedTime(&milliseconds, before, after));
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, scale));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, scale, 128, 0));
  if (told != n || counted != n || milliseconds < 0 || attributes.maxThreadsPerBlock != 1024 || resident != 16) return 6;
  // "unset" reads what nobody has written, after kernels that have written to other memory.
  if (count > 1 && !strcmp(words[1], "unset")) {
    int *unset;
    OK(cudaMalloc(&unset, 8 * sizeof(int)));
    OK(cudaLaunchKernelEx(&config, swap_in_cluster, unset));
    OK(cudaStreamSynchronize(stream));
    OK(cudaLaunchKernelEx(&config, swap_in_cluster, unset));
    OK(cudaStreamSynchronize(stream));
  }
  // "part" leaves out half of what a kernel reads.
  int *part;
  OK(cudaMalloc(&part, 64 * sizeof(int)));
  OK(cudaMemset(part, 0, 32 * sizeof(int)));
  if (count == 1 || strcmp(words[1], "part")) set<<<1, 32, 0, stream>>>(part + 32);
  scale<<<1, 64, 0, stream>>>(part, 64);
  OK(cudaStreamSynchronize(stream));
  OK(cudaFree(part));
  OK(cudaFree(device));
  printf("sm_%d%d: %s\n", properties.major, properties.minor, "right");
  return 0;
}
