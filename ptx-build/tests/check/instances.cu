// Two instances of a template lack the same barrier.
template <int FACTOR> __global__ void mirror(int *numbers) {
  __shared__ int part[64];
  part[threadIdx.x] = numbers[threadIdx.x];
  numbers[threadIdx.x] = FACTOR * part[63 - threadIdx.x];
}

int main() {
  int *numbers;
  cudaMalloc(&numbers, 64 * sizeof(int));
  cudaMemset(numbers, 0, 64 * sizeof(int));
  mirror<2><<<1, 64>>>(numbers);
  mirror<3><<<1, 64>>>(numbers);
  mirror<2><<<1, 64>>>(numbers);
  return cudaDeviceSynchronize() != cudaSuccess;
}
