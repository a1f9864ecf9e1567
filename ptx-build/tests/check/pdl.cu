// Programmatic dependent launch: a kernel may begin before the one before it in its stream has ended. Each case is named on the
// command line; "right" before it is its twin. `~` marks the lines that findings have to name, and what these do.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static const int N = 200;
static const size_t BYTES = N * sizeof(int);

__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ void wait() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
__device__ void wait_if(bool now) { if (now) wait(); }

__device__ void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// What comes first.
__global__ void fill(int *to) {
  if (index() < N) to[index()] = index();  // ~writes
}

__global__ void fill_late(int *to) {
  launch_dependents();
  if (index() < N) to[index()] = index();  // ~writes
}

// What comes before a fence and the trigger is seen by whoever begins then.
__global__ void fill_early(int *to, bool right) {
  if (index() < N) to[index()] = index();  // ~writes
  __syncthreads();
  if (right && threadIdx.x == 0) __threadfence();
  if (threadIdx.x == 0) launch_dependents();
}

__global__ void look(const int *from, int *to) {
  if (index() < N) to[index()] = from[index()];
}

__global__ void look_late(const int *from, int *to) {
  launch_dependents();
  if (index() < N) to[index()] = from[index()];  // ~reads ~writes
}

__global__ void look_early(const int *from, int *to, bool right) {
  int value = right && index() < N ? from[index()] : 0;
  __threadfence();
  launch_dependents();
  if (!right && index() < N) value = from[index()];  // ~reads
  if (index() < N) to[index()] = value;
}

// Only one block lets the next kernel begin. The others have ended by then.
__global__ void look_in_block(const int *from, int *to) {
  if (blockIdx.x == 0) launch_dependents();
  else to[threadIdx.x] = from[threadIdx.x];
}

// What comes second.
__global__ void read(const int *from, int *to, bool right) {
  wait_if(right);
  int value = index() < N ? from[index()] : 0;  // ~reads
  wait_if(!right);
  if (index() < N) to[index()] = value;
}

__global__ void write(int *to, bool right) {
  wait_if(right);
  if (index() < N) to[index()] = 7;  // ~writes
  wait_if(!right);
}

// Half of the threads wait.
__global__ void branch(const int *from, int *to, bool right) {
  if (right || threadIdx.x < 64) wait();
  if (index() < N) to[index()] = from[index()] + 1;  // ~reads
}

// One thread waits for its block.
__global__ void leader(const int *from, int *to, bool right) {
  if (threadIdx.x == 0) wait();
  if (right) __syncthreads();
  if (index() < N) to[index()] = from[index()] + 1;  // ~reads
}

// How many there are is read first.
__global__ void count(const int *many, const int *from, int *to, bool right) {
  wait_if(right);
  int n = *many;  // ~reads
  wait();
  if (index() < n) to[index()] = from[index()];
}

__global__ void never(const int *from, int *to, bool right) {
  wait_if(right);
  if (index() < N) to[index()] = from[index()] + 1;  // ~reads
}

// It waits, but the compiler may load before that.
__global__ void cached(const int *from, int *to, bool right) {
  wait();
  if (index() >= N) return;
  int value;
  if (right) value = from[index()];
  else asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(value) : "l"(from + index()));  // ~reads
  to[index()] = value + 1;
}

__global__ void add(int *to, bool right) {
  wait_if(right);
  if (index() < N) atomicAdd(to + index(), 1);  // ~changes
  wait_if(!right);
}

__global__ void copy(const int *from, int *to, bool right) {
  __shared__ alignas(16) int tile[128];
  unsigned at = __cvta_generic_to_shared(tile + threadIdx.x);
  wait_if(right);
  if (index() < N)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from + index()) : "memory");  // ~reads
  wait_if(!right);
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (index() < N) to[index()] = tile[threadIdx.x];
}

