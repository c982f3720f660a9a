// A little of cuBLAS, for programs that compare their kernels with it: plain loops on this processor, in float32 or double.
//
// Handles, float32 and double matrix products, one or many (Sgemm, Dgemm, SgemmStridedBatched, Sgemv), vectors (Saxpy, Sscal,
// Sdot, Scopy), GemmEx with float, half and bfloat16 matrices, and copies (SetVector, GetMatrix). As in cuBLAS, matrices are
// stored by columns. What is not here is an error of the compiler that names it. Of cuBLASLt there are the types alone: its
// product answers CUBLAS_STATUS_NOT_SUPPORTED.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#define CUBLAS_API_H_  // headers of others ask by this

enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15, CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
typedef cudaDataType_t cudaDataType;
struct cublasContext { cublasPointerMode_t mode; };
typedef cublasContext* cublasHandle_t;

static inline const char* cublasGetStatusString(cublasStatus_t status) { return status ? "an error of cuBLAS" : "success"; }
static inline cublasStatus_t cublasCreate(cublasHandle_t* handle) { return *handle = new cublasContext{}, CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasDestroy(cublasHandle_t handle) { return delete handle, CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) { return CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
    return handle->mode = mode, CUBLAS_STATUS_SUCCESS;
}

namespace sim {
// C = alpha * op(A) op(B) + beta * C, with sums in S. A value of half or bfloat16 becomes a float first.
template <class S, class A, class B, class C>  // without hooks: it stands for kernels of cuBLAS, not for the host's code
SIM_UNCHECKED void product(cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, S alpha, const A* a, int lda, const B* b, int ldb,
             S beta, C* c, int ldc) {
    S* column = new S[m];
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) column[i] = 0;
        for (int p = 0; p < k; p++) {
            B right = of_b ? b[j + size_t(p) * ldb] : b[p + size_t(j) * ldb];
            for (int i = 0; i < m; i++) {
                A left = of_a ? a[p + size_t(i) * lda] : a[i + size_t(p) * lda];
                column[i] += S(left) * S(right);
            }
        }
        for (int i = 0; i < m; i++) {
            C old = c[i + size_t(j) * ldc];
            c[i + size_t(j) * ldc] = C(alpha * column[i] + (beta == S(0) ? S(0) : beta * S(old)));
        }
    }
    delete[] column;
}
}  // namespace sim

#define SIM_GEMM(LETTER, T)                                                                                                 \
    SIM_UNCHECKED static inline cublasStatus_t cublas##LETTER##gemm(                                                                      \
        cublasHandle_t, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const T* alpha, const T* a,    \
        int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {                                                       \
        return sim::product<T>(of_a, of_b, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc), CUBLAS_STATUS_SUCCESS;          \
    }                                                                                                                       \
    SIM_UNCHECKED static inline cublasStatus_t cublas##LETTER##gemmStridedBatched(                                                        \
        cublasHandle_t, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const T* alpha, const T* a,    \
        int lda, long long next_a, const T* b, int ldb, long long next_b, const T* beta, T* c, int ldc, long long next_c,   \
        int count) {                                                                                                        \
        for (int i = 0; i < count; i++)                                                                                     \
            sim::product<T>(of_a, of_b, m, n, k, *alpha, a + i * next_a, lda, b + i * next_b, ldb, *beta, c + i * next_c, ldc); \
        return CUBLAS_STATUS_SUCCESS;                                                                                       \
    }                                                                                                                       \
    SIM_UNCHECKED static inline cublasStatus_t cublas##LETTER##gemv(cublasHandle_t, cublasOperation_t of_a, int m, int n, const T* alpha, \
                                                      const T* a, int lda, const T* x, int step_x, const T* beta, T* y,     \
                                                      int step_y) {                                                         \
        for (int row = 0; row < (of_a ? n : m); row++) {                                                                    \
            T sum = 0;                                                                                                      \
            for (int p = 0; p < (of_a ? m : n); p++)                                                                        \
                sum += (of_a ? a[p + size_t(row) * lda] : a[row + size_t(p) * lda]) * x[size_t(p) * step_x];                \
            T& out = y[size_t(row) * step_y];                                                                               \
            out = *alpha * sum + (*beta == 0 ? 0 : *beta * out);                                                            \
        }                                                                                                                   \
        return CUBLAS_STATUS_SUCCESS;                                                                                       \
    }                                                                                                                       \
    SIM_UNCHECKED static inline cublasStatus_t cublas##LETTER##axpy(cublasHandle_t, int n, const T* alpha, const T* x, int step_x, T* y,  \
                                                      int step_y) {                                                         \
        for (int i = 0; i < n; i++) y[size_t(i) * step_y] += *alpha * x[size_t(i) * step_x];                                \
        return CUBLAS_STATUS_SUCCESS;                                                                                       \
    }                                                                                                                       \
    SIM_UNCHECKED static inline cublasStatus_t cublas##LETTER##scal(cublasHandle_t, int n, const T* alpha, T* x, int step) {              \
        for (int i = 0; i < n; i++) x[size_t(i) * step] *= *alpha;                                                          \
        return CUBLAS_STATUS_SUCCESS;                                                                                       \
    }                                                                                                                       \
    SIM_UNCHECKED static inline cublasStatus_t cublas##LETTER##copy(cublasHandle_t, int n, const T* x, int step_x, T* y, int step_y) {    \
        for (int i = 0; i < n; i++) y[size_t(i) * step_y] = x[size_t(i) * step_x];                                          \
        return CUBLAS_STATUS_SUCCESS;                                                                                       \
    }                                                                                                                       \
    SIM_UNCHECKED static inline cublasStatus_t cublas##LETTER##dot(cublasHandle_t, int n, const T* x, int step_x, const T* y, int step_y, \
                                                     T* sum) {                                                              \
        T all = 0;                                                                                                          \
        for (int i = 0; i < n; i++) all += x[size_t(i) * step_x] * y[size_t(i) * step_y];                                   \
        return *sum = all, CUBLAS_STATUS_SUCCESS;                                                                           \
    }
