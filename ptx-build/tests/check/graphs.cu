// Graphs: captured from streams, made node by node, launched many times and changed in between.
#include <cstdio>
#include <cstring>

__device__ int factor = 2;

__global__ void add(int *numbers, int n, int more) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] += more;
}

__global__ void multiply(int *numbers, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] *= factor;
}

__global__ void sum(const int *one, const int *other, int *sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[i] = one[i] + other[i];
}

#define OK(call)                                                                            \
  do {                                                                                      \
    cudaError_t error = (call);                                                             \
    if (error) { printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error)); return 3; } \
  } while (0)
#define HOLDS(what)                                            \
  do {                                                         \
    if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 5; } \
  } while (0)

static const int N = 100;
static int host[N], back[N], *one, *other, *sums;
static cudaStream_t stream, side;
static cudaEvent_t fork_event, join_event;
static int calls;

static void count(void *by) { calls += *(int *)by; }

static bool all(int first, int step) {
  for (int i = 0; i < N; i++)
    if (back[i] != first + step * i) return false;
  return true;
}

// Numbers go to the GPU, grow in one stream and are multiplied in another, and their sums come back. The other stream is destroyed once it is joined.
static cudaError_t capture(cudaGraph_t *graph, int more, int length, cudaStreamCaptureMode mode) {
  cudaStream_t branch;
  cudaStreamCreate(&branch);
  cudaStreamBeginCapture(stream, mode);
  cudaMemcpyAsync(one, host, sizeof host, cudaMemcpyHostToDevice, stream);
  cudaMemcpyAsync(other, one, sizeof host, cudaMemcpyDeviceToDevice, stream);
  cudaEventRecord(fork_event, stream);
  cudaStreamWaitEvent(branch, fork_event);
  add<<<2, 64, 0, stream>>>(one, length, more);
  multiply<<<2, 64, 0, branch>>>(other, N);
  cudaEventRecord(join_event, branch);
  cudaStreamWaitEvent(stream, join_event);
  cudaStreamDestroy(branch);
  sum<<<2, 64, 0, stream>>>(one, other, sums, N);
  cudaMemcpyAsync(back, sums, sizeof back, cudaMemcpyDeviceToHost, stream);
  return cudaStreamEndCapture(stream, graph);
}

// As a server of a language model does it: captured again before each launch, and updated or made anew.
static int captured() {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  size_t count = 0, edges = 0;
  OK(capture(&graph, 5, N, cudaStreamCaptureModeRelaxed));
  HOLDS(all(0, 0));
  OK(cudaGraphGetNodes(graph, nullptr, &count));
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  HOLDS(count == 6 && edges == 6);
  OK(cudaGraphInstantiate(&executable, graph, 0));
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < N; i++) host[i] = i + round;
    OK(cudaGraphLaunch(executable, round % 2 ? side : stream));
    OK(cudaStreamSynchronize(stream));
    HOLDS(all(3 * round + 5, 3));
  }
  // The same form with another number.
  cudaGraph_t again;
  cudaGraphExecUpdateResultInfo info;
  OK(capture(&again, 7, N, cudaStreamCaptureModeThreadLocal));
  OK(cudaGraphExecUpdate(executable, again, &info));
  OK(cudaGraphLaunch(executable, stream));
  HOLDS(info.result == cudaGraphExecUpdateSuccess && all(3 * 19 + 7, 3));
  // One node of it is changed by hand.
  cudaGraphNode_t nodes[8];
  count = 8;
  OK(cudaGraphGetNodes(graph, nodes, &count));
  for (size_t at = 0; at < count; at++) {
    cudaGraphNodeType type;
    cudaKernelNodeParams kernel = {};
    OK(cudaGraphNodeGetType(nodes[at], &type));
    if (type != cudaGraphNodeTypeKernel) continue;
    OK(cudaGraphKernelNodeGetParams(nodes[at], &kernel));
    if (kernel.func != (void *)add) continue;
    HOLDS(kernel.gridDim.x == 2 && kernel.blockDim.x == 64 && *(int *)kernel.kernelParams[2] == 5);
    int more = 9;
    kernel.kernelParams[2] = &more;
    OK(cudaGraphExecKernelNodeSetParams(executable, nodes[at], &kernel));
    OK(cudaGraphLaunch(executable, stream));
    HOLDS(all(3 * 19 + 9, 3));
    OK(cudaGraphNodeSetEnabled(executable, nodes[at], 0));
    OK(cudaGraphLaunch(executable, stream));
    HOLDS(all(3 * 19, 3));
  }
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(again));
  OK(cudaGraphDestroy(graph));
  return 0;
}

