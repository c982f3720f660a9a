// Matrix product with an epilogue, float32: every product that the model trains on.
//
// Promise: C (M, N) = epilogue(A B), A (M, K) or given transposed (K, M), B (K, N) or given transposed (N, K), all contiguous.
//   An element is the sum over k = 0, 1, 2, ... in this order, whatever the tile sizes: the same bits on every run.
// Limits: M up to 65,535 BM. Any other sizes, any alignment; rows that begin at multiples of 16 bytes load four at a time.
// Bytes: 4 (M K ceil(N / BN) + K N ceil(M / BM) + M N).   FLOPs: 2 M N K.
// Architectures: sm_75 and newer. At most 128 registers a thread (launch bounds), so that two blocks fit a multiprocessor.
// Chapter: 09, built.
// Chapter 08b builds the main loop, include/gemm_tile.cuh, and chapter 09 what follows it, include/epilogues.cuh.
#include "epilogues.cuh"
#include "gemm_tile.cuh"

// C = A B, several in one launch: product z = blockIdx.z uses A + z stride_a and B + z stride_b (a stride of 0 repeats the matrix)
// and writes the z-th (M, N) of C. With `split` above 0 it sums only over k = z split .. (z + 1) split - 1: C then holds partial
// products, which gemm_split_sum.cu adds up. So a small C with a long sum (a weight's gradient) still fills the GPU.
template <bool TRANSPOSE_A, bool TRANSPOSE_B, int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * BN / TN, 2)
gemm(const float* A, const float* B, float* C, int M, int N, int K, long long stride_a, long long stride_b, int split) {
    typedef Tile<BM, BN, BK, TM, TN> T;
    __shared__ __align__(16) typename T::SliceA a[2];
    __shared__ __align__(16) typename T::SliceB b[2];
    const size_t z = blockIdx.z;
    const int begin = z * split, end = split > 0 && begin + split < K ? begin + split : K;
    const Store<float> epilogue = {Rows<float>(C + z * M * N, N), Bias(nullptr, N)};
    gemm_tile<T, TRANSPOSE_A, TRANSPOSE_B>(a, b, A + z * stride_a, B + z * stride_b, M, N, K, begin, end, epilogue);
}

// Below: y (M, N) = epilogue(x weight^T), a linear layer with its epilogue. x (M, K), weight (N, K), bias (N) or null.

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * BN / TN, 2)
gemm_bias(const float* x, const float* weight, const float* bias, float* y, int M, int N, int K) {
    typedef Tile<BM, BN, BK, TM, TN> T;
    __shared__ __align__(16) typename T::SliceA a[2];
    __shared__ __align__(16) typename T::SliceB b[2];
    const Store<float> epilogue = {Rows<float>(y, N), Bias(bias, N)};
    gemm_tile<T, false, true>(a, b, x, weight, M, N, K, 0, K, epilogue);
}

// pre = x weight^T + bias, y = gelu(pre)
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * BN / TN, 2)
gemm_gelu(const float* x, const float* weight, const float* bias, float* pre, float* y, int M, int N, int K) {
    typedef Tile<BM, BN, BK, TM, TN> T;
    __shared__ __align__(16) typename T::SliceA a[2];
    __shared__ __align__(16) typename T::SliceB b[2];
    const StoreGelu<float> epilogue = {Rows<float>(y, N), Rows<float>(pre, N), Bias(bias, N)};
    gemm_tile<T, false, true>(a, b, x, weight, M, N, K, 0, K, epilogue);
}

// y = x weight^T + bias + residual (M, N)
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * BN / TN, 2)
gemm_residual(const float* x, const float* weight, const float* bias, const float* residual, float* y, int M, int N, int K) {
    typedef Tile<BM, BN, BK, TM, TN> T;
    __shared__ __align__(16) typename T::SliceA a[2];
    __shared__ __align__(16) typename T::SliceB b[2];
    const StoreResidual<float> epilogue = {Rows<float>(y, N), Rows<float>((float*)residual, N), Bias(bias, N)};
    gemm_tile<T, false, true>(a, b, x, weight, M, N, K, 0, K, epilogue);
}

// y = scale (M) times the rows of x weight^T
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * BN / TN, 2)
gemm_row_scale(const float* x, const float* weight, const float* scale, float* y, int M, int N, int K) {
    typedef Tile<BM, BN, BK, TM, TN> T;
    __shared__ __align__(16) typename T::SliceA a[2];
    __shared__ __align__(16) typename T::SliceB b[2];
    const StoreScaled<float> epilogue = {Rows<float>(y, N), scale};
    gemm_tile<T, false, true>(a, b, x, weight, M, N, K, 0, K, epilogue);
}

// logits = x weight^T + bias; part_m and part_l (M, parts), a part for each 8 TN columns: see StoreLogsumexp
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * BN / TN, 2)
gemm_logsumexp(const float* x, const float* weight, const float* bias, float* logits, float* part_m, float* part_l, int M, int N,
               int K) {
    typedef Tile<BM, BN, BK, TM, TN> T;
    __shared__ __align__(16) typename T::SliceA a[2];
    __shared__ __align__(16) typename T::SliceB b[2];
    const int parts = gridDim.x * T::WARPS_N;
    const StoreLogsumexp<float> epilogue = {Rows<float>(logits, N), Bias(bias, N), part_m, part_l, M, parts, nothing_seen()};
    gemm_tile<T, false, true>(a, b, x, weight, M, N, K, 0, K, epilogue);
}