SIM_GEMM(S, float) SIM_GEMM(D, double)

// A vector is copied as the only row of a matrix, a matrix column by column. A step of a vector is counted in elements.
static inline cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void* a, int lda, void* b, int ldb, SIM_SITE) {
    size_t from = size_t(lda) * bytes, to = size_t(ldb) * bytes;
    return cudaMemcpy2D(b, to, a, from, size_t(rows) * bytes, columns, cudaMemcpyHostToDevice, site) ? CUBLAS_STATUS_MAPPING_ERROR
                                                                                                      : CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void* a, int lda, void* b, int ldb, SIM_SITE) {
    size_t from = size_t(lda) * bytes, to = size_t(ldb) * bytes;
    return cudaMemcpy2D(b, to, a, from, size_t(rows) * bytes, columns, cudaMemcpyDeviceToHost, site) ? CUBLAS_STATUS_MAPPING_ERROR
                                                                                                      : CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetVector(int n, int bytes, const void* x, int step_x, void* y, int step_y, SIM_SITE) {
    return cublasSetMatrix(1, n, bytes, x, step_x, y, step_y, site);
}
static inline cublasStatus_t cublasGetVector(int n, int bytes, const void* x, int step_x, void* y, int step_y, SIM_SITE) {
    return cublasGetMatrix(1, n, bytes, x, step_x, y, step_y, site);
}

// One type for all three matrices; sums in float32, as with CUBLAS_COMPUTE_32F.
static inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const void* alpha, const void* a,
    cudaDataType_t type_a, int lda, long long next_a, const void* b, cudaDataType_t type_b, int ldb, long long next_b, const void* beta,
    void* c, cudaDataType_t type_c, int ldc, long long next_c, int count, cublasComputeType_t compute, cublasGemmAlgo_t) {
    if (type_a != type_b || type_a != type_c || compute == CUBLAS_COMPUTE_16F) return CUBLAS_STATUS_NOT_SUPPORTED;
    float scale = *(const float*)alpha, keep = *(const float*)beta;
    auto all = [&](auto* first) {
        using T = std::remove_reference_t<decltype(*first)>;
        for (int i = 0; i < count; i++)
            sim::product<float>(of_a, of_b, m, n, k, scale, (const T*)a + i * next_a, lda, (const T*)b + i * next_b, ldb, keep,
                                (T*)c + i * next_c, ldc);
        return CUBLAS_STATUS_SUCCESS;
    };
    switch (type_a) {
        case CUDA_R_32F: return all((float*)c);
        case CUDA_R_16F: return all((half*)c);
        case CUDA_R_16BF: return all((__nv_bfloat16*)c);
        default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}
static inline cublasStatus_t cublasGemmEx(
    cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k, const void* alpha, const void* a,
    cudaDataType_t type_a, int lda, const void* b, cudaDataType_t type_b, int ldb, const void* beta, void* c, cudaDataType_t type_c,
    int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
    return cublasGemmStridedBatchedEx(handle, of_a, of_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c, type_c, ldc, 0,
                                      1, compute, algorithm);
}