__global__ void bulk(const int *from, int *to, bool right) {
  __shared__ alignas(16) int tile[128];
  __shared__ unsigned long long bar;
  unsigned at = __cvta_generic_to_shared(tile), of = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(of) : "memory");
    wait_if(right);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(of) : "memory");
    const int *half = from + blockIdx.x * 64;
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"  // ~reads
                 ::"r"(at), "l"(half), "r"(of) : "memory");
    wait_if(!right);
  }
  __syncthreads();
  asm volatile("{\n\t.reg .pred p;\nagain:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n\t@!p bra again;\n\t}" ::"r"(of)
               : "memory");
  if (threadIdx.x < 64) to[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

// Before it waits it touches nothing that is another's.
__global__ void prologue(const int *table, const int *from, int *own, int *to) {
  int more = index() < N ? table[index()] : 0;
  if (index() < N) own[index()] = more;
  wait();
  if (index() < N) to[index()] = from[index()] + more;
}

__global__ void hand_over(int *flag, int *data) {
  launch_dependents();
  *data = 7;
  __threadfence();
  atomicExch(flag, 1);
}

__global__ void take_over(const volatile int *flag, const int *data, int *to) {
  while (!*flag) {}
  __threadfence();
  to[index()] = *data;
}

#define OK(call)                                                                                   \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error) { printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error)); return 3; }     \
  } while (0)

static cudaStream_t stream;
static int *a, *b, *c;
static bool right;

template <typename... Of, typename... Given>
static cudaError_t early(void (*kernel)(Of...), Given... given) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(128);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, Of(given)...);
}

// The event stands for the end of the kernel.
static cudaError_t recording(void (*kernel)(int *), cudaEvent_t event) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  attribute.val.programmaticEvent.event = event;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(128);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, a);
}

static void first(void (*kernel)(int *)) { kernel<<<2, 128, 0, stream>>>(a); }

static int read_case() { first(fill); OK(early(read, a, b, right)); return 0; }
static int late_case() { first(fill_late); OK(early(read, a, b, right)); return 0; }
static int overwrite_case() { first(fill_late); OK(early(write, a, right)); return 0; }
static int branch_case() { first(fill_late); OK(early(branch, a, b, right)); return 0; }
static int leader_case() { first(fill_late); OK(early(leader, a, b, right)); return 0; }
static int count_case() { first(fill_late); OK(early(count, a + 5, a, b, right)); return 0; }
static int never_case() { first(fill_late); OK(early(never, a, b, right)); return 0; }
static int add_case() { first(fill_late); OK(early(add, a, right)); return 0; }
static int copy_case() { first(fill_late); OK(early(copy, a, b, right)); return 0; }
static int bulk_case() { first(fill_late); OK(early(bulk, a, b, right)); return 0; }

static int fence_case() {
  fill_early<<<2, 128, 0, stream>>>(a, right);
  OK(early(never, a, b, false));
  return 0;
}

// What the first reads after the fence.
static int look_after_case() {
  look_early<<<2, 128, 0, stream>>>(a, b, right);
  OK(early(write, a, false));
  return 0;
}

static int write_case() {
  look_late<<<2, 128, 0, stream>>>(a, b);
  OK(early(write, a, right));
  return 0;
}

// The second is the third's first, and the default stream is as others are.
static int third_case() {
  stream = nullptr;
  first(fill);
  OK(early(look_late, c, b));
  OK(early(never, b, b + N, right));
  return 0;
}

static int captured_case() {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  first(fill);
  OK(early(read, a, b, right));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, stream));
  return 0;
}

// The edges that a stream's own kernels have are programmatic, and others are not.
static int captured_silent_case() {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaEvent_t event;
  cudaStream_t origin = stream, other;
  OK(cudaEventCreate(&event));
  OK(cudaStreamCreate(&other));
  OK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
  first(fill_late);
  OK(cudaMemsetAsync(c, 0, BYTES, origin));
  OK(early(never, a, b, false));
  first(fill_late);
  OK(cudaEventRecord(event, origin));
  OK(cudaStreamWaitEvent(other, event));
  stream = other;
  OK(early(never, a, b, false));
  OK(cudaEventRecord(event, other));
  OK(cudaStreamWaitEvent(origin, event));
  OK(cudaStreamEndCapture(origin, &graph));
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, origin));
  return 0;
}

