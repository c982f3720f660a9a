// The last step of gemm_logsumexp: a row's parts become its logsumexp.
//
// Promise: logsumexp[row] = log of the sum over parts of part_l[part] exp(part_m[part]), without overflow: every part is first
//   rescaled to the largest part_m (Milakov and Gimelshein 2018). The parts are added in order: the same bits on every run.
// Limits: none. A part without elements has m = -infinity and contributes nothing.
// Bytes: 16 M parts (read twice) + 4 M.   FLOPs: about 20 M parts.
// Architectures: sm_75 and newer.
// Chapter: 11, built.

// Thread i owns row i. part_m and part_l (M, parts), logsumexp (M).
extern "C" __global__ void logsumexp_merge(const float* part_m, const float* part_l, float* logsumexp, int M, int parts) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    part_m += (size_t)row * parts;
    part_l += (size_t)row * parts;
    float m = -INFINITY, l = 0.0f;
    for (int part = 0; part < parts; part++) m = fmaxf(m, part_m[part]);
    for (int part = 0; part < parts; part++)
        if (part_m[part] > -INFINITY) l += part_l[part] * expf(part_m[part] - m);
    logsumexp[row] = m + logf(l);
}
