// Calls that come too early, and where the program makes them. Each case is named on the command line; "right" before it is its twin. A
// line that a finding names has the name of the case in a comment.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(int *numbers) { numbers[threadIdx.x] = threadIdx.x; }

#define OK(call)                                                                                   \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error) { printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error)); exit(3); }      \
  } while (0)

static const size_t BYTES = 32 * sizeof(int);
static int *pinned, *device, found;
static cudaStream_t one, other;
static cudaEvent_t event;
static bool right;

static void join() {
  if (!right) return;
  OK(cudaEventRecord(event, one));
  OK(cudaStreamWaitEvent(other, event));
}

static void wait() {
  if (right) OK(cudaStreamSynchronize(one));
}

static void take(void *) {
  found = pinned[5];  // ~function ~callback ~graph
}

static void function() {
  fill<<<1, 32, 0, one>>>(device);
  OK(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, one));  // ~function
  join();
  OK(cudaLaunchHostFunc(other, take, nullptr));
}

static void callback() {
  fill<<<1, 32, 0, one>>>(pinned);
  join();
  OK(cudaStreamAddCallback(other, [](cudaStream_t, cudaError_t, void *) { take(nullptr); }, nullptr, 0));
}

static void graph() {
  cudaGraph_t made;
  cudaGraphExec_t launched;
  OK(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal));
  // Other bytes of the same page.
  OK(cudaMemsetAsync(pinned + 16, 0, BYTES / 4, other));
  OK(cudaLaunchHostFunc(other, take, nullptr));
  OK(cudaStreamEndCapture(other, &made));
  OK(cudaGraphInstantiate(&launched, made, 0));
  OK(cudaMemcpyAsync(pinned, device, BYTES / 2, cudaMemcpyDeviceToHost, one));  // ~graph
  join();
  OK(cudaGraphLaunch(launched, other));
}

static void free_host() {
  int *more;
  OK(cudaMallocHost(&more, BYTES));
  memset(more, 0, BYTES);
  OK(cudaMemcpyAsync(device, more, BYTES, cudaMemcpyHostToDevice, one));  // ~free_host
  wait();
  OK(cudaFreeHost(more));  // ~free_host
}

static void unregister() {
  void *more = aligned_alloc(4096, 4096);
  OK(cudaHostRegister(more, 4096, cudaHostRegisterDefault));
  fill<<<1, 32, 0, one>>>((int *)more);
  wait();
  OK(cudaHostUnregister(more));  // ~unregister
}

static void free_of_stream() {
  int *more;
  OK(cudaMallocAsync(&more, BYTES, one));
  fill<<<1, 32, 0, one>>>(more);
  wait();
  OK(cudaFree(more));  // ~free_of_stream
}

// cudaFree waits for everything.
static void freed() {
  int *more;
  OK(cudaMalloc(&more, BYTES));
  fill<<<1, 32, 0, one>>>(more);
  OK(cudaMemcpyAsync(pinned, more, BYTES, cudaMemcpyDeviceToHost, one));
  OK(cudaFree(more));
  found = pinned[3];
}

static void copies() {
  OK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, one));  // ~copies
  join();
  OK(cudaMemsetAsync(device, 0, BYTES, other));  // ~copies
}

static void launches() {
  fill<<<1, 32, 0, one>>>(device);  // ~launches
  join();
  fill<<<1, 32, 0, other>>>(device);  // ~launches
}

static void beyond() {
  OK(cudaDeviceSynchronize());
  if (cudaMemcpy(device, pinned, right ? BYTES : BYTES + 4, cudaMemcpyHostToDevice)) puts("refused");  // ~beyond
}

// Copies of one call have no order among each other.
static void batch() {
  int *second = device + (right ? 16 : 15);
  void *to[] = {device, second};
  const void *from[] = {pinned, pinned + 16};
  size_t sizes[] = {BYTES / 2, BYTES / 4}, index = 0;
  cudaMemcpyAttributes attributes = {cudaMemcpySrcAccessOrderStream};
  OK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, one));  // ~batch
}

// A source that the host may overwrite at once, if the call says so.
static void source() {
  cudaMemcpyAttributes attributes = {right ? cudaMemcpySrcAccessOrderDuringApiCall : cudaMemcpySrcAccessOrderStream};
  // Other bytes of the page are in use, so the page is closed to the host.
  if (right) fill<<<1, 32, 0, other>>>(pinned + 32);
  OK(cudaMemcpyWithAttributesAsync(device, pinned, BYTES, &attributes, one));  // ~source
  pinned[3] = 77;
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(&found, device + 3, 4, cudaMemcpyDeviceToHost));
  if (right && found != 3) { puts("overwritten"); exit(3); }
}

