// Work of several streams and of graphs on the same memory. Each case is named on the command line; "right" before it is its twin.
#include <cstdio>
#include <cstring>
#include <thread>

__global__ void add(int *numbers, int n, int more) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] += more;
}

__global__ void sum(const int *numbers, int *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(to, numbers[i]);
}

__global__ void hand_over(int *data, int *flag) {
  *data = 7;
  __threadfence();
  atomicExch(flag, 1);
}

__global__ void take_over(const volatile int *flag, const int *data, int *to, bool fence) {
  while (!*flag) {}
  if (fence) __threadfence();
  *to = *data;
}

#define OK(call)                                                                                   \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error) { printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error)); return 3; }     \
  } while (0)

static const int N = 200;
static const size_t BYTES = N * sizeof(int);
static cudaStream_t one, other, free_one;
static cudaEvent_t event;
static int *a, *b, *pinned, host[N];
static bool right;

// The other stream waits for the first.
static cudaError_t join(cudaStream_t before, cudaStream_t after) {
  cudaError_t error = cudaEventRecord(event, before);
  return error ? error : cudaStreamWaitEvent(after, event);
}

static int two_streams() {
  add<<<2, 128, 0, one>>>(a, N, 1);
  if (right) OK(join(one, other));
  add<<<2, 128, 0, other>>>(a, N, 2);
  return 0;
}

static int read_after_write() {
  OK(cudaMemsetAsync(a, 0, BYTES, one));
  if (right) OK(cudaStreamSynchronize(one));
  sum<<<2, 128, 0, other>>>(a, b, N);
  return 0;
}

static int write_after_read() {
  sum<<<2, 128, 0, one>>>(a, b, N);
  if (right) OK(join(one, other));
  OK(cudaMemsetAsync(a + 10, 0, 40, other));
  return 0;
}

static int too_early() {
  add<<<2, 128, 0, one>>>(b, N, 1);
  if (!right) OK(cudaEventRecord(event, one));
  add<<<2, 128, 0, one>>>(a, N, 1);
  if (right) OK(cudaEventRecord(event, one));
  OK(cudaStreamWaitEvent(other, event));
  sum<<<2, 128, 0, other>>>(a, b, N);
  return 0;
}

static int non_blocking() {
  add<<<2, 128>>>(a, N, 1);
  add<<<2, 128, 0, right ? one : free_one>>>(a, N, 1);
  return 0;
}

static int host_copy() {
  add<<<2, 128, 0, free_one>>>(a, N, 1);
  if (right) OK(cudaStreamSynchronize(free_one));
  OK(cudaMemcpy(host, a, BYTES, cudaMemcpyDeviceToHost));
  return 0;
}

// It returns before the bytes are there.
static int device_copy() {
  OK(cudaMemcpy(b, a, BYTES, cudaMemcpyDeviceToDevice));
  if (right) OK(cudaDeviceSynchronize());
  add<<<2, 128, 0, free_one>>>(b, N, 1);
  return 0;
}

static int pinned_copy() {
  OK(cudaMemcpyAsync(pinned, a, BYTES, cudaMemcpyDeviceToHost, one));
  if (right) OK(join(one, other));
  OK(cudaMemcpyAsync(b, pinned, BYTES, cudaMemcpyHostToDevice, other));
  add<<<2, 128, 0, other>>>(b, N, 1);
  return 0;
}

static int freed() {
  int *own;
  OK(cudaMallocAsync(&own, BYTES, one));
  OK(cudaMemsetAsync(own, 0, BYTES, one));
  add<<<2, 128, 0, one>>>(own, N, 1);
  if (right) OK(join(one, other));
  OK(cudaFreeAsync(own, other));
  return 0;
}

static int allocated() {
  int *own;
  OK(cudaMallocAsync(&own, BYTES, one));
  if (right) OK(join(one, other));
  OK(cudaMemsetAsync(own, 0, BYTES, other));
  add<<<2, 128, 0, other>>>(own, N, 1);
  OK(cudaDeviceSynchronize());
  OK(cudaFreeAsync(own, one));
  return 0;
}

