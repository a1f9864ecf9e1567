// One memory at two virtual addresses, on the functions of the driver.
#include "calls.h"
#include <string.h>

static const char *const PASS =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry store(.param .u64 to) {\n"
    "  .reg .b64 %p;\n  ld.param.u64 %p, [to];\n  st.global.u32 [%p], 7;\n  ret;\n}\n"
    ".visible .entry fenced(.param .u64 one, .param .u64 other) {\n"
    "  .reg .b64 %p, %q;\n  .reg .b32 %r;\n  ld.param.u64 %p, [one];\n  ld.param.u64 %q, [other];\n"
    "  ld.global.u32 %r, [%q];\n  add.u32 %r, %r, 1;\n  fence.proxy.alias;\n  st.global.u32 [%p], %r;\n"
    "  fence.proxy.alias;\n  st.global.u32 [%q+8], %r;\n  ret;\n}\n"
    ".visible .entry plain(.param .u64 one, .param .u64 other) {\n"
    "  .reg .b64 %p, %q;\n  .reg .b32 %r;\n  ld.param.u64 %p, [one];\n  ld.param.u64 %q, [other];\n"
    "  st.global.u32 [%p], 1;\n  ld.global.u32 %r, [%q];\n  st.global.u32 [%q+4], %r;\n  ret;\n}\n";

static CUstream streams[2];
static CUdeviceptr one, other;

static void launch(CUmodule module, const char *name, int stream, CUdeviceptr first) {
  CUfunction function;
  void *arguments[] = {&first, &other};
  CALL(cuModuleGetFunction, &function, module, name);
  CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, streams[stream], arguments, 0);
}

int main(int count, char **words) {
  const char *word = count > 1 ? words[1] : "";
  CUmodule module;
  CUmemAllocationProp what = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
  CUmemAccessDesc all = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUmemGenericAllocationHandle piece;
  size_t bytes;
  unsigned found[2] = {0};
  begin();
  CALL(cuModuleLoadData, &module, PASS);
  for (int i = 0; i < 2; i++) CALL(cuStreamCreate, &streams[i], CU_STREAM_NON_BLOCKING);
  CALL(cuMemGetAllocationGranularity, &bytes, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  CALL(cuMemAddressReserve, &one, bytes, 0, 0, 0);
  CALL(cuMemAddressReserve, &other, bytes, 0, 0, 0);
  CALL(cuMemCreate, &piece, bytes, &what, 0);
  CALL(cuMemMap, one, bytes, 0, piece, 0);
  CALL(cuMemMap, other, bytes, 0, piece, 0);
  CALL(cuMemSetAccess, one, bytes, &all, 1);
  CALL(cuMemSetAccess, other, bytes, &all, 1);

  // The end of a kernel is enough for the next one, whatever address that uses, and in every order of the threads.
  launch(module, "store", 0, one);
  if (!strcmp(word, "streams")) launch(module, "store", 1, other);
  launch(module, "fenced", 0, one);
  CALL(cuStreamSynchronize, streams[0]);
  CALL(cuMemcpyDtoH, found, other, 4);
  HOLDS(strcmp(word, "") || found[0] == 8);
  if (!strcmp(word, "plain")) launch(module, "plain", 0, one);
  CALL(cuCtxSynchronize);

  // One address less: the memory keeps what it has.
  CALL(cuMemUnmap, one, bytes);
  launch(module, "fenced", 0, other + 4);
  CALL(cuStreamSynchronize, streams[0]);
  CALL(cuMemcpyDtoH, found, other, 8);
  HOLDS(strcmp(word, "") || (found[0] == 8 && found[1] == 9));
  if (!strcmp(word, "closed")) launch(module, "store", 0, one);
  printf("right\n");
  return 0;
}