// What a pool of the program's own gives is freed in another stream.
static void pool() {
  int *more;
  cudaMemPool_t own;
  cudaMemPoolProps kind = {};
  kind.allocType = cudaMemAllocationTypePinned;
  kind.location = {cudaMemLocationTypeDevice, {0}};
  OK(cudaMemPoolCreate(&own, &kind));
  cudaMemAccessDesc access = {kind.location, cudaMemAccessFlagsProtReadWrite};
  OK(cudaMemPoolSetAccess(own, &access, 1));
  OK(cudaMallocFromPoolAsync(&more, BYTES, own, one));
  fill<<<1, 32, 0, one>>>(more);
  join();
  OK(cudaFreeAsync(more, other));  // ~pool
}

// Calls that give what they say.
static void others() {
  int number = -1, *managed;
  unsigned flags;
  cudaMemPool_t pool, same;
  cudaMemLocation place = {cudaMemLocationTypeDevice, {0}};
  cudaMemAccessFlags access;
  size_t size = BYTES, index = 0;
  OK(cudaInitDevice(0, 0, 0));
  OK(cudaGetDeviceFlags(&flags));
  OK(cudaStreamGetDevice(one, &number));
  OK(cudaMemGetDefaultMemPool(&pool, &place, cudaMemAllocationTypePinned));
  OK(cudaDeviceGetDefaultMemPool(&same, 0));
  OK(cudaMemPoolGetAccess(&access, pool, &place));
  OK(cudaDeviceGraphMemTrim(0));
  OK(cudaMallocManaged(&managed, BYTES));
  OK(cudaStreamAttachMemAsync(one, managed));
  OK(cudaMemPrefetchBatchAsync((void **)&managed, &size, 1, &place, &index, 1, 0, one));
  fill<<<1, 32, 0, one>>>(managed);
  OK(cudaMemcpyPeerAsync(device, 0, managed, 0, BYTES / 2, one));
  cudaMemcpy3DPeerParms part = {};
  part.srcPtr = make_cudaPitchedPtr(managed, 16, 4, 8);
  part.dstPtr = make_cudaPitchedPtr(device + 16, 16, 4, 4);
  part.srcPos = {4, 4, 0};
  part.extent = {8, 4, 1};
  OK(cudaMemcpy3DPeerAsync(&part, one));
  OK(cudaStreamSynchronize(one));
  OK(cudaMemcpy(pinned, device, BYTES, cudaMemcpyDeviceToHost));
  bool is_so = number == 0 && pool == same && access == cudaMemAccessFlagsProtReadWrite;
  for (int at = 0; at < 32; at++) is_so &= pinned[at] == (at > 15 && at % 4 < 2 ? at + 1 : at);
  if (!is_so) { puts("other numbers"); exit(3); }
}

static const struct {
  const char *name;
  void (*run)();
} CASES[] = {
    {"function", function}, {"callback", callback}, {"graph", graph}, {"free_host", free_host}, {"unregister", unregister},
    {"free_of_stream", free_of_stream}, {"freed", freed}, {"copies", copies}, {"launches", launches}, {"beyond", beyond},
    {"batch", batch}, {"source", source}, {"pool", pool}, {"others", others},
};

// Asks whether the GPU has a kernel, and goes on without it.
static int asks() {
  cudaFuncAttributes of;
  return cudaFuncGetAttributes(&of, fill) == cudaSuccess;
}

int main(int count, char **words) {
  if (!strcmp(words[count - 1], "asks")) return asks();
  right = count > 2;
  OK(cudaStreamCreate(&one));
  OK(cudaStreamCreate(&other));
  OK(cudaEventCreate(&event));
  OK(cudaMallocHost(&pinned, 2 * BYTES));
  OK(cudaMalloc(&device, BYTES));
  // So there is a kernel in each case.
  fill<<<1, 32, 0, one>>>(device);
  OK(cudaDeviceSynchronize());
  for (int at = 0; at < 32; at++) pinned[at] = at;
  for (auto &one : CASES) {
    if (!strcmp(one.name, words[count - 1])) one.run();
  }
  OK(cudaDeviceSynchronize());
}
