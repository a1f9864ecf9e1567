// Two GPUs. Each case has one mistake, and none with `right` before it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

const int N = 64, BYTES = N * sizeof(int);

__device__ int calls = 5;
__constant__ int factor = 1;
__managed__ int of_all = 7;

__global__ void fill(int *to, int value) {
  to[threadIdx.x] = value * factor;
  if (threadIdx.x == 0) calls += 1;
}

__global__ void add(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x] + 1; }

__global__ void count() { of_all += 1; }

static bool is_right;
static int *memory[2];
static cudaStream_t stream[2], independent[2];
static cudaEvent_t filled[2];

static void must(cudaError_t status, int line) {
  if (status == cudaSuccess) return;
  printf("line %d: %s\n", line, cudaGetErrorName(status));
  exit(3);
}
#define MUST(call) must(call, __LINE__)

static void has_peer() {
  MUST(cudaSetDevice(0));
  MUST(cudaDeviceEnablePeerAccess(1, 0));
}

// GPU 1 fills its memory in a stream, and records an event behind.
static void fill_in_one() {
  MUST(cudaSetDevice(1));
  fill<<<1, N, 0, stream[1]>>>(memory[1], 3);
  MUST(cudaEventRecord(filled[1], stream[1]));
  MUST(cudaSetDevice(0));
}

static void event() {
  has_peer();
  fill_in_one();
  if (is_right) MUST(cudaStreamWaitEvent(stream[0], filled[1], 0));
  add<<<1, N, 0, stream[0]>>>(memory[0], memory[1]);
}

static void copy() {
  fill_in_one();
  if (is_right) MUST(cudaStreamWaitEvent(stream[0], filled[1], 0));
  MUST(cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, BYTES, stream[0]));
}

// A GPU's stream may copy while another GPU is current; the stream holds the copy back.
static void back() {
  has_peer();
  fill<<<1, N, 0, stream[0]>>>(memory[0], 3);
  MUST(cudaSetDevice(1));
  MUST(cudaMemcpyAsync(memory[1], memory[0], BYTES, cudaMemcpyDefault, is_right ? stream[0] : stream[1]));
}

static void defaults() {
  has_peer();
  MUST(cudaSetDevice(1));
  fill<<<1, N>>>(memory[1], 3);
  if (!is_right) MUST(cudaSetDevice(0));
  MUST(cudaDeviceSynchronize());
  MUST(cudaSetDevice(0));
  add<<<1, N>>>(memory[0], memory[1]);
}

// A copy between two GPUs in the default stream comes after all work of both, and before all later work of both.
static void whole() {
  MUST(cudaSetDevice(1));
  fill<<<1, N, 0, independent[1]>>>(memory[1], 3);
  MUST(cudaSetDevice(0));
  if (is_right)
    MUST(cudaMemcpyPeer(memory[0], 0, memory[1], 1, BYTES));
  else
    MUST(cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, BYTES, stream[0]));
  MUST(cudaSetDevice(1));
  fill<<<1, N, 0, independent[1]>>>(memory[1], 4);
}

static void peer() {
  if (is_right) has_peer();
  fill_in_one();
  MUST(cudaDeviceSynchronize());
  MUST(cudaStreamSynchronize(stream[1]));
  add<<<1, N, 0, stream[0]>>>(memory[0], memory[1]);
}

static void backwards() {
  MUST(cudaSetDevice(is_right ? 0 : 1));
  MUST(cudaDeviceEnablePeerAccess(is_right ? 1 : 0, 0));
  fill_in_one();
  MUST(cudaStreamWaitEvent(stream[0], filled[1], 0));
  add<<<1, N, 0, stream[0]>>>(memory[0], memory[1]);
}

static void disabled() {
  has_peer();
  if (!is_right) MUST(cudaDeviceDisablePeerAccess(1));
  fill_in_one();
  MUST(cudaStreamWaitEvent(stream[0], filled[1], 0));
  add<<<1, N, 0, stream[0]>>>(memory[0], memory[1]);
}

static void variable() {
  if (is_right) has_peer();
  int *place;
  MUST(cudaSetDevice(1));
  MUST(cudaGetSymbolAddress((void **)&place, calls));
  MUST(cudaSetDevice(0));
  add<<<1, 1>>>(memory[0], place);
}

static void pool() {
  has_peer();
  cudaMemPool_t of_one;
  MUST(cudaDeviceGetDefaultMemPool(&of_one, 1));
  cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  if (is_right) MUST(cudaMemPoolSetAccess(of_one, &access, 1));
  int *place;
  MUST(cudaMallocAsync(&place, BYTES, stream[1]));
  MUST(cudaMemsetAsync(place, 0, BYTES, stream[1]));
  MUST(cudaStreamSynchronize(stream[1]));
  add<<<1, N, 0, stream[0]>>>(memory[0], place);
}

static void managed() {
  MUST(cudaSetDevice(1));
  count<<<1, 1, 0, stream[1]>>>();
  MUST(cudaSetDevice(is_right ? 1 : 0));
  MUST(cudaDeviceSynchronize());
  if (of_all != 8) exit(4);
}

static void freed() {
  int *place;
  count<<<1, 1>>>();
  MUST(cudaSetDevice(1));
  MUST(cudaMalloc(&place, BYTES));
  MUST(cudaMemcpyPeerAsync(place, 1, memory[0], 0, BYTES, stream[0]));
  if (is_right) MUST(cudaStreamSynchronize(stream[0]));
  MUST(cudaFree(place));
}

static void answer(const char *what, cudaError_t status) {
  printf("%s: %s\n", what, cudaGetErrorName(status));
  cudaGetLastError();
}

