// A library that has a lock of its own around its memory, as PyTorch has.
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext context;
static CUresult (*current)(CUcontext);
static CUresult (*allocate)(CUdeviceptr *, size_t, CUstream);

int begin(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  CUresult (*init)(unsigned) = (CUresult (*)(unsigned))dlsym(driver, "cuInit");
  CUresult (*retain)(CUcontext *, CUdevice) = (CUresult (*)(CUcontext *, CUdevice))dlsym(driver, "cuDevicePrimaryCtxRetain");
  current = (CUresult (*)(CUcontext))dlsym(driver, "cuCtxSetCurrent");
  allocate = (CUresult (*)(CUdeviceptr *, size_t, CUstream))dlsym(driver, "cuMemAllocAsync");
  return init(0) || retain(&context, 0);
}

// Python calls it without its own lock.
int give(void) {
  CUdeviceptr place;
  pthread_mutex_lock(&lock);
  usleep(50000);
  int status = current(context) || allocate(&place, 64, 0);
  pthread_mutex_unlock(&lock);
  return status;
}

// Python calls it with its own lock.
int look(void) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return 0;
}
