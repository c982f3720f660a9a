// RoPE: every pair (i, i + D/2) of a head rotated by the angle of its position; forward and backward. (Su et al. 2021)
//
// Promise: y = x rotated by cos and sin (T, D/2), x and y (B, T, H, D); backward rotates dy the other way: the transpose of a
//   rotation. The same bits on every run.
// Limits: D even; fewer than 2^31 pairs.
// Bytes: 8 n forward and backward, n = B T H D, and the tables, which stay in the cache.   FLOPs: 3 n.
// Architectures: sm_75 and newer.
// Chapter: 10a, built.

// Thread i owns a pair of x: numbers `at` and `at + half`. `sign` is the direction of the rotation.
__device__ __forceinline__ void rotate(const float* x, const float* cos, const float* sin, float* y, int pairs, int T, int H,
                                     int half, float sign) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    int row = i / half, column = i % half, t = row / H % T;  // row (b, t, h)
    long long at = 2ll * row * half + column;
    float c = cos[t * half + column], s = sign * sin[t * half + column], first = x[at], second = x[at + half];
    y[at] = first * c - second * s;
    y[at + half] = second * c + first * s;
}

extern "C" __global__ void rope_forward(const float* x, const float* cos, const float* sin, float* y, int pairs, int T, int H,
                                        int half) {
    rotate(x, cos, sin, y, pairs, T, H, half, 1.0f);
}

extern "C" __global__ void rope_backward(const float* dy, const float* cos, const float* sin, float* dx, int pairs, int T, int H,
                                         int half) {
    rotate(dy, cos, sin, dx, pairs, T, H, half, -1.0f);
}
