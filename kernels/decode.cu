// A step of generation: the new key and value go to the end of the cache, and one query attends to all of it.
//
// The attention is include/one_query.cuh's.
//
// Promise: cache_append: rows length[0] of the caches (B, N, G, D) become k and v (B, 1, G, D). decode_attention: y (B, 1, H, D)
//   and logsumexp (B, H, 1) of q (B, 1, H, D) over the first S rows of caches (B, N, G, D), or over length[0] + 1 rows if `length`
//   is given: read on the device, so that one captured graph serves every step. X is float or __nv_bfloat16. The same bits on
//   every run.
// Limits: d at most D, which is 32, 64 or 128; at least one row to attend to; length[0] < N.
// Bytes: 8 B S G D times H / G for reading keys and values in float, and little else.   FLOPs: 4 B H S D.
// Architectures: sm_75 and newer.
// Chapter: 17, read, not built.
#include "one_query.cuh"

// Thread i owns element i of k and of v.
template <class X>
__global__ void cache_append(const X* k, const X* v, X* k_cache, X* v_cache, const int* length, int n, int N, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // row: the G D numbers of one position
    if (i >= n) return;
    long long at = ((long long)(i / row) * N + length[0]) * row + i % row;
    k_cache[at] = k[i];
    v_cache[at] = v[i];
}

// Block (h, b) owns a query.
template <class X, int D>
__global__ void __launch_bounds__(READER_THREADS)
decode_attention(const X* q, const X* k, const X* v, const int* length, X* y, float* logsumexp, int S, int N, int H, int G, int d,
                 float scale) {
    const int h = blockIdx.x, b = blockIdx.y, g = h / (H / G);
    if (length) S = length[0] + 1;
    const long long query = (long long)b * H + h;
    const auto row = [=](int s) { return (((long long)b * N + s) * G + g) * d; };
    const float found = attend_one<D>(
        q + query * d, S, d, scale, [=](int s) { return Row<X>{k + row(s)}; }, [=](int s) { return Row<X>{v + row(s)}; },
        [=](int i, float number) { store(&y[query * d + i], number); });
    if (threadIdx.x == 0) logsumexp[query] = found;
}
