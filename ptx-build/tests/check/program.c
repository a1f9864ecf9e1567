// A program on the functions of the driver, which knows nothing of ours. It needs no header and no library to be compiled:
// it opens the driver as NVIDIA's own libraries do.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef void *Handle;

static void *driver;
#define CALL(name, types, ...)                                                           \
  do {                                                                                   \
    int (*call_) types = (int (*) types)dlsym(driver, #name);                            \
    int status_ = call_ ? call_(__VA_ARGS__) : -1;                                        \
    if (status_) { printf(#name ": %d\n", status_); return 3; }                          \
  } while (0)

static char *text_of(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) { perror(path); exit(4); }
  char *text = calloc(1, 1 << 20);
  if (!fread(text, 1, (1 << 20) - 1, file)) exit(4);
  fclose(file);
  return text;
}

// IMAGE KERNEL: adds up 512 numbers in two blocks of 256 threads.
int main(int count, char **words) {
  if (count < 3) return 4;
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) { printf("%s\n", dlerror()); return 4; }
  CUdevice device;
  Handle context, module, function, stream, event;
  CUdeviceptr in, out;
  unsigned numbers[512], sums[2] = {0, 0}, right[2] = {0, 0};
  for (unsigned i = 0; i < 512; i++) right[i / 256] += numbers[i] = i;
  CALL(cuInit, (unsigned), 0);
  CALL(cuDeviceGet, (CUdevice *, int), &device, 0);
  int major = 0;
  CALL(cuDeviceGetAttribute, (int *, int, CUdevice), &major, 75, device);
  CALL(cuDevicePrimaryCtxRetain, (Handle *, CUdevice), &context, device);
  CALL(cuCtxSetCurrent, (Handle), context);
  CALL(cuModuleLoadData, (Handle *, const void *), &module, text_of(words[1]));
  CALL(cuModuleGetFunction, (Handle *, Handle, const char *), &function, module, words[2]);
  CALL(cuStreamCreate, (Handle *, unsigned), &stream, 1);
  CALL(cuEventCreate, (Handle *, unsigned), &event, 0);
  CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &in, sizeof numbers);
  CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &out, sizeof sums);
  // "short" forgets the input, "freed" frees it too early, "host" hands over a pointer of the host, "twice" frees twice.
  int forgets = count > 3 && !strcmp(words[3], "short"), freed = count > 3 && !strcmp(words[3], "freed");
  if (!forgets)
    CALL(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, Handle), in, numbers, sizeof numbers, stream);
  if (freed) CALL(cuMemFree_v2, (CUdeviceptr), in);
  void *pointers[] = {count > 3 && !strcmp(words[3], "host") ? (void *)&(void *){numbers} : &in, &out};
  CALL(cuLaunchKernel,
       (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **, void **),
       function, 2, 1, 1, 256, 1, 1, 0, stream, pointers, NULL);
  CALL(cuEventRecord, (Handle, Handle), event, stream);
  // A stream and an event say by themselves which context they are of, but not the default stream.
  CALL(cuCtxSetCurrent, (Handle), NULL);
  CALL(cuEventSynchronize, (Handle), event);
  CALL(cuStreamSynchronize, (Handle), stream);
  int (*synchronize)(Handle) = (int (*)(Handle))dlsym(driver, "cuStreamSynchronize");
  if (synchronize(NULL) != 201) { printf("the default stream needs no context\n"); return 3; }
  CALL(cuCtxSetCurrent, (Handle), context);
  CALL(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), sums, out, sizeof sums);
  CALL(cuMemFree_v2, (CUdeviceptr), out);
  if (count > 3 && !strcmp(words[3], "twice")) CALL(cuMemFree_v2, (CUdeviceptr), out);
  printf("sm_%d0: %u %u\n", major, sums[0], sums[1]);
  fflush(stdout);
  return forgets || !memcmp(sums, right, sizeof sums) ? 0 : 5;
}
