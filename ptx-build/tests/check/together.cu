// Kernels that wait for another GPU, another stream or the host. Each case has one mistake, and none with `right` before it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <mutex>
#include <thread>

const int MOST = 4, N = 256, BLOCK = 64, BYTES = N * sizeof(float);

static void must(cudaError_t status, int line) {
  if (status == cudaSuccess) return;
  printf("line %d: %s\n", line, cudaGetErrorName(status));
  exit(3);
}
#define MUST(call) must(call, __LINE__)

struct Peers {
  float *data[MOST], *sums[MOST];
  unsigned *flags[MOST];
  int count;
};

enum Mistake { NONE, FENCE, END, EARLY, ATOMIC };

__device__ void fence(Mistake mistake) {
  if (mistake == FENCE)
    __threadfence();
  else
    __threadfence_system();
}

// Threads of each block tell the same block of every GPU how far this one is, and wait for the others.
__device__ void meet(Peers peers, int rank, unsigned phase, Mistake mistake) {
  __syncthreads();
  if (threadIdx.x < peers.count) {
    fence(mistake);
    *(volatile unsigned *)(peers.flags[threadIdx.x] + blockIdx.x * MOST + rank) = phase;
    volatile unsigned *own = peers.flags[rank] + blockIdx.x * MOST + threadIdx.x;
    while (mistake != EARLY && *own < phase);
    fence(mistake);
  }
  __syncthreads();
}

__global__ void fill(float *to, float value) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  to[i] = value + i;
}

__global__ void all_reduce(Peers peers, unsigned *count, int rank, unsigned round, Mistake mistake) {
  meet(peers, rank, 2 * round + 1, mistake);
  int i = blockIdx.x * BLOCK + threadIdx.x;
  float sum = 0;
  for (int gpu = 0; gpu < peers.count; gpu++) sum += peers.data[gpu][i];
  peers.sums[rank][i] = sum;
  if (mistake == ATOMIC)
    atomicAdd(count, 1);
  else
    atomicAdd_system(count, 1);
  if (mistake == END) return;
  meet(peers, rank, 2 * round + 2, mistake == FENCE ? NONE : mistake);
  if (mistake != EARLY) peers.data[rank][i] = peers.sums[(rank + 1) % peers.count][i];
}

// A GPU and the next one alone: what one has filled the next one reads, and says so.
__global__ void pass_on(Peers peers, int rank, unsigned round, Mistake mistake) {
  int next = (rank + 1) % peers.count, last = (rank + peers.count - 1) % peers.count;
  volatile unsigned *full = peers.flags[rank] + blockIdx.x * MOST, *empty = full + 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    *(volatile unsigned *)(peers.flags[next] + blockIdx.x * MOST) = round + 1;
    while (*full < round + 1);
    __threadfence_system();
  }
  __syncthreads();
  int i = blockIdx.x * BLOCK + threadIdx.x;
  peers.sums[rank][i] = peers.data[last][i];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    *(volatile unsigned *)(peers.flags[last] + blockIdx.x * MOST + 1) = round + 1;
    while (mistake != END && *empty < round + 1);
    __threadfence_system();
  }
}

__global__ void waits(volatile unsigned *flag, const int *data, int *out) {
  while (*flag == 0);
  __threadfence();
  *out = *data;
}

__global__ void tells(volatile unsigned *flag, int *data, bool has_fence) {
  *data = 42;
  if (has_fence) __threadfence();
  *flag = 1;
}

__global__ void adds(int *to) { *to += 1; }

// Each GPU stores into the next one's buffer. Of two buffers, one is read while the other one is filled.
__global__ void push(Peers peers, int rank, unsigned round, bool has_two) {
  int next = (rank + 1) % peers.count, last = (rank + peers.count - 1) % peers.count;
  bool second = has_two && round % 2 == 1;
  int i = blockIdx.x * BLOCK + threadIdx.x;
  (second ? peers.sums : peers.data)[next][i] = 1000 * rank + round + i;
  meet(peers, rank, round + 1, NONE);
  if ((second ? peers.sums : peers.data)[rank][i] != 1000 * last + round + i && has_two) __trap();
}

static bool is_right;
static Peers peers;
static unsigned *counter;
static cudaStream_t stream[MOST];

