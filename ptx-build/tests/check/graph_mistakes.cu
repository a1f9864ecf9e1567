// What cannot be done with graphs and while a stream captures. Each line has what was done, what that call returned, and what the
// end of the capture returned.
#include <cstdio>
#include <thread>

__global__ void add(int *numbers, int more) { numbers[threadIdx.x] += more; }

static int host[32], *numbers;
static cudaStream_t stream, side, free_stream;
static cudaEvent_t event, other;
static cudaGraph_t graph;

// Begins a capture, does something, and ends it.
template <typename F>
static void during(const char *what, F body, cudaStream_t of = nullptr, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  if (!of) of = stream;
  graph = nullptr;
  cudaStreamBeginCapture(of, mode);
  add<<<1, 32, 0, of>>>(numbers, 1);
  int result = body();
  int end = cudaStreamEndCapture(of, &graph);
  printf("%s: %d, %d%s\n", what, result, end, (end == 0) == (graph != nullptr) ? "" : ", and a graph");
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();
}

template <typename F>
static int in_thread(F body) {
  int result = -1;
  std::thread([&] { result = body(); }).join();
  return result;
}

static void callback(cudaStream_t, cudaError_t, void *) {}

static void captures() {
  void *place;
  during("nothing", [] { return 0; });
  during("cudaStreamSynchronize", [] { return cudaStreamSynchronize(stream); });
  during("cudaStreamQuery", [] { return cudaStreamQuery(stream); });
  during("cudaStreamSynchronize of another", [] { return cudaStreamSynchronize(side); });
  during("the same, relaxed", [] { return cudaStreamSynchronize(side); }, stream, cudaStreamCaptureModeRelaxed);
  during("cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); });
  during("the same, relaxed", [] { return cudaDeviceSynchronize(); }, stream, cudaStreamCaptureModeRelaxed);
  during("cudaMalloc", [&] { return cudaMalloc(&place, 16); });
  during("the same, of a thread", [&] { return cudaMalloc(&place, 16); }, stream, cudaStreamCaptureModeThreadLocal);
  during("the same, relaxed", [&] { return cudaMalloc(&place, 16); }, stream, cudaStreamCaptureModeRelaxed);
  during("the same, by another thread", [&] { return in_thread([&] { return cudaMalloc(&place, 16); }); });
  during("the same, of a thread, by another", [&] { return in_thread([&] { return cudaMalloc(&place, 16); }); }, stream,
         cudaStreamCaptureModeThreadLocal);
  during("the same, by a thread that may", [&] {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    int result = cudaMalloc(&place, 16);
    cudaThreadExchangeStreamCaptureMode(&mode);
    return result;
  });
  during("cudaMemcpy", [] { return cudaMemcpy(numbers, host, sizeof host, cudaMemcpyHostToDevice); });
  during("the legacy stream", [] { add<<<1, 32>>>(numbers, 1); return cudaGetLastError(); });
  during("the same, beside a stream that does not wait", [] { add<<<1, 32>>>(numbers, 1); return cudaGetLastError(); }, free_stream);
  during("cudaStreamIsCapturing of the legacy stream", [] { cudaStreamCaptureStatus status; return cudaStreamIsCapturing(0, &status); });
  during("cudaEventSynchronize", [] { cudaEventRecord(event, stream); return cudaEventSynchronize(event); });
  during("cudaEventQuery", [] { cudaEventRecord(event, stream); return cudaEventQuery(event); });
  during("cudaStreamWaitEvent of uncaptured work", [] { cudaEventRecord(other, side); return cudaStreamWaitEvent(stream, other); });
  during("the same, external", [] { return cudaStreamWaitEvent(stream, other, cudaEventWaitExternal); });
  during("cudaStreamAddCallback", [] { return cudaStreamAddCallback(stream, callback, nullptr, 0); });
  during("cudaGraphInstantiate", [] { cudaGraphExec_t made; cudaGraphCreate(&graph, 0); return cudaGraphInstantiate(&made, graph, 0); });
  during("a launch after a mistake", [&] { cudaMalloc(&place, 16); add<<<1, 32, 0, stream>>>(numbers, 1); return cudaGetLastError(); });
  during("another cudaStreamBeginCapture", [] { return cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); });
  during("a fork without a join", [] {
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(side, event);
    add<<<1, 32, 0, side>>>(numbers, 1);
    return cudaGetLastError();
  });
  during("a fork without work", [] { cudaEventRecord(event, stream); return cudaStreamWaitEvent(side, event); });
  during("an end in the wrong stream", [] {
    cudaGraph_t wrong;
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(side, event);
    return cudaStreamEndCapture(side, &wrong);
  });
  during("an end by the wrong thread", [] { return in_thread([] { cudaGraph_t wrong; return cudaStreamEndCapture(stream, &wrong); }); });
  during("two captures that meet", [] {
    cudaGraph_t wrong;
    cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal);
    cudaEventRecord(event, side);
    int result = cudaStreamWaitEvent(stream, event);
    cudaStreamEndCapture(side, &wrong);
    return result;
  });
  printf("cudaStreamBeginCapture of the legacy stream: %d\n", cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
  printf("in no mode: %d\n", cudaStreamBeginCapture(stream, (cudaStreamCaptureMode)3));
  printf("cudaStreamEndCapture alone: %d\n", cudaStreamEndCapture(stream, &graph));
}

