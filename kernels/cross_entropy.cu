// Cross-entropy of logits against targets, in nats: loss forward, and loss and gradient in one kernel.
//
// The probabilities are never stored: a row's largest logit and sum of exp(logit - largest) are enough for its loss, and for
// its gradient, element by element. The row is read in chunks, so any vocabulary will do.
//   cross_entropy_forward  losses and logsumexp of the rows
//   cross_entropy_fused    the same, and dlogits = (softmax - one-hot) dloss / kept, in an array of its own or in the logits'
//   cross_entropy_losses   the losses where the logsumexp is known already, from gemm_logsumexp
//   cross_entropy_count    how many targets are not ignored: what the gradient is divided by
//   cross_entropy_mean     the mean of their losses
// The backward alone, for a loss that is used further before its backward, is cross_entropy_backward.cu.
//
// Promise: logits (n, V), targets (n) int or long long, losses and logsumexp (n); rows whose target is `ignore` have loss 0 and get
//   a gradient of 0. loss () is the mean over the others, nan if there are none. The same bits on every run.
// Limits: n below 2^24 and n V below 2^63; a target outside of the vocabulary counts as ignored in the loss (the launch code
//   refuses it before).
// Bytes: 4 n V forward; 12 n V fused, where the second reading of a row mostly comes from the cache; 36 n for losses alone.
//   FLOPs: about 4 n V forward, 8 n V fused.
// Architectures: sm_75 and newer.
// Chapter: 11, built. Its cross_entropy_forward, that is; the others are read.
#include "online_softmax.cuh"
#include "reduce.cuh"

// region row_logsumexp
constexpr int CHUNK = 8;  // logits that a lane loads at once

// log(sum(exp(row))) by LANES consecutive lanes, which read the row interleaved; all of them get it.
template <int LANES> __device__ __forceinline__ float row_logsumexp(const float* row, int V) {
    OnlineSoftmax part = nothing_seen();
    for (int first = threadIdx.x % LANES; first < V; first += LANES * CHUNK) {
        float x[CHUNK], m = -INFINITY, l = 0.0f;
#pragma unroll
        for (int j = 0; j < CHUNK; j++) x[j] = first + j * LANES < V ? row[first + j * LANES] : -INFINITY;
#pragma unroll
        for (int j = 0; j < CHUNK; j++) m = x[j] > m ? x[j] : m;
#pragma unroll
        for (int j = 0; j < CHUNK; j++) l += x[j] == -INFINITY ? 0.0f : __expf(x[j] - m);
        part = merge(part, {m, l});
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2)
        part = merge(part, {__shfl_xor_sync(0xffffffffu, part.m, step), __shfl_xor_sync(0xffffffffu, part.l, step)});
    return logsumexp(part);
}
// endregion

// LANES lanes own a row.
template <class I, int LANES>
__global__ void cross_entropy_forward(const float* logits, const I* targets, float* losses, float* logsumexp, int n, int V,
                                      long long ignore) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    const long long row = (long long)i * V;
    const float lse = row_logsumexp<LANES>(logits + row, i < n ? V : 0);  // lanes without a row take part in the shuffles
    if (i >= n || threadIdx.x % LANES) return;
    const long long target = targets[i];
    logsumexp[i] = lse;
    losses[i] = target == ignore || target < 0 || target >= V ? 0.0f : lse - logits[row + target];
}

// The same, and the row's gradient too. dlogits may be the logits themselves.
template <class I, int LANES>
__global__ void cross_entropy_fused(const float* logits, const I* targets, const float* dloss, const int* kept, float* losses,
                                    float* logsumexp, float* dlogits, int n, int V, long long ignore) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    const long long row = (long long)i * V, target = i < n ? targets[i] : -1;
    const float lse = row_logsumexp<LANES>(logits + row, i < n ? V : 0);
    const bool counts = target != ignore && target >= 0 && target < V;
    const float of_target = counts ? logits[row + target] : 0.0f;
    __syncwarp();  // all lanes have read the target's logit before one of them overwrites it
    if (i >= n) return;
    const float scale = dloss[0] / max(1, kept[0]);
    for (int c = threadIdx.x % LANES; c < V; c += LANES)
        dlogits[row + c] = counts ? (__expf(logits[row + c] - lse) - (c == target)) * scale : 0.0f;
    if (threadIdx.x % LANES) return;
    logsumexp[i] = lse;
    losses[i] = counts ? lse - of_target : 0.0f;
}

// Thread i owns row i, and reads one logit of it.
template <class I>
__global__ void cross_entropy_losses(const float* logits, const I* targets, const float* logsumexp, float* losses, int n, int V,
                                     long long ignore) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const long long target = targets[i];
    losses[i] = target == ignore || target < 0 || target >= V ? 0.0f : logsumexp[i] - logits[(long long)i * V + target];
}

// One block of 256 threads.
template <class I> __global__ void cross_entropy_count(const I* targets, int* kept, int n, long long ignore) {
    int count = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) count += targets[i] != ignore;
    count = block_sum<256>(count);
    if (threadIdx.x == 0) kept[0] = count;
}

// One block of 256 threads.
extern "C" __global__ void cross_entropy_mean(const float* losses, const int* kept, float* loss, int n) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += losses[i];
    sum = block_sum<256>(sum);
    if (threadIdx.x == 0) loss[0] = sum / kept[0];  // 0 / 0 is nan: the mean of nothing
}
