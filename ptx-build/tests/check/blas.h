// What the tests use of NVIDIA's library, by its own names and numbers.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

extern "C" {
typedef struct Library* cublasHandle_t;
enum { CUBLAS_OP_N, CUBLAS_OP_T };
enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
int cublasCreate_v2(cublasHandle_t*);
int cublasDestroy_v2(cublasHandle_t);
int cublasSetStream_v2(cublasHandle_t, cudaStream_t);
int cublasSetPointerMode_v2(cublasHandle_t, int);
int cublasSetWorkspace_v2(cublasHandle_t, void*, size_t);
int cublasSetMatrixAsync(int, int, int, const void*, int, void*, int, cudaStream_t);
int cublasGetMatrix(int, int, int, const void*, int, void*, int);
int cublasGetVector(int, int, const void*, int, void*, int);
int cublasSetVector(int, int, const void*, int, void*, int);
int cublasGetVersion_v2(cublasHandle_t, int*);
const char* cublasGetStatusName(int);
const char* cublasGetStatusString(int);
int cublasSdot_v2(cublasHandle_t, int, const float*, int, const float*, int, float*);
int cublasSgemv_v2(cublasHandle_t, int, int, int, const float*, const float*, int, const float*, int, const float*, float*, int);
int cublasSgemm_v2(cublasHandle_t, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*, float*, int);
int cublasSgemmBatched(cublasHandle_t, int, int, int, int, int, const float*, const float* const*, int, const float* const*, int,
                       const float*, float* const*, int, int);
int cublasStrsm_v2(cublasHandle_t, int, int, int, int, int, int, const float*, const float*, int, float*, int);
int cublasGemmEx(cublasHandle_t, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*, void*, int,
                 int, int, int);
int cublasSgetrfBatched(cublasHandle_t, int, float* const*, int, int*, int*, int);

int cublasLtMatmulDescCreate(void**, int, int);
int cublasLtMatmulDescSetAttribute(void*, int, const void*, size_t);
int cublasLtMatrixLayoutCreate(void**, int, uint64_t, uint64_t, int64_t);
int cublasLtMatmul(cublasHandle_t, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*, void*, void*,
                   const void*, void*, size_t, cudaStream_t);
}
