// What the host does with memory that the GPU uses too. Each case is named on the command line; "right" before it is its twin. The line
// in which the host is wrong has the name of the case in a comment.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

__global__ void fill(int *numbers, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] = value;
}

__global__ void sum(const int *numbers, int *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(to, numbers[i]);
}

__global__ void tell(int *data, volatile int *flag) {
  *data = 7;
  __threadfence_system();
  *flag = 1;
}

__global__ void tell_by_atomic(int *data, int *flag) {
  *data = 7;
  __threadfence_system();
  atomicExch_system(flag, 1);
}

// The fence comes too late, is too narrow, is before a barrier for the other threads, or is right.
__global__ void tell_of_all(int *data, volatile int *flag, int how) {
  data[threadIdx.x] = 7;
  if (how == 1) __threadfence();
  if (how == 2) __threadfence_system();
  __syncthreads();
  if (threadIdx.x) return;
  if (how == 3) __threadfence_system();
  *flag = 1;  // ~flag
  if (how == 0) __threadfence_system();
}

__managed__ int counted;

__global__ void count() { atomicAdd(&counted, 1); }

__global__ void until_told(const volatile int *stop, int *to) { *to = *stop; }

#define OK(call)                                                                                   \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error) { printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error)); exit(3); }      \
  } while (0)

// Several pages, of which the last one is not whole.
static const int N = 3000;
static const size_t BYTES = N * sizeof(int);
static int *managed, *total, *pinned, *device, *registered;
static cudaStream_t one, other;
static cudaEvent_t event;
static bool right;

static void wait() {
  if (right) OK(cudaDeviceSynchronize());
}

static void launch(int *numbers) { fill<<<N / 256 + 1, 256, 0, one>>>(numbers, N, 5); }

static int read() {
  launch(managed);
  wait();
  return managed[0];  // ~read
}

static int last() {
  launch(managed);
  wait();
  return managed[N - 1];  // ~last
}

static int counter() {
  *total = 0;
  memset(managed, 0, BYTES);
  sum<<<N / 256 + 1, 256>>>(managed, total, N);
  wait();
  return *total;  // ~counter
}

static int overwrite() {
  memset(managed, 0, BYTES);
  sum<<<N / 256 + 1, 256>>>(managed, device, N);
  wait();
  managed[2000] = 1;  // ~overwrite
  return 0;
}

static int copy_to() {
  OK(cudaMemsetAsync(device, 1, BYTES, one));
  OK(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, one));
  if (right) OK(cudaStreamSynchronize(one));
  return pinned[7];  // ~copy_to
}

static int copy_from() {
  memset(pinned, 1, BYTES);
  OK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, one));
  if (right) OK(cudaStreamSynchronize(one));
  memset(pinned, 2, BYTES);  // ~copy_from
  return 0;
}

static int early_event() {
  if (!right) OK(cudaEventRecord(event, one));
  launch(pinned);
  if (right) OK(cudaEventRecord(event, one));
  OK(cudaEventSynchronize(event));
  return pinned[3];  // ~early_event
}

static int wrong_stream() {
  launch(pinned);
  OK(cudaStreamSynchronize(right ? one : other));
  return pinned[3];  // ~wrong_stream
}

static int in_registered() {
  launch(registered);
  wait();
  return registered[1500];  // ~in_registered
}

static int graph() {
  cudaGraph_t made;
  cudaGraphExec_t launched;
  OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  launch(managed);
  OK(cudaStreamEndCapture(one, &made));
  OK(cudaGraphInstantiate(&launched, made, 0));
  OK(cudaGraphLaunch(launched, one));
  wait();
  return managed[9];  // ~graph
}

static int other_thread() {
  launch(managed);
  wait();
  int found = 0;
  std::thread thread([&] { found = managed[9]; });  // ~other_thread
  thread.join();
  return found;
}

static int second_time() {
  launch(managed);
  OK(cudaDeviceSynchronize());
  int found = managed[0];
  launch(managed);
  wait();
  return found + managed[0];  // ~second_time
}

static int variable() {
  counted = 0;
  count<<<2, 32>>>();
  wait();
  return counted;  // ~variable
}

static void tell_of(int *data, int how) {
  *total = 0;
  tell_of_all<<<1, 64, 0, one>>>(data, total, right ? 3 : how);
  while (!*(volatile int *)total) {}
}

static int flag_early() {
  tell_of(pinned, 0);
  return pinned[63];  // ~flag_early
}

static int flag_narrow() {
  tell_of(managed, 1);
  return managed[63];  // ~flag_narrow
}

static int flag_barrier() {
  tell_of(pinned, 2);
  return pinned[63];  // ~flag_barrier
}

static int flag_next() {
  tell_of(device, 1);
  sum<<<1, 64, 0, other>>>(device, managed, 64);  // ~flag_next
  return 0;
}

static int pointer_read() {
  OK(cudaMemset(device, 0, BYTES));
  if (right) OK(cudaMemcpy(pinned, device, BYTES, cudaMemcpyDeviceToHost));
  return (right ? pinned : device)[4];  // ~pointer_read
}

