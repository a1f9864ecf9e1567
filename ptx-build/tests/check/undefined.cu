// A kernel sorts records of which a field was never set, and they are copied. Another kernel uses the field, or does not.
#include <cstdio>
#include <cstring>

struct alignas(16) Record {
  int key;
  float weight;
  float unset;
  int last;
};

__global__ void fill(Record *records) {
  Record &own = records[blockIdx.x * blockDim.x + threadIdx.x];
  own.key = (threadIdx.x * 7) % blockDim.x;
  own.weight = threadIdx.x;
  own.last = 1;
}

__global__ void sort(Record *sorted, const Record *records) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  sorted[blockIdx.x * blockDim.x + records[at].key] = records[at];
}

__global__ void set(Record *records) {
  records[blockIdx.x * blockDim.x + threadIdx.x].unset = 2;
}

__global__ void sum(float *sums, const Record *records, bool of_all) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  Record own = records[at];
  sums[at] = own.weight + own.last + (of_all ? own.unset : 0);
}

int main(int count, char **words) {
  const char *word = count > 1 ? words[1] : "";
  const int blocks = 64, threads = 128, records = blocks * threads;
  Record *made, *sorted, *copied;
  float *sums, back[records];
  cudaMalloc(&made, records * sizeof(Record));
  cudaMalloc(&sorted, records * sizeof(Record));
  cudaMalloc(&copied, records * sizeof(Record));
  cudaMalloc(&sums, sizeof back);
  fill<<<blocks, threads>>>(made);
  sort<<<blocks, threads>>>(copied, made);
  sort<<<blocks, threads>>>(sorted, copied);
  cudaMemcpyAsync(copied, sorted, records * sizeof(Record), cudaMemcpyDeviceToDevice);
  if (!strcmp(word, "set")) set<<<blocks, threads>>>(copied);
  sum<<<blocks, threads>>>(sums, copied, *word);
  if (cudaError_t error = cudaMemcpy(back, sums, sizeof back, cudaMemcpyDeviceToHost)) {
    printf("%s\n", cudaGetErrorName(error));
    return 3;
  }
  float all = 0;
  for (float sum : back) all += sum;
  if (strcmp(word, "wrong") && all != blocks * threads * ((threads - 1) / 2.0f + 1 + (*word ? 2 : 0))) return 5;
  printf("right\n");
  return 0;
}
