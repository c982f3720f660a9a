// The types of cuBLASLt, so that programs compile that only make its handle. Its product is not simulated, and says so.
#pragma once
#include "cublas_v2.h"

typedef cublasContext* cublasLtHandle_t;
struct SimLt { int nothing; };
typedef SimLt *cublasLtMatmulDesc_t, *cublasLtMatrixLayout_t, *cublasLtMatmulPreference_t;
struct cublasLtMatmulAlgo_t { int nothing; };
struct cublasLtMatmulHeuristicResult_t { cublasLtMatmulAlgo_t algo; size_t workspaceSize; cublasStatus_t state; };
enum cublasLtEpilogue_t {
    CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_RELU = 2, CUBLASLT_EPILOGUE_BIAS = 4, CUBLASLT_EPILOGUE_RELU_BIAS = 6,
    CUBLASLT_EPILOGUE_GELU = 32, CUBLASLT_EPILOGUE_GELU_BIAS = 36
};
enum cublasLtMatmulDescAttributes_t {
    CUBLASLT_MATMUL_DESC_TRANSA = 3, CUBLASLT_MATMUL_DESC_TRANSB = 4, CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
    CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8
};
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };

static inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { return cublasCreate(handle); }
static inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return cublasDestroy(handle); }
#define SIM_LT(NAME)                                                                                                     \
    template <class... A> cublasStatus_t NAME(A...) {                                                                    \
        fprintf(stderr, #NAME ": cuBLASLt is not simulated; cublasSgemm and cublasGemmEx are.\n");                       \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                                              \
    }
SIM_LT(cublasLtMatmulDescCreate) SIM_LT(cublasLtMatmulDescDestroy) SIM_LT(cublasLtMatmulDescSetAttribute)
SIM_LT(cublasLtMatrixLayoutCreate) SIM_LT(cublasLtMatrixLayoutDestroy) SIM_LT(cublasLtMatrixLayoutSetAttribute)
SIM_LT(cublasLtMatmulPreferenceCreate) SIM_LT(cublasLtMatmulPreferenceDestroy) SIM_LT(cublasLtMatmulPreferenceSetAttribute)
SIM_LT(cublasLtMatmulAlgoGetHeuristic) SIM_LT(cublasLtMatmul)