// Beside more allocations than there may be runs of pages that wait for something.
static int pointer_of_many() {
  for (int i = 0; i < 9000; i++) {
    int *another;
    OK(cudaMalloc(&another, 64));
  }
  OK(cudaMemset(device, 0, BYTES));
  if (right) OK(cudaMemcpy(pinned, device, BYTES, cudaMemcpyDeviceToHost));
  return (right ? pinned : device)[4];  // ~pointer_of_many
}

static int pointer_write() {
  int seven = 7;
  if (right) OK(cudaMemcpy(device, &seven, 4, cudaMemcpyHostToDevice));
  else *device = seven;  // ~pointer_write
  return 0;
}

static jmp_buf back;
static void own_handler(int) { longjmp(back, 1); }

// The program handles a fault of its own, while pages are closed.
static int handled() {
  launch(managed);
  signal(SIGSEGV, own_handler);
  launch(pinned);
  volatile int *nothing = nullptr;
  if (!setjmp(back)) *nothing = 1;
  OK(cudaDeviceSynchronize());
  signal(SIGSEGV, SIG_DFL);
  return managed[0] + pinned[0];
}

static int silent() {
  memset(managed, 0, BYTES);
  int found = 0;
  // Both read.
  sum<<<N / 256 + 1, 256, 0, one>>>(managed, device, N);
  found += managed[5];
  OK(cudaDeviceSynchronize());
  // Other bytes of the same page.
  fill<<<1, 32, 0, one>>>(managed, 10, 1);
  found += managed[10] + managed[2999];
  managed[11] = 3;
  OK(cudaDeviceSynchronize());
  // The kernel tells how far it is.
  *total = 0;
  tell<<<1, 1, 0, one>>>(managed, total);
  while (!*(volatile int *)total) {}
  found += managed[0];
  *total = 0;
  tell_by_atomic<<<1, 1, 0, one>>>(pinned, total);
  while (!*(volatile int *)total) {}
  found += pinned[0];
  // The host tells the kernel to stop.
  until_told<<<1, 1, 0, one>>>(total, device);
  *(volatile int *)total = 1;
  OK(cudaDeviceSynchronize());
  // The program asks whether it is done.
  launch(pinned);
  OK(cudaEventRecord(event, one));
  while (cudaEventQuery(event) != cudaSuccess) {}
  found += pinned[0];
  launch(pinned);
  while (cudaStreamQuery(one) != cudaSuccess) {}
  found += pinned[1];
  // A copy that waits for the default stream, which waits for the other one.
  launch(pinned);
  OK(cudaMemcpy(total, device, 4, cudaMemcpyDeviceToHost));
  found += pinned[2];
  // A function of the host in the stream.
  launch(pinned);
  OK(cudaLaunchHostFunc(one, [](void *to) { *(int *)to = pinned[3]; }, &found));
  OK(cudaStreamSynchronize(one));
  // The GPU goes on with what the host must not touch.
  launch(managed);
  OK(cudaMemcpyAsync(device, managed, BYTES, cudaMemcpyDefault, one));
  OK(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDefault, one));
  OK(cudaMemsetAsync(managed, 0, BYTES, one));
  sum<<<N / 256 + 1, 256, 0, one>>>(pinned, device, N);
  OK(cudaStreamSynchronize(one));
  found += pinned[4] + managed[4];
  // Memory that is freed and unregistered while it is closed.
  int *more;
  OK(cudaMallocManaged(&more, BYTES));
  launch(more);
  OK(cudaFree(more));
  launch(registered);
  OK(cudaStreamSynchronize(one));
  OK(cudaHostUnregister(registered));
  found += registered[0];
  OK(cudaHostRegister(registered, BYTES, cudaHostRegisterDefault));
  printf("found %d\n", found);
  return 0;
}

static const struct {
  const char *name;
  int (*run)();
} CASES[] = {
    {"read", read},         {"last", last},           {"counter", counter},
    {"overwrite", overwrite}, {"copy_to", copy_to},   {"copy_from", copy_from},
    {"early_event", early_event}, {"wrong_stream", wrong_stream}, {"in_registered", in_registered},
    {"graph", graph},       {"other_thread", other_thread}, {"second_time", second_time},
    {"variable", variable}, {"flag_early", flag_early}, {"flag_narrow", flag_narrow}, {"flag_barrier", flag_barrier},
    {"flag_next", flag_next},
    {"pointer_read", pointer_read}, {"pointer_write", pointer_write}, {"pointer_of_many", pointer_of_many}, {"handled", handled},
    {"silent", silent},
};

int main(int count, char **words) {
  right = count > 2;
  OK(cudaStreamCreate(&one));
  OK(cudaStreamCreate(&other));
  OK(cudaEventCreate(&event));
  OK(cudaMallocManaged(&managed, BYTES));
  OK(cudaMallocManaged(&total, sizeof(int)));
  OK(cudaMallocHost(&pinned, BYTES));
  OK(cudaMalloc(&device, BYTES));
  registered = (int *)malloc(BYTES);
  OK(cudaHostRegister(registered, BYTES, cudaHostRegisterDefault));
  // So there is a kernel in each case.
  launch(device);
  OK(cudaDeviceSynchronize());
  for (auto &one : CASES) {
    if (!strcmp(one.name, words[count - 1])) printf("%d\n", one.run());
  }
  OK(cudaDeviceSynchronize());
}
