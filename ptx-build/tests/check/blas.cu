// Calls of cuBLAS that are wrong, each by its name, and what is right instead: `program right NAME`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "blas.h"

const int N = 16;
const size_t BYTES = N * N * sizeof(float);
static cublasHandle_t handle;
static cudaStream_t one, other;
static float alpha = 1, beta = 0, zeros[N * N];
static bool right;

__global__ void fill(float* to) { to[threadIdx.x] = threadIdx.x; }

static float* device(size_t bytes = BYTES, bool written = true) {
  float* at;
  cudaMalloc(&at, bytes);
  if (written) cudaMemcpy(at, zeros, bytes, cudaMemcpyHostToDevice);
  return at;
}

static int multiply(const float* a, const float* b, float* c, float* factor = &alpha) {
  return cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, factor, a, N, b, N, &beta, c, N);  // ~multiply
}

static void orders(cudaStream_t before, cudaStream_t after) {
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaEventRecord(event, before);
  cudaStreamWaitEvent(after, event, 0);
}

static void small_c() {
  float *a = device(), *b = device(), *c = device(right ? BYTES : BYTES - 4);
  multiply(a, b, c);
}

static void column_distance() {
  float *a = device(), *b = device(), *c = device();
  int lda = right ? N : N + 1;
  cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &alpha, a, lda, b, N, &beta, c, N);  // ~column_distance
}

static void unwritten() {
  float *a = device(BYTES, right), *b = device(), *c = device();
  multiply(a, b, c);
}

static void unwritten_c() {
  float *a = device(), *b = device(), *c = device(BYTES, false), half = right ? 0 : 0.5;
  cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &alpha, a, N, b, N, &half, c, N);  // ~unwritten_c
}

static void freed() {
  float *a = device(), *b = device(), *c = device();
  if (!right) cudaFree(a);
  multiply(a, b, c);
}

static void host_matrix() {
  float *a = right ? device() : (float*)calloc(1, BYTES), *b = device(), *c = device();
  multiply(a, b, c);
}

static void odd_address() {
  float *a = device(BYTES + 4), *b = device(), *c = device();
  multiply(right ? a : (float*)((char*)a + 2), b, c);
}

static void reads_too_early() {
  float *a = device(), *b = device(), *c = device();
  cudaDeviceSynchronize();
  fill<<<1, N, 0, other>>>(a);
  if (right) orders(other, one);
  multiply(a, b, c);
}

static void is_read_too_early() {
  float *a = device(), *b = device(), *c = device();
  cudaDeviceSynchronize();
  multiply(a, b, c);
  if (right) orders(one, other);
  fill<<<1, N, 0, other>>>(c);
}

static void two_calls() {
  float *a = device(), *b = device(), *c = device(), *d = device();
  cudaDeviceSynchronize();
  multiply(a, b, c);
  cublasSetStream_v2(handle, other);
  if (right) orders(one, other);
  cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &alpha, c, N, b, N, &beta, d, N);  // ~two_calls
}

static void graph() {
  float *a = device(), *b = device(), *c = device(), *d = device();
  cudaDeviceSynchronize();
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  orders(one, other);
  multiply(a, b, c);
  if (right) orders(one, other);
  cublasSetStream_v2(handle, other);
  cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &alpha, c, N, b, N, &beta, d, N);  // ~graph
  orders(other, one);
  cudaStreamEndCapture(one, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, one);
  cudaStreamSynchronize(one);
}

static void pinned() {
  float *a = device(), *b = device(), *c;
  cudaMallocHost(&c, BYTES);
  cudaDeviceSynchronize();
  multiply(a, b, c);
  if (right) cudaStreamSynchronize(one);
  printf("%g\n", c[0]);  // ~pinned
}

static void pinned_matrix() {
  float *a = device(), *b;
  cudaMallocHost(&b, BYTES);
  cudaDeviceSynchronize();
  cublasSetMatrixAsync(N, N, sizeof(float), b, N, a, N, one);
  if (right) cudaStreamSynchronize(one);
  b[0] = 1;  // ~pinned_matrix
  // A program that only copies is refused: it launches no kernel.
  fill<<<1, 1>>>(device());
}

static void result_on_device() {
  float *x = device(), *sum = device(4), found;
  cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE);
  cudaDeviceSynchronize();
  cublasSdot_v2(handle, N, x, 1, x, 1, sum);  // ~result_on_device
  if (right) orders(one, other);
  cudaMemcpyAsync(&found, sum, 4, cudaMemcpyDeviceToHost, other);
}

static void alpha_on_host() {
  float *a = device(), *b = device(), *c = device(), *factors = device(8);
  cublasSetPointerMode_v2(handle, CUBLAS_POINTER_MODE_DEVICE);
  cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, right ? factors : &alpha, a, N, b, N, factors + 1, c, N);  // ~alpha_on_host
}

static void alpha_on_device() {
  float *a = device(), *b = device(), *c = device(), *factor = device(4);
  if (multiply(a, b, c, right ? &alpha : factor)) printf("refused\n");
}

