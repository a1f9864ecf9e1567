// A program on the functions of the driver, compiled with CUDA_API_PER_THREAD_DEFAULT_STREAM: the header gives them the names
// that end with _ptsz and _ptds.
#include "calls.h"
#include <pthread.h>
#include <string.h>

static CUcontext context;
static CUfunction function;
static unsigned sums[2][2];
static unsigned long long ids[2];

static void *run(void *data) {
  int which = data != NULL;
  CUdeviceptr in, out;
  unsigned numbers[512];
  for (unsigned i = 0; i < 512; i++) numbers[i] = i + which;
  CALL(cuCtxSetCurrent, context);
  CALL(cuMemAllocAsync, &in, sizeof numbers, 0);
  CALL(cuMemAlloc, &out, sizeof sums[0]);
  CALL(cuMemcpyHtoDAsync, in, numbers, sizeof numbers, 0);
  CALL(cuMemsetD32, out, 7, 2);
  void *pointers[] = {&in, &out};
  CALL(cuLaunchKernel, function, 2, 1, 1, 256, 1, 1, 0, 0, pointers, NULL);
  CALL(cuMemcpyDtoH, sums[which], out, sizeof sums[0]);
  CALL(cuStreamWriteValue32, 0, out, 9, 0);
  CALL(cuStreamWaitValue32, 0, out, 9, CU_STREAM_WAIT_VALUE_EQ);
  CALL(cuStreamGetId, 0, &ids[which]);
  CALL(cuStreamSynchronize, 0);
  CALL(cuMemFree, out);
  CALL(cuMemFreeAsync, in, 0);
  return NULL;
}

int main(int count, char **words) {
  if (count < 2) return 4;
  CUmodule module;
  context = begin();
  CALL(cuModuleLoad, &module, words[1]);
  CALL(cuModuleGetFunction, &function, module, "right_reduce");
  pthread_t other;
  pthread_create(&other, NULL, run, ids);
  pthread_join(other, NULL);
  run(NULL);
  // Asked for by its plain name, the function is the one with the thread's stream; and the other one, if that is asked for.
  void *found[2];
  CALL(cuGetProcAddress, "cuLaunchKernel", &found[0], 13000, CU_GET_PROC_ADDRESS_DEFAULT, NULL);
  CALL(cuGetProcAddress, "cuLaunchKernel", &found[1], 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, NULL);
  int same = found[0] == (void *)FIND(cuLaunchKernel) && found[1] == dlsym(driver, "cuLaunchKernel") && found[0] != found[1];
  printf("%s: %u %u, %u %u, %s, %s\n", TEXT(cuLaunchKernel), sums[0][0], sums[0][1], sums[1][0], sums[1][1],
         ids[0] != ids[1] ? "apart" : "together", same ? "found" : "lost");
  return 0;
}
