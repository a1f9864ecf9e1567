// What calls of the runtime and of the driver return that are wrong, or nearly so. `mistakes.txt` is what an H100 said.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void add(int *numbers, int more) { if (numbers) numbers[threadIdx.x] += more; }
__device__ int symbol[16];
__constant__ int fixed[4];

static sigjmp_buf back;
static void crashed(int) { siglongjmp(back, 1); }
static void nothing(void *) {}

// The call, what it returns, and what the runtime remembers.
#define SAYS(call)                                                        \
  do {                                                                    \
    if (sigsetjmp(back, 1)) { printf("%s: crashes\n", #call); break; }    \
    int returned = (int)(call), last = (int)cudaGetLastError();           \
    printf("%s: %d %d\n", #call, returned, last);                         \
  } while (0)

template <typename F> static F *find(const char *name) {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion(name, &found, 13000, cudaEnableDefault, &result);
  return (F *)found;
}

static char *p, *q, *pinned, *managed, host[1 << 16];
static void *place;
static size_t size;
static int number, more = 1, *pointer;
static void *arguments[] = {&pointer, &more};
static cudaStream_t one, two;
static cudaEvent_t event;

static void memory() {
  SAYS(cudaPeekAtLastError());
  SAYS(cudaMalloc((void **)&p, 4096));
  SAYS(cudaMalloc((void **)&q, 4096));
  SAYS(cudaMalloc(&place, 0));
  printf("%d\n", place == nullptr);
  SAYS(cudaMalloc(&place, 1ull << 60));
  SAYS(cudaMalloc(nullptr, 16));
  SAYS(cudaFree(nullptr));
  SAYS(cudaFree(p + 16));
  SAYS(cudaFree(host));
  SAYS(cudaMallocHost((void **)&pinned, 4096));
  SAYS(cudaFree(pinned));
  SAYS(cudaFreeHost(p));
  SAYS(cudaFreeHost(nullptr));
  SAYS(cudaFreeHost(host));
  SAYS(cudaMallocManaged((void **)&managed, 4096));
  SAYS(cudaMallocManaged((void **)&place, 0));
  SAYS(cudaMallocManaged((void **)&place, 16, 0));
  SAYS(cudaMallocManaged((void **)&place, 16, 3));
  SAYS(cudaHostRegister(host, 4096, 0));
  SAYS(cudaHostRegister(host, 4096, 0));
  SAYS(cudaHostRegister(host + 2048, 4096, 0));
  SAYS(cudaHostUnregister(host + 64));
  SAYS(cudaHostUnregister(host));
  SAYS(cudaHostUnregister(host));
  SAYS(cudaHostGetDevicePointer(&place, host, 0));
  SAYS(cudaHostGetDevicePointer(&place, pinned, 0));
  SAYS(cudaHostGetFlags((unsigned *)&number, pinned));
  SAYS(cudaHostGetFlags((unsigned *)&number, host));
}

static void copies() {
  SAYS(cudaMemcpy(p, host, 4097, cudaMemcpyHostToDevice));
  SAYS(cudaMemcpy(p + 4000, host, 97, cudaMemcpyHostToDevice));
  SAYS(cudaMemcpy(host, p, 100, cudaMemcpyHostToDevice));
  SAYS(cudaMemcpy(p, host, 100, cudaMemcpyDeviceToHost));
  SAYS(cudaMemcpy(p, q, 100, cudaMemcpyHostToDevice));
  SAYS(cudaMemcpy(host, host + 200, 100, cudaMemcpyDeviceToDevice));
  SAYS(cudaMemcpy(host, host + 200, 100, cudaMemcpyHostToHost));
  SAYS(cudaMemcpy(p, q, 100, cudaMemcpyHostToHost));
  SAYS(cudaMemcpy(pinned, p, 100, cudaMemcpyHostToDevice));
  SAYS(cudaMemcpy(p, pinned, 100, cudaMemcpyDeviceToDevice));
  SAYS(cudaMemcpy(p, host, 100, cudaMemcpyDefault));
  SAYS(cudaMemcpy(p, host, 100, (cudaMemcpyKind)7));
  SAYS(cudaMemcpy(nullptr, host, 100, cudaMemcpyHostToDevice));
  SAYS(cudaMemcpy(nullptr, host, 0, cudaMemcpyHostToDevice));
  SAYS(cudaMemcpy(p, nullptr, 0, cudaMemcpyHostToDevice));
  SAYS(cudaMemcpy2D(p, 16, host, 16, 32, 4, cudaMemcpyHostToDevice));
  SAYS(cudaMemcpy2D(p, 64, host, 64, 32, 65, cudaMemcpyHostToDevice));
  SAYS(cudaMemcpy2D(p, 64, host, 64, 0, 4, cudaMemcpyHostToDevice));
  SAYS(cudaMemset(p, 1, 4097));
  SAYS(cudaMemset(host, 1, 16));
  SAYS(cudaMemset(pinned, 1, 16));
  SAYS(cudaMemset(managed, 1, 16));
  SAYS(cudaMemset(nullptr, 1, 0));
  SAYS(cudaMemset(nullptr, 1, 16));
  SAYS(cudaMemset2D(p, 16, 1, 32, 4));
}

static void symbols() {
  SAYS(cudaMemcpyToSymbol(symbol, host, 65));
  SAYS(cudaMemcpyToSymbol(symbol, host, 60, 8));
  SAYS(cudaMemcpyToSymbol(symbol, host, 60, 4));
  SAYS(cudaMemcpyFromSymbol(host, fixed, 17));
  SAYS(cudaMemcpyToSymbol(host, host, 4));
  SAYS(cudaGetSymbolAddress(&place, host));
  SAYS(cudaGetSymbolSize(&size, symbol));
  printf("%zu\n", size);
  SAYS(cudaGetSymbolSize(&size, fixed));
  printf("%zu\n", size);
}

static void pointers() {
  cudaPointerAttributes a;
  for (void *at : {(void *)p, (void *)(p + 5), (void *)host, (void *)pinned, (void *)managed, (void *)nullptr,
                   (void *)(p + (1ull << 40))}) {
    SAYS(cudaPointerGetAttributes(&a, at));
    printf("type %d device %d %d %d\n", a.type, a.device, a.devicePointer == at, a.hostPointer == at);
  }
}

static void streams() {
  cudaEvent_t timed, untimed;
  float ms;
  SAYS(cudaStreamCreate(&one));
  SAYS(cudaStreamCreate(&two));
  SAYS(cudaStreamCreateWithFlags(&two, 2));
  SAYS(cudaStreamCreateWithFlags(&two, 7));
  SAYS(cudaStreamCreateWithFlags(nullptr, 0));
  SAYS(cudaEventCreate(&event));
  SAYS(cudaEventCreate(&timed));
  SAYS(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  SAYS(cudaEventCreateWithFlags(&untimed, 4));
  SAYS(cudaEventCreateWithFlags(&untimed, 64));
  SAYS(cudaEventCreateWithFlags(&untimed, 2));
  SAYS(cudaEventQuery(event));
  SAYS(cudaEventSynchronize(event));
  SAYS(cudaEventElapsedTime(&ms, event, timed));
  SAYS(cudaEventRecord(event, one));
  SAYS(cudaEventRecord(untimed, one));
  SAYS(cudaEventElapsedTime(&ms, event, timed));
  SAYS(cudaEventElapsedTime(&ms, event, untimed));
  SAYS(cudaEventRecord(nullptr, one));
  SAYS(cudaStreamWaitEvent(one, nullptr, 0));
  SAYS(cudaStreamWaitEvent(one, event, 7));
  SAYS(cudaStreamWaitEvent(one, timed, 0));
  SAYS(cudaEventRecordWithFlags(event, one, 7));
  SAYS(cudaEventDestroy(nullptr));
  SAYS(cudaStreamDestroy(nullptr));
  SAYS(cudaStreamDestroy(cudaStreamLegacy));
  SAYS(cudaStreamDestroy(cudaStreamPerThread));
  SAYS(cudaStreamSynchronize(cudaStreamPerThread));
  SAYS(cudaStreamGetPriority(one, &number));
  printf("%d\n", number);
  SAYS(cudaStreamCreateWithPriority(&two, 0, -100));
  SAYS(cudaStreamGetPriority(two, &number));
  printf("%d\n", number);
  SAYS(cudaStreamCreateWithPriority(&two, 0, 100));
  SAYS(cudaStreamGetPriority(two, &number));
  printf("%d\n", number);
  SAYS(cudaLaunchHostFunc(one, nullptr, nullptr));
  SAYS(cudaLaunchHostFunc(one, nothing, nullptr));
  SAYS(cudaStreamAddCallback(one, nullptr, nullptr, 0));
}

static void devices() {
  SAYS(cudaSetDevice(1));
  SAYS(cudaSetDevice(-1));
  SAYS(cudaGetDevice(nullptr));
  SAYS(cudaDeviceGetAttribute(&number, (cudaDeviceAttr)-1, 0));
  SAYS(cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 5));
  SAYS(cudaDeviceCanAccessPeer(&number, 0, 0));
  printf("%d\n", number);
  SAYS(cudaDeviceCanAccessPeer(&number, 0, 1));
  SAYS(cudaDeviceEnablePeerAccess(0, 0));
  SAYS(cudaDeviceEnablePeerAccess(1, 0));
  SAYS(cudaDeviceDisablePeerAccess(0));
  SAYS(cudaDeviceSetLimit(cudaLimitStackSize, 1000));
  SAYS(cudaDeviceGetLimit(&size, cudaLimitStackSize));
  printf("%zu\n", size);
  SAYS(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20));
  SAYS(cudaDeviceGetLimit(&size, cudaLimitStackSize));
  printf("%zu\n", size);
  SAYS(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1000));
  SAYS(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
  printf("%zu\n", size);
  SAYS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 10));
  SAYS(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
  printf("%zu\n", size);
  SAYS(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 100));
  SAYS(cudaDeviceGetLimit(&size, cudaLimitMaxL2FetchGranularity));
  printf("%zu\n", size);
  SAYS(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20));
  SAYS(cudaDeviceGetLimit(&size, cudaLimitPersistingL2CacheSize));
  printf("%zu\n", size);
  SAYS(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1ull << 40));
  SAYS(cudaDeviceGetLimit(&size, cudaLimitPersistingL2CacheSize));
  printf("%zu\n", size);
  SAYS(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 3));
  SAYS(cudaDeviceSetLimit((cudaLimit)99, 3));
}

