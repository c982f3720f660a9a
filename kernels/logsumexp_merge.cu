// The last step of gemm_logsumexp: a row's parts become its logsumexp.
//
// Promise: logsumexp[row] = log of the sum over parts of totals[part] exp(tops[part]), without overflow: every part is first
//   brought to the largest of the tops (Milakov and Gimelshein 2018). The parts are added in order: the same bits on every run.
// Limits: none. A part without elements has a top of minus infinity and counts for nothing.
// Bytes: 16 M parts (read twice) + 4 M.   FLOPs: about 20 M parts.
// Architectures: sm_75 and newer.
// Chapter: 11, built.

// Thread i owns row i. tops and totals (M, parts), logsumexp (M).
extern "C" __global__ void logsumexp_merge(const float* tops, const float* totals, float* logsumexp, int M, int parts) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    tops += (size_t)row * parts;
    totals += (size_t)row * parts;
    float top = -INFINITY, total = 0.0f;
    for (int part = 0; part < parts; part++) top = fmaxf(top, tops[part]);
    for (int part = 0; part < parts; part++)
        if (tops[part] > -INFINITY) total += totals[part] * expf(tops[part] - top);
    logsumexp[row] = top + logf(total);
}
