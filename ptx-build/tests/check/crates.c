// A program that copies by a function of somebody else's, beyond the end of its allocation.
#include "calls.h"
#include <copied.h>

int main(void) {
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) { printf("%s\n", dlerror()); return 4; }
  CUcontext context;
  CUdeviceptr to;
  unsigned numbers[512] = {0};
  CALL(cuInit, 0);
  CALL(cuDevicePrimaryCtxRetain, &context, 0);
  CALL(cuCtxSetCurrent, context);
  CALL(cuMemAlloc, &to, sizeof numbers / 2);
  copied(to, numbers, sizeof numbers);  // ~copied
  return 0;
}
