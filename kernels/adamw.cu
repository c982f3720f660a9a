// AdamW: one step of many parameters in one launch, with clipped gradients. (Loshchilov and Hutter 2019)
//
// A model has dozens of arrays, most of them small; a launch for each would cost more than the work. So one launch gets a list
// of arrays by value, and each block searches for the array that it works on.
//
// Promise: in place, in PyTorch's order: p *= 1 - rate decay; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
//   p -= rate (m / correction1) / (sqrt(v / correction2) + eps), with g = gradient min(1, max_norm / (norm + 1e-6)) where a norm
//   is given. rate, correction1 = 1 - beta1^t and correction2 = 1 - beta2^t are read from `settings` (3), the norm from `norm`
//   (1), so that a step can be captured as a graph. Where a list has copies, the new p is rounded to bfloat16 there: the weights
//   that the products read, while p keeps all its digits. The same bits on every run.
// Limits: at most MOST arrays to a launch, each of fewer than 2^31 elements.
// Bytes: 28 n, 30 n with copies.   FLOPs: about 15 n.
// Architectures: sm_75 and newer.
// Chapter: 12, built.
#include <cuda_bf16.h>

// region arrays
constexpr int MOST = 72;  // the arguments of a launch take at most 4 KB
constexpr int EACH = 16;  // elements of a thread, blockDim.x apart: the search for the array serves them all

struct Arrays {
    float* parameter[MOST];
    const float* gradient[MOST];
    float* first[MOST];
    float* second[MOST];
    __nv_bfloat16* copy[MOST];  // null: none
    int size[MOST];
    int end[MOST];  // blocks up to here work on this array or on one before it
    float decay[MOST];
    int count;
};
// endregion

extern "C" __global__ void adamw_step(const __grid_constant__ Arrays arrays, const float* settings, const float* norm, float beta1,
                                      float rest1, float beta2, float rest2, float eps, float max_norm) {
    int low = 0, high = arrays.count - 1;  // the first array whose end is beyond this block
    while (low < high) {
        int middle = (low + high) / 2;
        if (blockIdx.x < arrays.end[middle]) high = middle;
        else low = middle + 1;
    }
    float *p = arrays.parameter[low], *m = arrays.first[low], *v = arrays.second[low];
    const float* g = arrays.gradient[low];
    __nv_bfloat16* copy = arrays.copy[low];
    const int block = blockIdx.x - (low ? arrays.end[low - 1] : 0), size = arrays.size[low];
    const float rate = settings[0], correction1 = settings[1], correction2 = settings[2];
    const float clip = norm ? fminf(1.0f, max_norm / (norm[0] + 1e-6f)) : 1.0f, keep = 1.0f - rate * arrays.decay[low];
#pragma unroll 4
    for (int j = 0; j < EACH; j++) {
        const int i = (block * EACH + j) * blockDim.x + threadIdx.x;
        if (i >= size) return;
        const float gi = g[i] * clip, mi = beta1 * m[i] + rest1 * gi, vi = beta2 * v[i] + rest2 * gi * gi;
        const float pi = p[i] * keep - rate * (mi / correction1) / (sqrtf(vi / correction2) + eps);
        p[i] = pi;
        m[i] = mi;
        v[i] = vi;
        if (copy) copy[i] = __float2bfloat16(pi);
    }
}