static int cached_case() {
  first(fill_late);
  OK(early(cached, a, b, right));
  return 0;
}

// What is silent.
static int silent_case() {
  cudaEvent_t event;
  cudaStream_t other;
  OK(cudaEventCreate(&event));
  OK(cudaStreamCreate(&other));
  // A fill, a copy, an event and the host are no kernels.
  first(fill_late);
  OK(cudaMemsetAsync(c, 0, BYTES, stream));
  OK(early(never, a, b, false));
  first(fill_late);
  OK(cudaMemcpyAsync(c, a, BYTES, cudaMemcpyDeviceToDevice, stream));
  OK(early(never, a, b, false));
  first(fill_late);
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(other, event));
  OK(cudaStreamWaitEvent(stream, event));
  OK(early(never, a, b, false));
  first(fill_late);
  OK(cudaStreamWaitEvent(stream, event));
  OK(early(never, a, b, false));
  first(fill_late);
  OK(cudaStreamSynchronize(stream));
  OK(early(never, a, b, false));
  // The default stream waits for the first, and the second for it.
  first(fill_late);
  look<<<2, 128>>>(a, c);
  OK(early(never, a, b, false));
  // Without the attribute, and after a kernel that was launched with it.
  first(fill_late);
  never<<<2, 128, 0, stream>>>(a, b, false);
  OK(early(prologue, c, b, c, a));
  look<<<2, 128, 0, stream>>>(a, b);
  // Only other memory before the wait.
  first(fill_late);
  OK(early(prologue, c, a, c, b));
  // All blocks of the first have read when the second begins.
  look<<<2, 128, 0, stream>>>(a, b);
  OK(early(write, a, false));
  look_in_block<<<2, 128, 0, stream>>>(a, b);
  OK(early(write, a, false));
  // Whether the one before the one before has ended when a wait returns is not said.
  first(fill_late);
  OK(early(look_late, c, c));
  OK(early(read, a, b, true));
  // Whoever begins without the trigger, or after a fence and the trigger, finds all that was written.
  first(fill);
  OK(early(cached, a, b, false));
  fill_early<<<2, 128, 0, stream>>>(a, true);
  OK(early(cached, a, b, false));
  // Atomics of both.
  add<<<2, 128, 0, stream>>>(a, true);
  OK(early(add, a, false));
  // Another stream waits for the event of a launch.
  OK(cudaEventDestroy(event));
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  OK(recording(fill_late, event));
  OK(cudaStreamWaitEvent(other, event));
  never<<<2, 128, 0, other>>>(a, c, false);
  OK(cudaDeviceSynchronize());
  // A flag tells that the data are there.
  OK(cudaMemsetAsync(a, 0, BYTES, stream));
  hand_over<<<1, 1, 0, stream>>>(a, c);
  OK(early(take_over, a, c, b));
  return 0;
}

int main(int argc, char **words) {
  right = !strcmp(words[1], "right");
  const char *name = words[argc - 1];
  OK(cudaStreamCreate(&stream));
  OK(cudaMalloc(&a, 2 * BYTES));
  OK(cudaMalloc(&b, 2 * BYTES));
  OK(cudaMalloc(&c, 2 * BYTES));
  for (int *each : {a, b, c}) OK(cudaMemset(each, 0, 2 * BYTES));
  OK(cudaDeviceSynchronize());
  struct { const char *name; int (*run)(); } cases[] = {
      {"read", read_case},         {"late", late_case},   {"overwrite", overwrite_case}, {"branch", branch_case},
      {"leader", leader_case},     {"count", count_case}, {"never", never_case},         {"add", add_case},
      {"copy", copy_case},         {"bulk", bulk_case},   {"write", write_case},         {"third", third_case},
      {"fence", fence_case}, {"look_after", look_after_case}, {"cached", cached_case}, {"captured", captured_case}, {"silent", silent_case}, {"captured_silent", captured_silent_case}};
  for (auto &one : cases)
    if (!strcmp(name, one.name)) {
      if (int error = one.run()) return error;
      OK(cudaDeviceSynchronize());
      printf("done\n");
      return 0;
    }
  return 4;
}
