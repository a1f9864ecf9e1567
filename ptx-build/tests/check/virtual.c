// Virtual memory on the functions of the driver: an array that grows, out of pieces that are mapped side by side.
#include "calls.h"
#include <string.h>

static const char *const STORE =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry store(.param .u64 to, .param .u64 at) {\n"
    "  .reg .b64 %p, %at;\n"
    "  ld.param.u64 %p, [to];\n  ld.param.u64 %at, [at];\n  add.u64 %p, %p, %at;\n  st.global.u32 [%p], 7;\n  ret;\n}\n";

int main(int count, char **words) {
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) { printf("%s\n", dlerror()); return 4; }
  CUcontext context;
  CUmodule module;
  CUfunction function;
  int supported = 0;
  CALL(cuInit, 0);
  CALL(cuDeviceGetAttribute, &supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0);
  HOLDS(supported);
  CALL(cuDevicePrimaryCtxRetain, &context, 0);
  CALL(cuCtxSetCurrent, context);
  CALL(cuModuleLoadData, &module, STORE);
  CALL(cuModuleGetFunction, &function, module, "store");

  CUmemAllocationProp what = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}, told;
  CUmemAccessDesc all = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemAccessDesc none = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, .flags = CU_MEM_ACCESS_FLAGS_PROT_NONE};
  size_t piece, free_before, free_now, total;
  CUmemGenericAllocationHandle pieces[3], again;
  CUdeviceptr begin, other;
  CALL(cuMemGetInfo, &free_before, &total);
  CALL(cuMemGetAllocationGranularity, &piece, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve, &begin, piece + 1, 0, 0, 0);
  CALL(cuMemAddressReserve, &begin, 4 * piece, 0, 0, 0);
  CALL(cuMemAddressReserve, &other, piece, 8 * piece, 0, 0);
  HOLDS(begin % piece == 0 && other % (8 * piece) == 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate, &pieces[0], 1000, &what, 0);
  for (int i = 0; i < 3; i++) CALL(cuMemCreate, &pieces[i], piece, &what, 0);
  CALL(cuMemGetInfo, &free_now, &total);
  HOLDS(free_before - free_now == 3 * piece);
  CALL(cuMemGetAllocationPropertiesFromHandle, &told, pieces[0]);
  HOLDS(memcmp(&told, &what, sizeof what) == 0);

  // Two pieces side by side are one array.
  CALL(cuMemMap, begin, piece, 0, pieces[0], 0);
  CALL(cuMemMap, begin + piece, piece, 0, pieces[1], 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap, begin + piece, piece, 0, pieces[2], 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap, begin + (1ull << 44), piece, 0, pieces[2], 0);
  GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemMap, begin + 2 * piece, piece, 16, pieces[2], 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess, begin, 3 * piece, &all, 1);
  CALL(cuMemSetAccess, begin, 2 * piece, &all, 1);
  unsigned long long flags = 9;
  CALL(cuMemGetAccess, &flags, &all.location, begin + 100);
  HOLDS(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  size_t at[] = {0, 2 * piece - 4, 2 * piece, 3 * piece};
  unsigned found = 0;
#define STORES(where)                                                                                    \
  do {                                                                                                   \
    size_t at_ = where;                                                                                  \
    void *arguments[] = {&begin, &at_};                                                                  \
    CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0);                                \
  } while (0)
  STORES(at[0]);
  STORES(at[1]);
  CALL(cuMemcpyDtoH, &found, begin + at[1], 4);
  HOLDS(found == 7);

  // It grows.
  CALL(cuMemMap, begin + 2 * piece, piece, 0, pieces[2], 0);
  CALL(cuMemSetAccess, begin + 2 * piece, piece, &all, 1);
  STORES(at[2]);
  if (count > 1 && !strcmp(words[1], "long")) STORES(at[3]);

  // A piece keeps its content, wherever it is mapped.
  CALL(cuMemRetainAllocationHandle, &again, (void *)(begin + piece + 64));
  HOLDS(again == pieces[1]);
  CALL(cuMemRelease, again);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap, begin + piece, piece / 2);
  CALL(cuMemUnmap, begin + piece, piece);
  CALL(cuMemMap, other, piece, 0, pieces[1], 0);
  CALL(cuMemSetAccess, other, piece, &all, 1);
  found = 0;
  CALL(cuMemcpyDtoH, &found, other + piece - 4, 4);
  HOLDS(found == 7);
  if (count > 1 && !strcmp(words[1], "hole")) STORES(at[1]);
  CALL(cuMemSetAccess, begin, piece, &none, 1);
  if (count > 1 && !strcmp(words[1], "closed")) STORES(at[0]);

  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree, begin, 4 * piece);
  for (int i = 0; i < 3; i++) CALL(cuMemRelease, pieces[i]);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate, &pieces[0], 0, &what, 0);
  CALL(cuMemUnmap, begin, piece);
  CALL(cuMemUnmap, begin + 2 * piece, piece);
  CALL(cuMemUnmap, other, piece);
  CALL(cuMemAddressFree, begin, 4 * piece);
  CALL(cuMemAddressFree, other, piece);
  CALL(cuMemGetInfo, &free_now, &total);
  HOLDS(free_now == free_before);
  printf("right\n");
  return 0;
}
