// Matrix product with an epilogue on tensor cores: bfloat16 inputs, float32 accumulation, results in float32 or bfloat16.
//
// Promise: C (M, N) = epilogue(A B), A (M, K) or given transposed (K, M), B (K, N) or given transposed (N, K), all contiguous.
//   An element is summed over k in steps of 16, in order, whatever the tile sizes: the same bits on every run. Out (float or
//   bfloat16) is the type of what is written and of the residual; biases and scales are float.
// Limits: M up to 65,535 BM. Any other sizes, any alignment; only rows that begin at multiples of 16 bytes are copied
//   asynchronously. shared_mem: STAGES (BM + BN) BK 2 bytes.
// Bytes: 2 (M K ceil(N / BN) + K N ceil(M / BM)) + sizeof(Out) M N.   FLOPs: 2 M N K.
// Architectures: sm_80 and newer.
// Chapter: 09, read, not built.
#include <cuda_bf16.h>

#include "epilogues.cuh"
#include "gemm_bf16_tile.cuh"

// The z-th product of a batch, or the z-th part of a sum that is split over k: as in gemm.cu.
template <class Out, bool TRANSPOSE_A, bool TRANSPOSE_B, int BM, int BN, int BK, int WM, int WN, int STAGES>
__global__ void __launch_bounds__(BM / WM * BN / WN * 32)
gemm_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, Out* C, int M, int N, int K, long long stride_a, long long stride_b,
          int split) {
    extern __shared__ __align__(128) __nv_bfloat16 slices[];
    const size_t z = blockIdx.z;
    const int begin = z * split, end = split > 0 && begin + split < K ? begin + split : K;
    const Store<Out> epilogue = {Rows<Out>(C + z * M * N, N), Bias(nullptr, N)};
    gemm_bf16_tile<TensorTile<BM, BN, BK, WM, WN, STAGES>, TRANSPOSE_A, TRANSPOSE_B>(
        slices, A + z * stride_a, B + z * stride_b, M, N, K, begin, end, epilogue);
}

// Below: y (M, N) = epilogue(x weight^T), a linear layer with its epilogue. x (M, K), weight (N, K), bias (N) or null.

template <class Out, int BM, int BN, int BK, int WM, int WN, int STAGES>
__global__ void __launch_bounds__(BM / WM * BN / WN * 32)
gemm_bf16_bias(const __nv_bfloat16* x, const __nv_bfloat16* weight, const float* bias, Out* y, int M, int N, int K) {
    extern __shared__ __align__(128) __nv_bfloat16 slices[];
    const Store<Out> epilogue = {Rows<Out>(y, N), Bias(bias, N)};
    gemm_bf16_tile<TensorTile<BM, BN, BK, WM, WN, STAGES>, false, true>(slices, x, weight, M, N, K, 0, K, epilogue);
}

// pre = x weight^T + bias, y = gelu(pre)
template <class Out, int BM, int BN, int BK, int WM, int WN, int STAGES>
__global__ void __launch_bounds__(BM / WM * BN / WN * 32)
gemm_bf16_gelu(const __nv_bfloat16* x, const __nv_bfloat16* weight, const float* bias, Out* pre, Out* y, int M, int N, int K) {
    extern __shared__ __align__(128) __nv_bfloat16 slices[];
    const StoreGelu<Out> epilogue = {Rows<Out>(y, N), Rows<Out>(pre, N), Bias(bias, N)};
    gemm_bf16_tile<TensorTile<BM, BN, BK, WM, WN, STAGES>, false, true>(slices, x, weight, M, N, K, 0, K, epilogue);
}

// y = x weight^T + bias + residual (M, N)
template <class Out, int BM, int BN, int BK, int WM, int WN, int STAGES>
__global__ void __launch_bounds__(BM / WM * BN / WN * 32)
gemm_bf16_residual(const __nv_bfloat16* x, const __nv_bfloat16* weight, const float* bias, const Out* residual, Out* y, int M,
                   int N, int K) {
    extern __shared__ __align__(128) __nv_bfloat16 slices[];
    const StoreResidual<Out> epilogue = {Rows<Out>(y, N), Rows<Out>((Out*)residual, N), Bias(bias, N)};
    gemm_bf16_tile<TensorTile<BM, BN, BK, WM, WN, STAGES>, false, true>(slices, x, weight, M, N, K, 0, K, epilogue);
}

// y = scale (M) times the rows of x weight^T
template <class Out, int BM, int BN, int BK, int WM, int WN, int STAGES>
__global__ void __launch_bounds__(BM / WM * BN / WN * 32)
gemm_bf16_row_scale(const __nv_bfloat16* x, const __nv_bfloat16* weight, const float* scale, Out* y, int M, int N, int K) {
    extern __shared__ __align__(128) __nv_bfloat16 slices[];
    const StoreScaled<Out> epilogue = {Rows<Out>(y, N), scale};
    gemm_bf16_tile<TensorTile<BM, BN, BK, WM, WN, STAGES>, false, true>(slices, x, weight, M, N, K, 0, K, epilogue);
}

// logits = x weight^T + bias; part_m and part_l (M, parts), a part for each WN columns: see StoreLogsumexp
template <class Out, int BM, int BN, int BK, int WM, int WN, int STAGES>
__global__ void __launch_bounds__(BM / WM * BN / WN * 32)
gemm_bf16_logsumexp(const __nv_bfloat16* x, const __nv_bfloat16* weight, const float* bias, Out* logits, float* part_m,
                    float* part_l, int M, int N, int K) {
    extern __shared__ __align__(128) __nv_bfloat16 slices[];
    typedef TensorTile<BM, BN, BK, WM, WN, STAGES> T;
    const int parts = gridDim.x * T::WARPS_N;
    const StoreLogsumexp<Out> epilogue = {Rows<Out>(logits, N), Bias(bias, N), part_m, part_l, M, parts, nothing_seen()};
    gemm_bf16_tile<T, false, true>(slices, x, weight, M, N, K, 0, K, epilogue);
}