static int made() {
  cudaGraph_t graph, copy, parent;
  cudaGraphExec_t executable;
  cudaGraphNode_t in, fill, box, kernel, symbol, out, called, empty, recorded, waited, child, found;
  cudaEvent_t event;
  OK(cudaEventCreate(&event));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, one, host, sizeof host, cudaMemcpyHostToDevice));
  cudaMemsetParams filled = {};
  filled.dst = other;
  filled.elementSize = 4;
  filled.value = 1000;
  filled.width = N;
  filled.height = 1;
  OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &filled));
  // The first four numbers, as two rows of two, replace what was filled.
  cudaMemcpy3DParms rows = {};
  rows.srcPtr = make_cudaPitchedPtr(one, 8, 2, 2);
  rows.dstPtr = make_cudaPitchedPtr(other, 8, 2, 2);
  rows.extent = make_cudaExtent(8, 2, 1);
  rows.kind = cudaMemcpyDeviceToDevice;
  OK(cudaGraphAddMemcpyNode(&box, graph, &in, 1, &rows));
  OK(cudaGraphAddDependencies(graph, &fill, &box, nullptr, 1));
  int three = 3, n = N;
  OK(cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, nullptr, 0, factor, &three, sizeof three, 0, cudaMemcpyHostToDevice));
  void *arguments[] = {&one, &n};
  cudaKernelNodeParams launched = {};
  launched.func = (void *)multiply;
  launched.gridDim = dim3(2);
  launched.blockDim = dim3(64);
  launched.kernelParams = arguments;
  cudaGraphNode_t before[] = {box, symbol};
  OK(cudaGraphAddKernelNode(&kernel, graph, before, 2, &launched));
  void *more[] = {&one, &other, &sums, &n};
  launched.func = (void *)sum;
  launched.kernelParams = more;
  cudaGraphNode_t second;
  OK(cudaGraphAddKernelNode(&second, graph, &kernel, 1, &launched));
  OK(cudaGraphAddMemcpyNode1D(&out, graph, &second, 1, back, sums, sizeof back, cudaMemcpyDeviceToHost));
  int by = 10;
  cudaHostNodeParams function = {count, &by};
  OK(cudaGraphAddHostNode(&called, graph, &out, 1, &function));
  OK(cudaGraphAddEmptyNode(&empty, graph, &called, 1));
  OK(cudaGraphAddEventRecordNode(&recorded, graph, &empty, 1, event));
  OK(cudaGraphAddEventWaitNode(&waited, graph, &recorded, 1, event));
  size_t roots = 0;
  OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  HOLDS(roots == 3);

  OK(cudaGraphClone(&copy, graph));
  OK(cudaGraphNodeFindInClone(&found, kernel, copy));
  OK(cudaGraphCreate(&parent, 0));
  OK(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, copy));
  OK(cudaGraphDestroy(copy));
  OK(cudaGraphInstantiate(&executable, parent, 0));
  for (int i = 0; i < N; i++) host[i] = i;
  calls = 0;
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaEventSynchronize(event));
  HOLDS(calls == 20);
  for (int i = 0; i < N; i++) HOLDS(back[i] == (i < 4 ? 4 * i : 3 * i + 1000));
  // The copy of the child is changed as a whole.
  filled.value = 500;
  OK(cudaGraphMemsetNodeSetParams(fill, &filled));
  OK(cudaGraphExecChildGraphNodeSetParams(executable, child, graph));
  OK(cudaGraphLaunch(executable, stream));
  HOLDS(back[50] == 650);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(parent));
  OK(cudaGraphDestroy(graph));
  return 0;
}

static unsigned long long of_graphs(cudaGraphMemAttributeType which) {
  unsigned long long bytes = 0;
  return cudaDeviceGetGraphMemAttribute(0, which, &bytes) ? ~0ull : bytes;
}

// Memory that the graph allocates and frees each time. What its pointer is can be asked before.
static int allocated() {
  cudaPointerAttributes known;
  unsigned long long none = 0;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  int *own;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMallocAsync(&own, sizeof host, stream));
  OK(cudaPointerGetAttributes(&known, own));
  HOLDS(known.type == cudaMemoryTypeDevice && known.devicePointer == own);
  OK(cudaMemsetAsync(own, 0, sizeof host, stream));
  add<<<2, 64, 0, stream>>>(own, N, 4);
  OK(cudaMemcpyAsync(back, own, sizeof back, cudaMemcpyDeviceToHost, stream));
  OK(cudaFreeAsync(own, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&executable, graph, 0));
  for (int round = 0; round < 3; round++) {
    memset(back, 0, sizeof back);
    OK(cudaGraphLaunch(executable, stream));
    HOLDS(all(4, 0));
  }
  HOLDS(of_graphs(cudaGraphMemAttrUsedMemCurrent) == 0 && of_graphs(cudaGraphMemAttrUsedMemHigh) >= sizeof host);
  HOLDS(of_graphs(cudaGraphMemAttrReservedMemCurrent) >= sizeof host);
  OK(cudaDeviceGraphMemTrim(0));
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &none));
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &none));
  HOLDS(of_graphs(cudaGraphMemAttrUsedMemHigh) == 0 && of_graphs(cudaGraphMemAttrReservedMemHigh) == 0);
  HOLDS(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &none) == cudaErrorInvalidValue);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  return 0;
}

int main(int count, char **words) {
  const char *word = count > 1 ? words[1] : "";
  OK(cudaMalloc(&one, sizeof host));
  OK(cudaMalloc(&other, sizeof host));
  OK(cudaMalloc(&sums, sizeof host));
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreate(&side));
  OK(cudaEventCreate(&fork_event));
  OK(cudaEventCreate(&join_event));
  if (!strcmp(word, "long")) {
    // Beyond the end, in a launch from a graph.
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    OK(capture(&graph, 1, N + 1, cudaStreamCaptureModeGlobal));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, stream));
    printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(stream)));
    return 0;
  }
  int result = captured();
  if (!result) result = made();
  if (!result) result = allocated();
  printf("%s\n", result ? "wrong" : "right");
  return result;
}