static void gpu_of(int gpu, bool has_peers) {
  MUST(cudaSetDevice(gpu));
  for (int other = 0; other < peers.count && has_peers; other++)
    if (other != gpu) MUST(cudaDeviceEnablePeerAccess(other, 0));
  MUST(cudaStreamCreate(&stream[gpu]));
  MUST(cudaMalloc(&peers.data[gpu], BYTES));
  MUST(cudaMalloc(&peers.sums[gpu], BYTES));
  MUST(cudaMalloc(&peers.flags[gpu], 1024));
  MUST(cudaMemset(peers.flags[gpu], 0, 1024));
  MUST(cudaDeviceSynchronize());
}

static void round_of(int gpu, unsigned round, Mistake mistake) {
  MUST(cudaSetDevice(gpu));
  fill<<<N / BLOCK, BLOCK, 0, stream[gpu]>>>(peers.data[gpu], 1000 * gpu + round);
  all_reduce<<<N / BLOCK, BLOCK, 0, stream[gpu]>>>(peers, counter, gpu, round, mistake);
  MUST(cudaGetLastError());
}

static void ring() {
  MUST(cudaGetDeviceCount(&peers.count));
  for (int gpu = 0; gpu < peers.count; gpu++) gpu_of(gpu, true);
  for (unsigned round = 0; round < 2; round++)
    for (int gpu = 0; gpu < peers.count; gpu++) {
      MUST(cudaSetDevice(gpu));
      fill<<<N / BLOCK, BLOCK, 0, stream[gpu]>>>(peers.data[gpu], 1000 * gpu + round);
      pass_on<<<N / BLOCK, BLOCK, 0, stream[gpu]>>>(peers, gpu, round, is_right ? NONE : END);
    }
  for (int gpu = 0; gpu < peers.count; gpu++) {
    float found;
    MUST(cudaMemcpyAsync(&found, peers.sums[gpu], sizeof(found), cudaMemcpyDeviceToHost, stream[gpu]));
    MUST(cudaStreamSynchronize(stream[gpu]));
    if (is_right && found != 1000 * ((gpu + peers.count - 1) % peers.count) + 1) exit(4);
  }
}

static void buffers() {
  MUST(cudaGetDeviceCount(&peers.count));
  for (int gpu = 0; gpu < peers.count; gpu++) gpu_of(gpu, true);
  for (unsigned round = 0; round < 4; round++)
    for (int gpu = 0; gpu < peers.count; gpu++) {
      MUST(cudaSetDevice(gpu));
      push<<<N / BLOCK, BLOCK, 0, stream[gpu]>>>(peers, gpu, round, is_right);
    }
  for (int gpu = 0; gpu < peers.count; gpu++) MUST(cudaStreamSynchronize(stream[gpu]));
}

static void look_at(int gpu, unsigned rounds) {
  float all[N];
  MUST(cudaSetDevice(gpu));
  MUST(cudaMemcpyAsync(all, peers.data[gpu], BYTES, cudaMemcpyDeviceToHost, stream[gpu]));
  MUST(cudaStreamSynchronize(stream[gpu]));
  for (int i = 0; i < N; i++) {
    float expected = 0;
    for (int other = 0; other < peers.count; other++) expected += 1000 * other + rounds - 1 + i;
    if (all[i] != expected && is_right) {
      printf("GPU %d has %f at %d, and not %f\n", gpu, all[i], i, expected);
      exit(4);
    }
  }
}

static void reduce(Mistake mistake, unsigned rounds, bool has_peers) {
  MUST(cudaGetDeviceCount(&peers.count));
  MUST(cudaMallocManaged(&counter, 4));
  *counter = 0;
  for (int gpu = 0; gpu < peers.count; gpu++) gpu_of(gpu, has_peers);
  for (unsigned round = 0; round < rounds; round++)
    for (int gpu = 0; gpu < peers.count; gpu++) round_of(gpu, round, is_right ? NONE : mistake);
  for (int gpu = 0; gpu < peers.count; gpu++) look_at(gpu, rounds);
}

// A thread of the host for each GPU. The first one waits before the others have launched anything.
static void threads() {
  MUST(cudaGetDeviceCount(&peers.count));
  MUST(cudaMallocManaged(&counter, 4));
  *counter = 0;
  for (int gpu = 0; gpu < peers.count; gpu++) gpu_of(gpu, true);
  std::thread all[MOST];
  for (int gpu = 0; gpu < peers.count; gpu++)
    all[gpu] = std::thread([gpu] {
      round_of(gpu, 0, is_right ? NONE : FENCE);
      look_at(gpu, 1);
    });
  for (int gpu = 0; gpu < peers.count; gpu++) all[gpu].join();
}

