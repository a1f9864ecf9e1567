// A number that one block hands to another by a flag, with strong accesses alone. Each case is named on the command line.
#include <cstdio>
#include <cstring>

extern "C" __global__ void hand_over(volatile int *data, volatile int *flag, int *to, bool fences) {
  if (blockIdx.x == 0) {
    *data = 7;
    if (fences) __threadfence();
    *flag = 1;
  } else {
    while (!*flag) {}
    if (fences) __threadfence();
    *to = *data;
  }
}

extern "C" __global__ void draw(int *count, int *to) { to[blockIdx.x] = atomicAdd(count, 1); }

int main(int count, char **words) {
  int *data, numbers[3];
  cudaMalloc(&data, sizeof numbers);
  for (int turn = 0; turn < 2; turn++) {
    cudaMemset(data, 0, sizeof numbers);
    if (!strcmp(words[1], "draw")) draw<<<2, 1>>>(data, data + 1);
    else hand_over<<<2, 1>>>(data, data + 1, data + 2, !strcmp(words[1], "right"));
    cudaMemcpy(numbers, data, sizeof numbers, cudaMemcpyDeviceToHost);
    printf("%d\n", numbers[0] * numbers[2]);
  }
}
