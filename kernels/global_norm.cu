// The global norm, the length of all gradients taken as one vector: what clipping compares with its limit.
//
// Promise: y[0] = sqrt(sum of the squares of all elements of up to MOST arrays to a launch). The first kernel leaves the sum of
//   EACH elements in partial[first + block], the second adds all of these up. Order and bits are the same on every run.
// Limits: each array of fewer than 2^31 elements. Squares above 3.4e38 become infinite.
// Bytes: 4 n.   FLOPs: 2 n.
// Architectures: sm_75 and newer.
// Chapter: 12, built. Its global_norm_squares, that is; the other is read.
#include "edges.cuh"
#include "reduce.cuh"

// region gradients
constexpr int MOST = 240;   // the arguments of a launch take at most 4 KB
constexpr int EACH = 8192;  // elements of a block: few enough for float32 to add, many enough that a block is worth its start

struct Gradients {
    const float* array[MOST];
    int size[MOST];
    int end[MOST];  // blocks up to here work on this array or on one before it
    int count;
};
// endregion

template <int THREADS>
__global__ void global_norm_squares(const __grid_constant__ Gradients gradients, float* partial, int first) {
    int low = 0, high = gradients.count - 1;  // the first array whose end is beyond this block
    while (low < high) {
        const int middle = (low + high) / 2;
        if (blockIdx.x < gradients.end[middle]) high = middle;
        else low = middle + 1;
    }
    const int begin = (blockIdx.x - (low ? gradients.end[low - 1] : 0)) * EACH;
    const int length = min(EACH, gradients.size[low] - begin);
    const float* own = gradients.array[low] + begin;
    const bool aligned = row_is_aligned(own, length);
    float sum = 0.0f;
    for (int i = 4 * threadIdx.x; i < length; i += 4 * THREADS) {
        const float4 four = load_four(own, i, length, aligned);
        sum += (four.x * four.x + four.y * four.y) + (four.z * four.z + four.w * four.w);
    }
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0) partial[first + blockIdx.x] = sum;
}

template <int THREADS> __global__ void global_norm_root(const float* partial, float* y, int count) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS) sum += partial[i];
    sum = block_sum<THREADS>(sum);
    if (threadIdx.x == 0) y[0] = sqrtf(sum);
}
