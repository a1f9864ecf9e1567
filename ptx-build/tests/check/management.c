// A compiler's question for which GPU to compile, as Mojo asks it, and the driver's functions with their first names.
#include "calls.h"
#include <string.h>

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; } nvmlPciInfo_t;
typedef struct { unsigned long long total, free, used; } nvmlMemory_t;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } nvmlMemory_v2_t;
int nvmlInit_v2(void), nvmlShutdown(void);
int nvmlSystemGetDriverVersion(char *, unsigned), nvmlSystemGetCudaDriverVersion_v2(int *);
int nvmlDeviceGetCount_v2(unsigned *), nvmlDeviceGetHandleByIndex(unsigned, nvmlDevice_t *);
int nvmlDeviceGetHandleByPciBusId_v2(const char *, nvmlDevice_t *), nvmlDeviceGetHandleByUUID(const char *, nvmlDevice_t *);
int nvmlDeviceGetName(nvmlDevice_t, char *, unsigned), nvmlDeviceGetUUID(nvmlDevice_t, char *, unsigned);
int nvmlDeviceGetCudaComputeCapability(nvmlDevice_t, int *, int *), nvmlDeviceGetPciInfo_v3(nvmlDevice_t, nvmlPciInfo_t *);
int nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t *), nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t, nvmlMemory_v2_t *);
int nvmlDeviceGetMigMode(nvmlDevice_t, unsigned *, unsigned *);
int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned *, void *);
const char *nvmlErrorString(int);

enum { UNINITIALIZED = 1, INVALID = 2, UNSUPPORTED = 3, NOT_FOUND = 6, TOO_SHORT = 7 };

static void manage(unsigned gpus) {
  unsigned count = 0;
  int version, major, minor;
  char name[96], id[96], another[96];
  nvmlDevice_t device, other;
  nvmlPciInfo_t place;
  nvmlMemory_t memory;
  nvmlMemory_v2_t more = {.version = sizeof more | 2 << 24};
  GIVES(UNINITIALIZED, nvmlDeviceGetCount_v2, &count);
  CALL(nvmlInit_v2);
  CALL(nvmlDeviceGetCount_v2, &count);
  HOLDS(count == gpus);
  GIVES(INVALID, nvmlDeviceGetHandleByIndex, gpus, &device);
  CALL(nvmlDeviceGetHandleByIndex, 0, &device);
  CALL(nvmlSystemGetCudaDriverVersion_v2, &version);
  CALL(nvmlDeviceGetCudaComputeCapability, device, &major, &minor);
  CALL(nvmlDeviceGetName, device, name, sizeof name);
  GIVES(TOO_SHORT, nvmlDeviceGetName, device, id, (unsigned)strlen(name));
  printf("%d %d.%d %s\n", version, major, minor, name);
  CALL(nvmlDeviceGetUUID, device, id, sizeof id);
  for (unsigned i = 1; i < gpus; i++) {
    CALL(nvmlDeviceGetHandleByIndex, i, &other);
    CALL(nvmlDeviceGetUUID, other, another, sizeof another);
    HOLDS(other != device && strcmp(id, another));
  }
  CALL(nvmlDeviceGetHandleByUUID, id, &other);
  HOLDS(other == device && strlen(id) == 40);
  GIVES(NOT_FOUND, nvmlDeviceGetHandleByUUID, "GPU-0", &other);
  CALL(nvmlDeviceGetPciInfo_v3, device, &place);
  CALL(nvmlDeviceGetHandleByPciBusId_v2, place.bus_id, &other);
  CALL(nvmlDeviceGetHandleByPciBusId_v2, place.legacy, &other);
  GIVES(NOT_FOUND, nvmlDeviceGetHandleByPciBusId_v2, "0000:07:07.0", &other);
  HOLDS(strlen(place.bus_id) == strlen(place.legacy) + 4);
  CALL(nvmlDeviceGetMemoryInfo, device, &memory);
  CALL(nvmlDeviceGetMemoryInfo_v2, device, &more);
  HOLDS(memory.total && memory.total == more.total && memory.free + memory.used == memory.total);
  more.version = 1;
  GIVES(INVALID, nvmlDeviceGetMemoryInfo_v2, device, &more);
  CALL(nvmlDeviceGetComputeRunningProcesses_v3, device, &count, NULL);
  HOLDS(count == 0);
  GIVES(UNSUPPORTED, nvmlDeviceGetMigMode, device, &count, &count);
  GIVES(INVALID, nvmlDeviceGetMigMode, NULL, &count, &count);
  HOLDS(strstr(FIND(nvmlErrorString)(UNSUPPORTED), "not available"));
  CALL(nvmlShutdown);
  GIVES(UNINITIALIZED, nvmlDeviceGetCount_v2, &count);
}

// The names that cuda.h replaces.
static int first(const char *name, void *given) {
  int (*function)(void *) = dlsym(driver, name);
  return function(given);
}

int main(int count, char **words) {
  driver = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!driver) { printf("%s\n", dlerror()); return 4; }
  manage(count > 1 ? atoi(words[1]) : 1);
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  CUcontext context, popped;
  CUstream stream;
  CUevent event;
  CUdevice device = 7;
  char id[32];
  int bus, place;
  CALL(cuInit, 0);
  CALL(cuDeviceGetPCIBusId, id, sizeof id, 0);
  CALL(cuDeviceGetByPCIBusId, &device, id);
  HOLDS(device == 0);
  GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId, &device, "0000:07:07.0");
  CALL(cuDeviceGetAttribute, &bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0);
  CALL(cuDeviceGetAttribute, &place, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0);
  char expected[32];
  sprintf(expected, "0000:%02x:%02x.0", bus, place);
  HOLDS(!strcmp(id, expected));
  CALL(cuDevicePrimaryCtxRetain, &context, 0);
  HOLDS(first("cuCtxPushCurrent", context) == 0);
  CALL(cuStreamCreate, &stream, 0);
  CALL(cuEventCreate, &event, 0);
  HOLDS(first("cuEventDestroy", event) == 0 && first("cuStreamDestroy", stream) == 0);
  HOLDS(first("cuCtxPopCurrent", &popped) == 0 && popped == context);
  printf("right\n");
  return 0;
}