static unsigned *flag;
static int *data, *result;

static void with_streams() {
  for (int at = 0; at < 3; at++) MUST(cudaStreamCreateWithFlags(&stream[at], cudaStreamNonBlocking));
  MUST(cudaMalloc(&flag, 4));
  MUST(cudaMalloc(&data, 4));
  MUST(cudaMalloc(&result, 4));
  MUST(cudaMemset(flag, 0, 4));
  MUST(cudaMemset(data, 0, 4));
  MUST(cudaMemset(result, 0, 4));
  MUST(cudaDeviceSynchronize());
}

static void has(int expected, cudaStream_t in) {
  int found = 0;
  MUST(cudaMemcpyAsync(&found, result, 4, cudaMemcpyDeviceToHost, in));
  MUST(cudaStreamSynchronize(in));
  if (found != expected) {
    printf("%d, and not %d\n", found, expected);
    exit(4);
  }
}

static void other_stream() {
  with_streams();
  waits<<<1, 1, 0, stream[0]>>>(flag, data, result);
  adds<<<1, 1, 0, stream[0]>>>(result);
  tells<<<1, 1, 0, stream[1]>>>(flag, data, is_right);
  has(43, stream[0]);
}

// What another stream does after an event of the waiting one comes later too, and memory is not freed before.
static void event() {
  with_streams();
  cudaEvent_t done;
  MUST(cudaEventCreate(&done));
  waits<<<1, 1, 0, stream[0]>>>(flag, data, result);
  MUST(cudaEventRecord(done, stream[0]));
  if (is_right) MUST(cudaStreamWaitEvent(stream[1], done, 0));
  adds<<<1, 1, 0, stream[1]>>>(result);
  tells<<<1, 1, 0, stream[2]>>>(flag, data, true);
  MUST(cudaFree(data));
  if (is_right) has(43, stream[1]);
}

static void host() {
  with_streams();
  unsigned *pinned;
  MUST(cudaHostAlloc(&pinned, 4, 0));
  *pinned = 0;
  waits<<<1, 1, 0, stream[0]>>>(pinned, data, result);
  adds<<<1, 1, 0, stream[0]>>>(result);
  if (is_right) *(volatile unsigned *)pinned = 1;
  has(1, stream[0]);
}

// A function of the host waits for what the thread that gave it to a stream does later.
static void function() {
  with_streams();
  static std::mutex gate;
  cudaEvent_t done;
  MUST(cudaEventCreate(&done));
  gate.lock();
  MUST(cudaLaunchHostFunc(stream[0], [](void *) { gate.lock(); }, nullptr));
  adds<<<1, 1, 0, stream[0]>>>(result);
  MUST(cudaEventRecord(done, stream[0]));
  if (cudaStreamQuery(stream[0]) != cudaErrorNotReady || cudaEventQuery(done) != cudaErrorNotReady) exit(5);
  if (is_right) MUST(cudaStreamWaitEvent(stream[1], done, 0));
  adds<<<1, 1, 0, stream[1]>>>(result);
  gate.unlock();
  MUST(cudaStreamSynchronize(stream[0]));
  MUST(cudaEventQuery(done));
  has(2, stream[1]);
}

static void nobody() {
  with_streams();
  waits<<<1, 1, 0, stream[0]>>>(flag, data, result);
  if (is_right) tells<<<1, 1, 0, stream[1]>>>(flag, data, true);
}

int main(int arguments, char **words) {
  is_right = arguments > 2;
  const char *name = words[arguments - 1];
  auto is = [name](const char *other) { return strcmp(name, other) == 0; };
  if (is("fence")) reduce(FENCE, 1, true);
  else if (is("end")) reduce(END, 2, true);
  else if (is("early")) reduce(EARLY, 1, true);
  else if (is("atomic")) reduce(ATOMIC, 1, true);
  else if (is("peer")) reduce(NONE, 1, is_right);
  else if (is("buffers")) buffers();
  else if (is("threads")) threads();
  else if (is("ring")) ring();
  else if (is("stream")) other_stream();
  else if (is("event")) event();
  else if (is("host")) host();
  else if (is("function")) function();
  else if (is("nobody")) nobody();
  else return 2;
  puts("done");
}
