// Two GPUs on the functions of the driver: contexts, peers, mapped memory, pools and libraries. A word leaves something out.
#include "calls.h"
#include <string.h>

static const char *const KERNELS =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .u32 number = 5;\n"
    ".visible .entry store(.param .u64 to) {\n"
    "  .reg .b64 %p;\n  .reg .b32 %v;\n"
    "  ld.param.u64 %p, [to];\n  ld.global.u32 %v, [number];\n  add.u32 %v, %v, 1;\n"
    "  st.global.u32 [number], %v;\n  st.global.u32 [%p], %v;\n  ret;\n}\n";

static CUcontext contexts[2];
static CUdevice devices[2];

static void one_store(CUfunction function, CUdeviceptr to, CUstream stream) {
  void *arguments[] = {&to};
  CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, 0);
}

static unsigned read(CUdeviceptr from) {
  unsigned found = 0;
  CALL(cuMemcpyDtoH, &found, from, 4);
  return found;
}

static void have_contexts(void) {
  int count = 0, value = 0;
  CUdevice device;
  CUuuid ids[2];
  char place[2][16];
  CALL(cuDeviceGetCount, &count);
  HOLDS(count == 2);
  GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet, &device, 2);
  for (int i = 0; i < 2; i++) {
    CALL(cuDeviceGet, &devices[i], i);
    CALL(cuDeviceGetUuid, &ids[i], devices[i]);
    CALL(cuDeviceGetPCIBusId, place[i], sizeof place[i], devices[i]);
    CALL(cuDeviceGetByPCIBusId, &device, place[i]);
    HOLDS(device == devices[i]);
    CALL(cuDevicePrimaryCtxRetain, &contexts[i], devices[i]);
  }
  HOLDS(memcmp(&ids[0], &ids[1], sizeof ids[0]) && strcmp(place[0], place[1]) && contexts[0] != contexts[1]);
  CALL(cuDeviceGetP2PAttribute, &value, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 0, 1);
  HOLDS(value == 1);
  CUcontext third;
  CALL(cuCtxSetCurrent, contexts[0]);
  CALL(cuCtxPushCurrent, contexts[1]);
  CALL(cuCtxGetDevice, &device);
  HOLDS(device == devices[1]);
  CALL(cuCtxPopCurrent, &third);
  CALL(cuCtxGetDevice, &device);
  HOLDS(device == devices[0] && third == contexts[1]);
}

// A context has its own streams, and a module is of one context. A kernel of a library runs on the GPU of its stream.
static void run(CUdeviceptr memory[2], CUstream streams[2]) {
  CUmodule modules[2];
  CUfunction functions[2];
  CUlibrary library;
  CUkernel kernel;
  CUdeviceptr variable[2];
  CUcontext found;
  CUgreenCtx part;
  size_t bytes;
  for (int i = 0; i < 2; i++) {
    CALL(cuCtxSetCurrent, contexts[i]);
    CALL(cuMemAlloc, &memory[i], 64);
    CALL(cuStreamCreate, &streams[i], CU_STREAM_NON_BLOCKING);
    CALL(cuModuleLoadData, &modules[i], KERNELS);
    CALL(cuModuleGetFunction, &functions[i], modules[i], "store");
    CALL(cuModuleGetGlobal, &variable[i], &bytes, modules[i], "number");
    for (int times = 0; times <= i; times++) one_store(functions[i], memory[i], streams[i]);
    CALL(cuStreamGetCtx, streams[i], &found);
    HOLDS(found == contexts[i]);
    CALL(cuStreamGetCtx_v2, streams[i], &found, &part);
    HOLDS(found == contexts[i] && part == NULL);
    CALL(cuPointerGetAttribute, &found, CU_POINTER_ATTRIBUTE_CONTEXT, memory[0]);
    HOLDS(found == contexts[0]);
    CALL(cuCtxSynchronize);
    HOLDS(read(variable[i]) == 6u + i);
  }
  void *arguments[] = {&memory[1]};
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel, functions[1], 1, 1, 1, 1, 1, 1, 0, streams[0], arguments, 0);
  CALL(cuLibraryLoadData, &library, KERNELS, 0, 0, 0, 0, 0, 0);
  CALL(cuLibraryGetKernel, &kernel, library, "store");
  CALL(cuCtxSetCurrent, contexts[0]);
  for (int i = 0; i < 2; i++) {
    one_store((CUfunction)kernel, memory[i], streams[i]);
    CALL(cuStreamSynchronize, streams[i]);
    HOLDS(read(memory[i]) == 6);
  }
}

