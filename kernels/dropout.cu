// Dropout (Srivastava et al. 2014) without a stored mask: forward, and backward with the same call.
//
// Promise: y = x / (1 - probability) where the element's random word is at least `threshold`, else 0; the words are Philox4x32-10
//   of (element / 4, 0, step, site) with the key (seed low, seed high), the same on every device. dx is the same of dy: the
//   backward computes the bits again instead of reading a mask. y may be x.
// Limits: fewer than 2^31 elements.
// Bytes: 8 n.   FLOPs: n, and about 25 n integer operations.
// Architectures: sm_75 and newer.
// Chapter: 05, built.
#include "edges.cuh"
#include "philox.cuh"

// Thread i owns four consecutive elements from 4 i on: one call of Philox gives four words. `random` is seed low, seed high,
// step; scale is 1 / (1 - probability), threshold is probability times 2^32.
extern "C" __global__ void dropout(const float* x, const unsigned* random, float* y, unsigned long long threshold, float scale,
                                   unsigned site, int n) {
    const long long i = 4 * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const uint4 words = philox(make_uint4(i / 4, 0, random[2], site), make_uint2(random[0], random[1]));
    const float* own = x + i;
    const bool whole = i + 4 <= n && (size_t)own % 16 == 0;
    float4 four = load_four(own, 0, n - i, whole);
    four.x = words.x >= threshold ? four.x * scale : 0.0f;
    four.y = words.y >= threshold ? four.y * scale : 0.0f;
    four.z = words.z >= threshold ? four.z * scale : 0.0f;
    four.w = words.w >= threshold ? four.w * scale : 0.0f;
    store_four(y + i, 0, n - i, i + 4 <= n && (size_t)(y + i) % 16 == 0, four);
}
