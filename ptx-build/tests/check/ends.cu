// How a program ends, and which order of the threads a finding names.
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <pthread.h>

// It goes astray in every order, or if the first warp comes first.
__global__ void astray(int* out, int* first, bool always) {
  bool is_first = threadIdx.x % 32 == 0 && atomicAdd(first, 1) == 0;
  if (always || is_first && threadIdx.x == 0) out[1 << 24] = 1;
}

// Threads race, and the kernel ends.
__global__ void race(int* out) { out[0] = threadIdx.x; }

__global__ void add(int* out) { out[0]++; }

static pthread_key_t key;
static int* counter;

// The last that a thread does: what a library frees for a thread is freed here. A runtime may have ended what it knows of the
// thread in an earlier round.
void at_end_of_thread(void* given) {
  static int rounds;
  if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(key, given);
    return;
  }
  auto stream = static_cast<cudaStream_t>(given);
  add<<<1, 1, 0, stream>>>(counter);
  printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(stream)));
  printf("%s\n", cudaGetErrorName(cudaStreamDestroy(stream)));
}

void* begin_thread(void*) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamSynchronize(stream);
  pthread_setspecific(key, stream);
  return nullptr;
}

int main(int count, char** words) {
  int* out;
  cudaMalloc(&out, 256);
  cudaMemset(out, 0, 256);
  if (!strcmp(words[1], "crash")) {
    race<<<2, 32>>>(out);
    cudaDeviceSynchronize();
    raise(SIGABRT);
  }
  if (!strcmp(words[1], "thread")) {
    pthread_t thread;
    counter = out;
    cudaDeviceSynchronize();
    pthread_key_create(&key, at_end_of_thread);
    pthread_create(&thread, nullptr, begin_thread, nullptr);
    pthread_join(thread, nullptr);
    int sum;
    cudaMemcpy(&sum, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", sum);
    return 0;
  }
  astray<<<1, 64>>>(out, out + 1, !strcmp(words[1], "always"));
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
