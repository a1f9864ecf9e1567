// Two transposes, with and without conflicts in shared memory, and a kernel of which a part is not executed.
#include <cstdio>
constexpr int N = 64;

__global__ void naive(float *out, const float *in) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  out[x * N + y] = in[y * N + x];
}

template <int PAD> __global__ void tiled(float *out, const float *in) {
  __shared__ float tile[32][32 + PAD];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * N + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  out[y * N + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void scale(float *p, float f) {
  if (f < 0) {
    p[threadIdx.x] = -p[threadIdx.x];
    __threadfence();
  }
  p[threadIdx.x] *= f;
}

int main(int count, char **) {
  float *a, *b;
  cudaMalloc(&a, N * N * 4);
  cudaMalloc(&b, N * N * 4);
  cudaMemset(a, 0, N * N * 4);
  dim3 grid(N / 32, N / 32), block(32, 32);
  naive<<<grid, block>>>(b, a);
  tiled<0><<<grid, block>>>(b, a);
  tiled<1><<<grid, block>>>(b, a);
  for (int i = 0; i < 3; i++) scale<<<1, 32>>>(a, count > 1 ? -2 : 2);
  printf("%d\n", cudaDeviceSynchronize());
}