static void variables(int gpu) {
  int here, number, *place;
  MUST(cudaSetDevice(gpu));
  MUST(cudaGetDevice(&here));
  MUST(cudaMemcpyToSymbol(factor, &(number = gpu + 1), sizeof(int)));
  for (int at = 0; at <= gpu; at++) fill<<<1, N>>>(memory[gpu], 10);
  MUST(cudaMemcpyFromSymbol(&number, calls, sizeof(int)));
  printf("GPU %d: calls %d, ", here, number);
  MUST(cudaMemcpy(&number, memory[gpu], sizeof(int), cudaMemcpyDefault));
  MUST(cudaGetSymbolAddress((void **)&place, calls));
  cudaPointerAttributes of;
  MUST(cudaPointerGetAttributes(&of, place));
  count<<<1, 1>>>();
  MUST(cudaDeviceSynchronize());
  printf("value %d, variable of %d, of all %d\n", number, of.device, of_all);
}

static void errors() {
  int number, *place;
  cudaDeviceProp one, other;
  MUST(cudaGetDeviceProperties(&one, 0));
  MUST(cudaGetDeviceProperties(&other, 1));
  printf("bus %d %d, uuid %s\n", one.pciBusID, other.pciBusID, memcmp(&one.uuid, &other.uuid, 16) ? "other" : "same");
  answer("a third", cudaSetDevice(2));
  answer("a negative one", cudaSetDevice(-1));
  MUST(cudaDeviceCanAccessPeer(&number, 0, 1));
  printf("can access: %d\n", number);
  MUST(cudaDeviceCanAccessPeer(&number, 0, 0));
  printf("itself: %d\n", number);
  MUST(cudaDeviceGetP2PAttribute(&number, cudaDevP2PAttrAccessSupported, 0, 1));
  printf("attribute: %d\n", number);
  answer("attribute of one", cudaDeviceGetP2PAttribute(&number, cudaDevP2PAttrAccessSupported, 1, 1));
  MUST(cudaSetDevice(0));
  answer("enable", cudaDeviceEnablePeerAccess(1, 0));
  answer("enable again", cudaDeviceEnablePeerAccess(1, 0));
  answer("disable", cudaDeviceDisablePeerAccess(1));
  answer("disable again", cudaDeviceDisablePeerAccess(1));
  answer("enable a third", cudaDeviceEnablePeerAccess(2, 0));
  answer("record in another GPU's stream", cudaEventRecord(filled[1], stream[0]));
  answer("wait for another GPU's event", cudaStreamWaitEvent(stream[0], filled[1], 0));
  answer("ask for another GPU's event", cudaEventQuery(filled[1]));
  fill<<<1, N, 0, stream[1]>>>(memory[1], 1);
  answer("launch in another GPU's stream", cudaGetLastError());
  answer("copy in another GPU's stream", cudaMemcpyAsync(memory[1], memory[0], 4, cudaMemcpyDefault, stream[1]));
  answer("copy to a third", cudaMemcpyPeer(memory[0], 2, memory[1], 1, 4));
  cudaEvent_t times[2];
  for (int gpu = 0; gpu < 2; gpu++) {
    MUST(cudaSetDevice(gpu));
    MUST(cudaEventCreate(&times[gpu]));
    MUST(cudaEventRecord(times[gpu], stream[gpu]));
    MUST(cudaEventSynchronize(times[gpu]));
  }
  float elapsed;
  answer("time between two GPUs", cudaEventElapsedTime(&elapsed, times[0], times[1]));
  MUST(cudaStreamGetDevice(stream[1], &number));
  printf("stream of %d\n", number);
  size_t before, after, all;
  MUST(cudaSetDevice(1));
  MUST(cudaMemGetInfo(&before, &all));
  MUST(cudaSetDevice(0));
  MUST(cudaMalloc(&place, 1 << 20));
  MUST(cudaMemGetInfo(&after, &all));
  printf("taken here: %d", before > after);
  MUST(cudaSetDevice(1));
  MUST(cudaMemGetInfo(&after, &all));
  printf(", there: %d\n", before != after);
  MUST(cudaFree(place));
}

struct Case {
  const char *name;
  void (*run)();
};
const Case cases[] = {
    {"event", event},       {"copy", copy},         {"back", back},         {"defaults", defaults}, {"whole", whole},
    {"peer", peer},         {"backwards", backwards}, {"disabled", disabled}, {"variable", variable}, {"pool", pool},
    {"managed", managed},   {"freed", freed},
};

int main(int count, char **words) {
  is_right = count > 2 && !strcmp(words[1], "right");
  const char *name = words[count - 1];
  int gpus;
  cudaError_t status = cudaGetDeviceCount(&gpus);
  if (!strcmp(name, "count")) {
    printf("%s %d\n", cudaGetErrorName(status), gpus);
    return 0;
  }
  for (int gpu = 0; gpu < 2; gpu++) {
    MUST(cudaSetDevice(gpu));
    MUST(cudaMalloc(&memory[gpu], BYTES));
    MUST(cudaMemset(memory[gpu], 0, BYTES));
    MUST(cudaDeviceSynchronize());
    MUST(cudaStreamCreate(&stream[gpu]));
    MUST(cudaStreamCreateWithFlags(&independent[gpu], cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&filled[gpu], cudaEventDisableTiming));
  }
  for (const Case &one : cases) {
    if (strcmp(name, one.name)) continue;
    MUST(cudaSetDevice(0));
    one.run();
    // Where the memory of another GPU may not be used, the kernel has ended with an error.
    for (int gpu = 0; gpu < 2; gpu++) {
      cudaSetDevice(gpu);
      printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    }
    return 0;
  }
  variables(0);
  variables(1);
  errors();
  return 0;
}
