// What kernels allocate by themselves: a list that one kernel builds and the next one reads and frees.
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Node {
  int value;
  Node *next;
};

struct alignas(64) Wide {
  double numbers[8];
};

__device__ Node *lists[64];

__global__ void build(int length, bool forgets) {
  Node *first = nullptr;
  for (int i = 0; i < length; i++) {
    Node *node = new Node;
    if (!forgets) node->value = i + threadIdx.x;
    if (node->value < 0) __trap();
    node->next = first;
    first = node;
  }
  Wide *wide = new Wide;
  wide->numbers[threadIdx.x % 8] = 1;
  if ((unsigned long long)wide % 64 || wide->numbers[threadIdx.x % 8] != 1) __trap();
  delete wide;
  lists[threadIdx.x] = first;
}

__global__ void sum(int *sums, bool twice, bool beyond) {
  int all = 0;
  for (Node *node = lists[threadIdx.x]; node;) {
    Node *next = node->next;
    all += node->value;
    if (beyond) all += ((int *)node)[4];
    free(node);
    if (twice) free(node);
    node = next;
  }
  sums[threadIdx.x] = all;
}

__global__ void fill(int *places) {
  void *place = malloc(1 << 20);
  places[threadIdx.x] = place != nullptr;
}

int main(int count, char **words) {
  const char *word = count > 1 ? words[1] : "";
  int *sums, back[64], given = 0;
  cudaMalloc(&sums, sizeof back);
  build<<<1, 64>>>(5, !strcmp(word, "forgets"));
  sum<<<1, 64>>>(sums, !strcmp(word, "twice"), !strcmp(word, "beyond"));
  if (cudaError_t error = cudaMemcpy(back, sums, sizeof back, cudaMemcpyDeviceToHost)) {
    printf("%s\n", cudaGetErrorName(error));
    return 3;
  }
  for (int i = 0; i < 64; i++)
    if (back[i] != 10 + 5 * i) { printf("%d: %d\n", i, back[i]); return 5; }
  // The heap has its size since the first kernel. Not all get a piece of 1 MiB.
  size_t size;
  cudaError_t later = cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20);
  cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize);
  fill<<<1, 64>>>(sums);
  cudaMemcpy(back, sums, sizeof back, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; i++) given += back[i];
  printf("right, %s, %zu, %s\n", cudaGetErrorName(later), size, given && given < 9 ? "some given" : "wrong");
  return 0;
}