static void copy(CUdeviceptr memory[2]) {
  unsigned value = 9;
  CALL(cuCtxSetCurrent, contexts[0]);
  CALL(cuMemcpyHtoD, memory[0], &value, 4);
  CALL(cuMemcpyPeer, memory[1], contexts[1], memory[0], contexts[0], 4);
  HOLDS(read(memory[1]) == 9);
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyPeer, memory[1], (CUcontext)1, memory[0], contexts[0], 4);
  CUDA_MEMCPY3D_PEER what = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory[0], .srcContext = contexts[0],
                             .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = memory[1], .dstContext = contexts[1],
                             .srcPitch = 4, .srcHeight = 1, .dstPitch = 4, .dstHeight = 1,
                             .WidthInBytes = 4, .Height = 1, .Depth = 1};
  CALL(cuMemsetD32, memory[0], 11, 1);
  CALL(cuMemcpy3DPeer, &what);
  HOLDS(read(memory[1]) == 11);
}

// Who may use what is mapped is said for each GPU.
static void map(CUstream streams[2], int is_left_out) {
  CUmemAllocationProp what = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
  CUmemAccessDesc who[2] = {{{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                            {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
  size_t piece, before, here, there, total;
  CUmemGenericAllocationHandle handle;
  CUdeviceptr begin;
  CUmodule module;
  CUfunction function;
  unsigned long long flags;
  CALL(cuCtxSetCurrent, contexts[1]);
  CALL(cuMemGetInfo, &before, &total);
  CALL(cuMemGetAllocationGranularity, &piece, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  CALL(cuMemCreate, &handle, piece, &what, 0);
  CALL(cuMemGetInfo, &there, &total);
  HOLDS(before - there == piece);
  CALL(cuMemAddressReserve, &begin, piece, 0, 0, 0);
  CALL(cuMemMap, begin, piece, 0, handle, 0);
  CALL(cuMemSetAccess, begin, piece, who, is_left_out ? 1 : 2);
  CALL(cuMemGetAccess, &flags, &who[1].location, begin);
  HOLDS(flags == (is_left_out ? 0 : CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  CALL(cuCtxSetCurrent, contexts[0]);
  CALL(cuMemGetInfo, &here, &total);
  CALL(cuModuleLoadData, &module, KERNELS);
  CALL(cuModuleGetFunction, &function, module, "store");
  one_store(function, begin, streams[0]);
}

static void pools(CUstream streams[2]) {
  CUmemoryPool first, second, own, used;
  CUmemPoolProps what = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
  CUmemAccess_flags flags;
  CUdeviceptr place;
  int device = -1;
  CALL(cuDeviceGetDefaultMemPool, &first, 0);
  CALL(cuDeviceGetDefaultMemPool, &second, 1);
  HOLDS(first != second);
  CALL(cuMemPoolCreate, &own, &what);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceSetMemPool, 0, own);
  CALL(cuDeviceSetMemPool, 1, own);
  CALL(cuDeviceGetMemPool, &used, 1);
  HOLDS(used == own);
  CUmemAccessDesc of_zero = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CALL(cuMemPoolGetAccess, &flags, own, &of_zero.location);
  HOLDS(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
  CALL(cuMemPoolSetAccess, own, &of_zero, 1);
  CALL(cuMemPoolGetAccess, &flags, own, &of_zero.location);
  HOLDS(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  // It is of the stream's GPU, whichever is current.
  CALL(cuCtxSetCurrent, contexts[0]);
  CALL(cuMemAllocAsync, &place, 64, streams[1]);
  CALL(cuPointerGetAttribute, &device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, place);
  HOLDS(device == 1);
  CALL(cuMemFreeAsync, place, streams[1]);
}

int main(int count, char **words) {
  const char *left_out = count > 1 ? words[1] : "";
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) { printf("%s\n", dlerror()); return 4; }
  CUdeviceptr memory[2];
  CUstream streams[2];
  CALL(cuInit, 0);
  // A pool names its GPU: the thread needs no context.
  CUmemoryPool own;
  cuuint64_t kept = 1 << 20;
  CALL(cuDeviceGetDefaultMemPool, &own, 0);
  CALL(cuMemPoolSetAttribute, own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept);
  have_contexts();
  run(memory, streams);
  copy(memory);
  CALL(cuCtxSetCurrent, contexts[0]);
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess, contexts[0], 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxEnablePeerAccess, contexts[1], 1);
  CALL(cuCtxEnablePeerAccess, contexts[1], 0);
  GIVES(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess, contexts[1], 0);
  CALL(cuCtxDisablePeerAccess, contexts[1]);
  GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess, contexts[1]);
  pools(streams);
  map(streams, !strcmp(left_out, "access"));
  printf("right\n");
  return 0;
}
