// What nvcc 11 links into a program, by its names alone: none of these functions does anything.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static volatile int nothing;
#define FUNCTION(NAME, ...)                        \
  __attribute__((noinline)) int NAME(__VA_ARGS__) { \
    for (int i = 0; i < 4; i++) nothing += i;      \
    return 999;                                    \
  }

FUNCTION(__cudaRegisterFatBinary, void *image)
FUNCTION(cudaBindTexture, size_t *offset, void *texture, void *at, void *format, size_t bytes)
FUNCTION(cudaGetDeviceProperties, void *to, int device)
FUNCTION(cudaMallocManaged, void **to, size_t bytes, unsigned flags)
FUNCTION(cudaMemAdvise, void *at, size_t bytes, int advice, int device)
FUNCTION(cudaMemPrefetchAsync, void *at, size_t bytes, int device, void *stream)
FUNCTION(cudaStreamCreate, void **stream)
FUNCTION(cudaStreamGetCaptureInfo_v2, void *stream, int *status, unsigned long long *id, void **graph, void ***after, size_t *count)
FUNCTION(cudaGraphCreate, void **graph, unsigned flags)
FUNCTION(cudaGraphInstantiate, void **executable, void *graph, void **node, char *log, size_t room)

int main(void) {
  char properties[800];
  memset(properties, 7, sizeof properties);
  printf("%d", cudaGetDeviceProperties(properties, 0));
  // As the header of CUDA 11.8 has them: major, multiProcessorCount, the upper half of the last field, and what is behind the structure.
  size_t places[] = {360, 388, 724, 728};
  for (int i = 0; i < 4; i++) {
    int number;
    memcpy(&number, properties + places[i], 4);
    printf(" %d", number);
  }
  void *at, *stream, *graph, *executable, *node = &at, **nodes;
  printf("\n%d %d", cudaMallocManaged(&at, 400, 1), cudaStreamCreate(&stream));
  printf(" %d %d", cudaMemAdvise(at, 400, 1, 0), cudaMemPrefetchAsync(at, 400, 0, stream));
  int status = 7;
  size_t count = 7;
  unsigned long long id;
  printf(" %d", cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count));
  printf(" %d\n%d", status, cudaGraphCreate(&graph, 0));
  printf(" %d", cudaGraphInstantiate(&executable, graph, &node, 0, 0));
  printf(" %d\n", node == 0);
  return 0;
}
