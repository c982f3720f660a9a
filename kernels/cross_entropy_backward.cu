// Cross-entropy, backward: dlogits from logits and the logsumexp that cross_entropy.cu kept.
//
// Promise: dlogits (n, V) = (exp(logits - logsumexp) - one-hot) dloss / kept; 0 in rows whose target is `ignore`. Each element has
//   one owner; the same bits on every run.
// Limits: n below 2^31, V below 2^24.
// Bytes: 8 n V.   FLOPs: about 4 n V.
// Architectures: sm_75 and newer.
// Chapter: 11, built.

// Block (i, j) owns blockDim.x consecutive elements of row i, each thread one.
template <class I>
__global__ void cross_entropy_backward(const float* dloss, const float* logits, const I* targets, const float* logsumexp,
                                       const int* kept, float* __restrict__ dlogits, int V, long long ignore) {
    int i = blockIdx.x, c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c >= V) return;
    long long at = (long long)i * V + c, target = targets[i];
    float scale = dloss[0] / max(1, kept[0]), p = __expf(logits[at] - logsumexp[i]);
    dlogits[at] = target == ignore ? 0.0f : (p - (c == target ? 1.0f : 0.0f)) * scale;
}