static void pools() {
  cudaMemPool_t pool;
  SAYS(cudaMallocAsync(&place, 4096, one));
  SAYS(cudaFreeAsync(place, one));
  SAYS(cudaFreeAsync(place, one));
  SAYS(cudaFreeAsync(p + 16, one));
  SAYS(cudaFreeAsync(nullptr, one));
  SAYS(cudaMallocAsync(&place, 0, one));
  printf("%d\n", place == nullptr);
  SAYS(cudaMallocAsync(&place, 4096, one));
  SAYS(cudaFree(place));
  SAYS(cudaFreeAsync(q, one));
  SAYS(cudaStreamSynchronize(one));
  SAYS(cudaDeviceGetDefaultMemPool(&pool, 0));
  SAYS(cudaMemPoolDestroy(pool));
  SAYS(cudaMemPoolTrimTo(pool, 0));
  SAYS(cudaMemPrefetchAsync(p, 16, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, one));
  SAYS(cudaMemPrefetchAsync(managed, 16, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, one));
  SAYS(cudaMemPrefetchAsync(managed, 4097, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, one));
  SAYS(cudaMemPrefetchAsync(managed, 16, cudaMemLocation{cudaMemLocationTypeDevice, 3}, 0, one));
  SAYS(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
  SAYS(cudaMemAdvise(p, 4096, cudaMemAdviseSetReadMostly, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
  SAYS(cudaMallocPitch(&place, &size, 100, 10));
  printf("%zu\n", size);
  SAYS(cudaMallocPitch(&place, &size, 1025, 10));
  printf("%zu\n", size);
  SAYS(cudaMallocPitch(&place, &size, 0, 10));
}

static void functions() {
  pointer = (int *)p;
  cudaFuncAttributes f;
  SAYS(cudaFuncSetAttribute((void *)host, cudaFuncAttributeMaxDynamicSharedMemorySize, 16));
  SAYS(cudaFuncSetAttribute(add, (cudaFuncAttribute)1, 16));
  SAYS(cudaFuncGetAttributes(&f, (void *)host));
  SAYS(cudaFuncSetCacheConfig((void *)add, (cudaFuncCache)9));
  SAYS(cudaLaunchKernel((void *)host, 1, 1, arguments, 0, 0));
  SAYS(cudaLaunchKernel((void *)add, 1, 1, arguments, 0, one));
  SAYS(cudaLaunchKernel(nullptr, 1, 1, arguments, 0, 0));
}

static void graphs() {
  cudaGraph_t graph, clone, kinds[2];
  cudaGraphNode_t node, second, third;
  cudaGraphExec_t exec = nullptr;
  cudaGraphExecUpdateResultInfo info;
  cudaKernelNodeParams kernel = {};
  cudaMemsetParams fill = {};
  SAYS(cudaGraphCreate(&graph, 1));
  SAYS(cudaGraphCreate(&graph, 0));
  SAYS(cudaGraphInstantiate(&exec, graph, 0));
  SAYS(cudaGraphLaunch(exec, one));
  SAYS(cudaGraphLaunch(nullptr, one));
  SAYS(cudaGraphAddEmptyNode(&node, graph, nullptr, 1));
  SAYS(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  SAYS(cudaGraphInstantiate(&exec, graph, 1ull << 40));
  SAYS(cudaGraphInstantiate(&exec, graph, 0));
  SAYS(cudaGraphClone(&clone, graph));
  SAYS(cudaGraphNodeFindInClone(&second, node, clone));
  SAYS(cudaGraphNodeFindInClone(&second, node, graph));
  SAYS(cudaGraphDestroyNode(node));
  SAYS(cudaGraphDestroy(nullptr));
  SAYS(cudaGraphExecDestroy(nullptr));
  kernel.func = (void *)add;
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  for (auto &g : kinds) cudaGraphCreate(&g, 0);
  SAYS(cudaGraphAddKernelNode(&node, kinds[0], nullptr, 0, &kernel));
  SAYS(cudaGraphAddEmptyNode(&second, kinds[1], nullptr, 0));
  SAYS(cudaGraphInstantiate(&exec, kinds[0], 0));
  SAYS(cudaGraphExecUpdate(exec, kinds[1], &info));
  printf("result %d, node %d %d, from %d %d\n", info.result, info.errorNode == second, info.errorNode == nullptr,
         info.errorFromNode == node, info.errorFromNode == nullptr);
  SAYS(cudaGraphAddKernelNode(&third, kinds[1], &second, 1, &kernel));
  SAYS(cudaGraphExecUpdate(exec, kinds[1], &info));
  printf("result %d, node %d %d %d, from %d %d\n", info.result, info.errorNode == second, info.errorNode == third,
         info.errorNode == nullptr, info.errorFromNode == node, info.errorFromNode == nullptr);
  SAYS(cudaGraphExecUpdate(exec, graph, &info));
  printf("result %d, node %d, from %d %d\n", info.result, info.errorNode == nullptr, info.errorFromNode == node, info.errorFromNode == nullptr);
  kernel.func = (void *)host;
  SAYS(cudaGraphAddKernelNode(&node, kinds[0], nullptr, 0, &kernel));
  kernel.func = nullptr;
  SAYS(cudaGraphAddKernelNode(&node, kinds[0], nullptr, 0, &kernel));
  fill.dst = p;
  fill.elementSize = 3;
  fill.width = 4;
  fill.height = 1;
  SAYS(cudaGraphAddMemsetNode(&node, kinds[0], nullptr, 0, &fill));
}

static void modules() {
  auto load = find<decltype(cuModuleLoadData)>("cuModuleLoadData");
  auto get = find<decltype(cuModuleGetFunction)>("cuModuleGetFunction");
  auto global = find<decltype(cuModuleGetGlobal)>("cuModuleGetGlobal");
  auto launch = find<decltype(cuLaunchKernel)>("cuLaunchKernel");
  CUmodule module;
  CUfunction function = nullptr;
  CUdeviceptr at;
  SAYS(load(&module, "nonsense"));
  SAYS(load(&module, ".version 8.0\n.target sm_100\n.address_size 64\n.visible .entry a() { ret; }\n"));
  SAYS(load(&module, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .b32 x[4];\n.visible .entry a(.param .u64 p) { ret; }\n"));
  SAYS(get(&function, module, "b"));
  SAYS(get(&function, module, "a"));
  SAYS(global(&at, &size, module, "x"));
  printf("%zu\n", size);
  SAYS(global(&at, &size, module, "y"));
  SAYS(launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  SAYS(launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  SAYS(launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  SAYS(launch(function, 0, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  SAYS(launch(function, 1, 1, 1, 2000, 1, 1, 0, nullptr, arguments, nullptr));
  SAYS(launch(function, 1, 1, 1, 1, 1, 1, 100000, nullptr, arguments, nullptr));
}

static void ends() {
  SAYS(cudaDeviceSynchronize());
  SAYS(cudaStreamDestroy(one));
  SAYS(cudaEventDestroy(event));
  SAYS(cudaFree(p));
  SAYS(cudaFree(p));
  SAYS(cudaFreeHost(pinned));
  SAYS(cudaFreeHost(pinned));
  SAYS(cudaDeviceReset());
}

int main() {
  signal(SIGSEGV, crashed);
  signal(SIGABRT, crashed);
  setvbuf(stdout, nullptr, _IONBF, 0);
  memory();
  copies();
  symbols();
  pointers();
  streams();
  devices();
  pools();
  functions();
  graphs();
  modules();
  ends();
  return 0;
}