static void result_on_host() {
  float *x = device(), *sum = device(4), found;
  if (cublasSdot_v2(handle, N, x, 1, x, 1, right ? &found : sum)) printf("refused\n");  // ~result_on_host
}

static void pointers_on_host() {
  float *a = device(), *b = device(), *c = device(), *all[3] = {a, b, c}, **pointers = (float**)device(sizeof all);
  cudaMemcpy(pointers, all, sizeof all, cudaMemcpyHostToDevice);
  if (!right) pointers = all;
  cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &alpha, pointers, N, pointers + 1, N, &beta, pointers + 2, N, 1);  // ~pointers_on_host
}

static void member_of_batch() {
  float *a = device(), *b = device(), *c = device(right ? BYTES : BYTES / 2), *all[6] = {a, a, b, b, device(), c}, **pointers = (float**)device(sizeof all);
  cudaMemcpy(pointers, all, sizeof all, cudaMemcpyHostToDevice);
  cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &alpha, pointers, N, pointers + 2, N, &beta, pointers + 4, N, 2);  // ~member_of_batch
}

static void bias() {
  float *a = device(), *b = device(), *c = device(), *bias = device(right ? N * 4 : N * 4 - 4);
  void *what, *layout;
  int epilogue = 4;
  cublasLtMatmulDescCreate(&what, 68, 0);
  cublasLtMatmulDescSetAttribute(what, 7, &epilogue, sizeof epilogue);
  cublasLtMatmulDescSetAttribute(what, 8, &bias, sizeof bias);
  cublasLtMatrixLayoutCreate(&layout, 0, N, N, N);
  cublasLtMatmul(handle, what, &alpha, a, layout, b, layout, &beta, c, layout, c, layout, 0, 0, 0, one);  // ~bias
}

// What calls with wrong arguments return.
static void statuses() {
  float *a = device(), *b = device(), *c = device();
  int n = N, version = 0, *none = 0;
  cublasHandle_t nobody = 0;
  auto gemm = [&](cublasHandle_t handle, int op, int m, int lda, float* factor) {
    return cublasSgemm_v2(handle, op, CUBLAS_OP_N, m, n, n, factor, a, lda, b, n, &beta, c, n);
  };
  cublasGetVersion_v2(handle, &version);
  printf("%d %d %d %d %d %d %d\n", gemm(handle, 0, n, n, &alpha), gemm(nobody, 0, n, n, &alpha), gemm(handle, 4, n, n, &alpha),
         gemm(handle, 0, -1, n, &alpha), gemm(handle, 0, n, n - 1, &alpha), gemm(handle, 0, n, n, 0), gemm(handle, 0, 0, 1, &alpha));
  printf("%d %d %d %d\n", cublasSgemv_v2(handle, 0, n, n, &alpha, a, n, b, 0, &beta, c, 1), cublasSdot_v2(handle, n, a, 1, b, 1, 0),
         cublasStrsm_v2(handle, 2, 0, 0, 0, n, n, &alpha, a, n, b, n), cublasSetPointerMode_v2(handle, 2));
  // Halves and floats, and a type that is none.
  printf("%d %d\n", cublasGemmEx(handle, 0, 0, 8, 8, 8, &alpha, a, 2, 8, b, 0, 8, &beta, c, 0, 8, 68, -1),
         cublasGemmEx(handle, 0, 0, 8, 8, 8, &alpha, a, 99, 8, b, 99, 8, &beta, c, 99, 8, 68, -1));
  printf("%d %d %d %d\n", cublasSetVector(n, 0, zeros, 1, a, 1), cublasGetMatrix(n, n, 4, a, n - 1, zeros, n), cublasCreate_v2(0),
         cublasSetWorkspace_v2(handle, (char*)a + 8, 64));
  printf("%d %s %s %d\n", cublasSgetrfBatched(handle, n, 0, n, none, none, 1), cublasGetStatusName(15), cublasGetStatusString(7), version > 120000);
  int first = cublasDestroy_v2(handle);
  printf("%d %d\n", first, cublasDestroy_v2(handle));
}

#define CASE(name) {#name, name}
static const struct {
  const char* name;
  void (*run)();
} CASES[] = {CASE(small_c), CASE(column_distance), CASE(unwritten), CASE(unwritten_c), CASE(freed), CASE(host_matrix), CASE(odd_address),
             CASE(reads_too_early), CASE(is_read_too_early), CASE(two_calls), CASE(graph), CASE(pinned), CASE(pinned_matrix),
             CASE(result_on_device), CASE(alpha_on_host), CASE(alpha_on_device), CASE(result_on_host), CASE(pointers_on_host), CASE(member_of_batch), CASE(bias),
             CASE(statuses)};

int main(int count, char** words) {
  right = count > 2;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cublasCreate_v2(&handle);
  cublasSetStream_v2(handle, one);
  for (auto& each : CASES)
    if (!strcmp(each.name, words[count - 1])) each.run();
  cudaDeviceSynchronize();
  return 0;
}