static int launched(cudaGraph_t graph) {
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaDeviceSynchronize());
  for (int round = 0; round < 3; round++) OK(cudaGraphLaunch(executable, round % 2 ? one : other));
  OK(cudaDeviceSynchronize());
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  return 0;
}

static int edge() {
  cudaGraph_t graph;
  cudaGraphNode_t first, second, third;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemcpyNode1D(&first, graph, nullptr, 0, a, host, BYTES, cudaMemcpyHostToDevice));
  cudaKernelNodeParams launch = {};
  int n = N, more = 1;
  void *arguments[] = {&a, &n, &more};
  launch.func = (void *)add;
  launch.gridDim = dim3(2);
  launch.blockDim = dim3(128);
  launch.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&second, graph, &first, right, &launch));
  OK(cudaGraphAddMemcpyNode1D(&third, graph, &second, 1, b, a, BYTES, cudaMemcpyDeviceToDevice));
  return launched(graph);
}

// The same by a child, which comes after the copy or not.
static int child() {
  cudaGraph_t graph, inner;
  cudaGraphNode_t first, second, inside;
  OK(cudaGraphCreate(&inner, 0));
  cudaMemsetParams fill = {};
  fill.dst = a;
  fill.elementSize = 4;
  fill.width = N;
  fill.height = 1;
  OK(cudaGraphAddMemsetNode(&inside, inner, nullptr, 0, &fill));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemcpyNode1D(&first, graph, nullptr, 0, b, a, BYTES, cudaMemcpyDeviceToDevice));
  OK(cudaGraphAddChildGraphNode(&second, graph, &first, right, inner));
  add<<<2, 128, 0, one>>>(a, N, 1);
  OK(cudaGraphDestroy(inner));
  return launched(graph);
}

static int captured() {
  cudaGraph_t graph;
  cudaEvent_t done;
  OK(cudaEventCreate(&done));
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  OK(join(one, other));
  add<<<2, 128, 0, one>>>(a, N, 1);
  if (right) OK(join(one, other));
  add<<<2, 128, 0, other>>>(a, N, 2);
  OK(cudaEventRecord(done, other));
  OK(cudaStreamWaitEvent(one, done));
  OK(cudaStreamEndCapture(one, &graph));
  return launched(graph);
}

// A graph is done before what its stream is given later, and not before what others are.
static int after_graph() {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t node;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, a, b, BYTES, cudaMemcpyDeviceToDevice));
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, one));
  add<<<2, 128, 0, right ? one : other>>>(a, N, 1);
  return 0;
}

// A flag orders what is before its release with what is after its acquire.
static int flag() {
  OK(cudaMemset(b, 0, BYTES));
  OK(cudaDeviceSynchronize());
  hand_over<<<1, 1, 0, one>>>(a, b);
  take_over<<<1, 1, 0, other>>>(b, a, b + 1, right);
  return 0;
}

// One stream writes a number, and the other waits for it: functions of the driver alone.
static int value() {
  typedef int Call(cudaStream_t, unsigned long long, unsigned, unsigned);
  void *write, *wait;
  OK(cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &write, 12000, cudaEnableDefault, nullptr));
  OK(cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &wait, 12000, cudaEnableDefault, nullptr));
  unsigned long long place = (unsigned long long)b;
  OK(cudaMemset(b, 0, BYTES));
  OK(cudaDeviceSynchronize());
  add<<<2, 128, 0, one>>>(a, N, 1);
  if (((Call *)write)(one, place, 1, 0)) return 6;
  if (right && ((Call *)wait)(other, place, 1, 1)) return 6;
  add<<<2, 128, 0, other>>>(a, N, 1);
  return 0;
}

// An event that a graph records is of what comes before it in the graph.
static int event_node() {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t copied, recorded;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemcpyNode1D(&copied, graph, nullptr, 0, a, b, BYTES, cudaMemcpyDeviceToDevice));
  OK(cudaGraphAddEventRecordNode(&recorded, graph, &copied, right, event));
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, one));
  OK(cudaStreamWaitEvent(other, event));
  add<<<2, 128, 0, other>>>(a, N, 1);
  return 0;
}

static void called(void *) {}

