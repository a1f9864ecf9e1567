// What nvcc 12 links into a program, by its names alone: none of these functions does anything. With LIBRARY they are a library
// that stands for the runtime, and with PROGRAM the program that is linked to it.
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static volatile int nothing;
#define DEFINED(NAME, ...)                         \
  __attribute__((noinline)) int NAME(__VA_ARGS__) { \
    for (int i = 0; i < 4; i++) nothing += i;      \
    return 999;                                    \
  }
#ifdef PROGRAM
#define FUNCTION(NAME, ...) int NAME(__VA_ARGS__);
#else
#define FUNCTION DEFINED
#endif

FUNCTION(__cudaRegisterFatBinary, void *image)
FUNCTION(cudaGetDeviceProperties_v2, void *to, int device)
FUNCTION(cudaGetDeviceProperties, void *to, int device)
FUNCTION(cudaMallocManaged, void **to, size_t bytes, unsigned flags)
FUNCTION(cudaMemAdvise, void *at, size_t bytes, int advice, int device)
FUNCTION(cudaMemAdvise_v2, void *at, size_t bytes, int advice, long location)
FUNCTION(cudaMemPrefetchAsync, void *at, size_t bytes, int device, void *stream)
FUNCTION(cudaMemPrefetchAsync_v2, void *at, size_t bytes, long location, unsigned flags, void *stream)
FUNCTION(cudaStreamCreate, void **stream)
FUNCTION(cudaStreamGetCaptureInfo, void *stream, int *status, unsigned long long *id)
FUNCTION(cudaStreamGetCaptureInfo_v2, void *stream, int *status, unsigned long long *id, void **graph, void ***after, size_t *count)
FUNCTION(cudaStreamGetCaptureInfo_v3, void *stream, int *status, unsigned long long *id, void **graph, void ***after, void **edges, size_t *count)
FUNCTION(cudaPointerGetAttributes, void *to, void *at)
FUNCTION(cudaEventCreate, void **event)
FUNCTION(cudaEventRecord, void *event, void *stream)
FUNCTION(cudaEventElapsedTime, float *to, void *from, void *until)
FUNCTION(cudaEventElapsedTime_v2, float *to, void *from, void *until)
DEFINED(cudaOfThisProgram, int number)

#ifndef LIBRARY
int main(void) {
  char properties[1032];
  int number;
  void *at, *stream, *events[2];
  float milliseconds;
  printf("%d", cudaGetDeviceProperties_v2(properties, 0));
  // As the header of CUDA 12.9 has them.
  size_t places[] = {360, 364, 388, 772};
  for (int i = 0; i < 4; i++) {
    memcpy(&number, properties + places[i], 4);
    printf(" %d", number);
  }
  printf("\n%d %d", cudaMallocManaged(&at, 400, 1), cudaStreamCreate(&stream));
  printf(" %d %d", cudaMemAdvise(at, 400, 1, 0), cudaMemAdvise_v2(at, 400, 1, 1));
  printf(" %d %d", cudaMemPrefetchAsync(at, 400, 0, stream), cudaMemPrefetchAsync_v2(at, 400, 1, 0, stream));
  int states[3] = {7, 7, 7};
  size_t counts[2] = {7, 7};
  void **nodes, *graph, *edges;
  unsigned long long id;
  printf("\n%d", cudaStreamGetCaptureInfo(stream, &states[0], &id));
  printf(" %d", cudaStreamGetCaptureInfo_v2(stream, &states[1], &id, &graph, &nodes, &counts[0]));
  printf(" %d", cudaStreamGetCaptureInfo_v3(stream, &states[2], &id, &graph, &nodes, &edges, &counts[1]));
  printf(" %d %d %d", states[0], states[1], states[2]);
  // CUDA 12 has three words of attributes: the fourth one stays.
  long attributes[4] = {7, 7, 7, 7};
  printf(" %d", cudaPointerGetAttributes(attributes, at));
  printf(" %d %d %ld", (int)attributes[0], attributes[1] == (long)at, attributes[3]);
  printf("\n%d %d", cudaEventCreate(&events[0]), cudaEventCreate(&events[1]));
  printf(" %d %d", cudaEventRecord(events[0], stream), cudaEventRecord(events[1], stream));
  printf(" %d", cudaEventElapsedTime(&milliseconds, events[0], events[1]));
  printf(" %d", cudaEventElapsedTime_v2(&milliseconds, events[0], events[1]));
  // The driver knows the stream of the runtime.
  int (*query)(void *) = (int (*)(void *))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamQuery");
  printf("\n%d %d\n", query(stream), query((void *)1234567));
  printf("%d %d\n", cudaGetDeviceProperties(properties, 0), cudaOfThisProgram(1));
  return 0;
}
#endif