static void graphs() {
  cudaGraphNode_t first, second, error, copy;
  cudaGraphExec_t executable, wrong;
  cudaGraphExecUpdateResultInfo info;
  cudaGraph_t longer;
  int more = 1;
  void *arguments[] = {&numbers, &more};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void *)add;
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel);
  cudaGraphAddEmptyNode(&second, graph, &first, 1);
  cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, numbers, host, 4, cudaMemcpyHostToDevice);
  printf("an edge twice: %d\n", cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
  cudaGraphNode_t twice[] = {first, first};
  printf("a node named twice: %d\n", cudaGraphAddEmptyNode(&error, graph, twice, 2));
  printf("no such edge: %d\n", cudaGraphRemoveDependencies(graph, &first, &copy, nullptr, 1));
  printf("a circle: %d, ", cudaGraphAddDependencies(graph, &second, &first, nullptr, 1));
  printf("%d\n", cudaGraphInstantiate(&wrong, graph, 0));
  cudaGraphRemoveDependencies(graph, &second, &first, nullptr, 1);
  cudaGraphInstantiate(&executable, graph, 0);
  printf("an empty node is disabled: %d\n", cudaGraphNodeSetEnabled(executable, second, 0));
  printf("a copy in another direction: %d\n",
         cudaGraphExecMemcpyNodeSetParams1D(executable, copy, host, numbers, 4, cudaMemcpyDeviceToHost));
  printf("a kernel for an empty node: %d\n", cudaGraphExecKernelNodeSetParams(executable, second, &kernel));
  cudaGraphClone(&longer, graph);
  cudaGraphAddEmptyNode(&error, longer, nullptr, 0);
  printf("a longer graph: %d, ", cudaGraphExecUpdate(executable, longer, &info));
  printf("%d %s\n", info.result, info.errorNode == error ? "at its last node" : "elsewhere");
  cudaGraphDestroy(longer);
  cudaGraphCreate(&longer, 0);
  cudaGraphAddEmptyNode(&error, longer, nullptr, 0);
  printf("another kind of node: %d, ", cudaGraphExecUpdate(executable, longer, &info));
  printf("%d\n", info.result);
  kernel.blockDim = dim3(2048);
  printf("too many threads: %d\n", cudaGraphAddKernelNode(&error, graph, nullptr, 0, &kernel));
  kernel.blockDim = dim3(32);
  kernel.sharedMemBytes = 1 << 20;
  printf("too much shared memory: %d\n", cudaGraphAddKernelNode(&error, graph, nullptr, 0, &kernel));
  cudaGraphExecDestroy(executable);
  printf("a launch of what is destroyed: %d\n", cudaGraphLaunch(executable, stream));
}

int main() {
  cudaMalloc(&numbers, sizeof host);
  cudaMemset(numbers, 0, sizeof host);
  cudaStreamCreate(&stream);
  cudaStreamCreate(&side);
  cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  cudaEventCreate(&other);
  cudaEventRecord(other, side);
  captures();
  graphs();
  add<<<1, 32, 0, stream>>>(numbers, 1);
  printf("%d\n", cudaDeviceSynchronize());
  return 0;
}