// What is silent.
static int silent() {
  // The same stream.
  add<<<2, 128, 0, one>>>(a, N, 1);
  add<<<2, 128, 0, one>>>(a, N, 1);
  OK(cudaStreamSynchronize(one));
  // Two readers, and atomics of both.
  sum<<<2, 128, 0, one>>>(a, b, N);
  sum<<<2, 128, 0, other>>>(a, b, N);
  OK(cudaDeviceSynchronize());
  // Halves, which meet within a word.
  OK(cudaMemsetAsync(a, 1, BYTES / 2 + 1, one));
  OK(cudaMemsetAsync((char *)a + BYTES / 2 + 1, 2, BYTES - BYTES / 2 - 1, other));
  add<<<1, 32, 0, free_one>>>(b, 32, 1);
  add<<<1, 32, 0, one>>>(b + 32, 32, 1);
  // Every other column.
  OK(cudaDeviceSynchronize());
  OK(cudaMemset2DAsync(a, 8, 0, 4, 50, one));
  OK(cudaMemset2DAsync(a + 1, 8, 0, 4, 50, other));
  // The default stream waits for the others, and they for it.
  add<<<2, 128>>>(a, N, 1);
  add<<<2, 128, 0, other>>>(a, N, 1);
  OK(cudaEventRecord(event, other));
  while (cudaEventQuery(event) == cudaErrorNotReady) {}
  add<<<2, 128, 0, free_one>>>(a, N, 1);
  // The program may wait for what a function of its own says.
  OK(cudaLaunchHostFunc(free_one, called, nullptr));
  add<<<2, 128, 0, one>>>(a, N, 1);
  // A copy to memory that is not pinned is done when the call returns.
  OK(cudaMemcpyAsync(host, a, BYTES, cudaMemcpyDeviceToHost, one));
  add<<<2, 128, 0, free_one>>>(a, N, 1);
  OK(cudaStreamSynchronize(free_one));
  OK(cudaMemcpy(a, host, BYTES, cudaMemcpyHostToDevice));
  add<<<2, 128, 0, free_one>>>(a, N, 1);
  // A program that frees memory waits for everything.
  int *own;
  OK(cudaMalloc(&own, BYTES));
  OK(cudaFree(own));
  add<<<2, 128, 0, one>>>(a, N, 1);
  // Streams come and go.
  for (int round = 0; round < 50; round++) {
    cudaStream_t made;
    OK(cudaStreamCreate(&made));
    OK(join(one, made));
    add<<<2, 128, 0, made>>>(a, N, 1);
    OK(join(made, one));
    OK(cudaStreamDestroy(made));
  }
  add<<<2, 128, 0, one>>>(a, N, 1);
  // Several threads give work to one stream.
  auto give = [] {
    for (int round = 0; round < 50; round++) add<<<2, 128, 0, one>>>(a, N, 1);
  };
  std::thread first(give), second(give);
  first.join();
  second.join();
  return 0;
}

int main(int count, char **words) {
  right = !strcmp(words[1], "right");
  const char *name = words[count - 1];
  OK(cudaStreamCreate(&one));
  OK(cudaStreamCreate(&other));
  OK(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
  OK(cudaEventCreate(&event));
  OK(cudaMalloc(&a, BYTES));
  OK(cudaMalloc(&b, BYTES));
  OK(cudaMallocHost(&pinned, BYTES));
  OK(cudaMemset(a, 0, BYTES));
  OK(cudaMemset(b, 0, BYTES));
  OK(cudaDeviceSynchronize());
  struct { const char *name; int (*run)(); } cases[] = {
      {"two_streams", two_streams}, {"read_after_write", read_after_write}, {"write_after_read", write_after_read},
      {"too_early", too_early},     {"non_blocking", non_blocking},         {"host_copy", host_copy},
      {"device_copy", device_copy}, {"pinned_copy", pinned_copy},           {"freed", freed},
      {"allocated", allocated},     {"edge", edge},                         {"child", child},
      {"captured", captured},       {"after_graph", after_graph},           {"flag", flag},
      {"value", value},             {"event_node", event_node},             {"silent", silent}};
  for (auto &one_case : cases)
    if (!strcmp(name, one_case.name)) {
      if (int error = one_case.run()) return error;
      OK(cudaDeviceSynchronize());
      printf("done\n");
      return 0;
    }
  return 4;
}
