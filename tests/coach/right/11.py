"""Right answers to the exercises of chapter 11, written in other ways than ours."""

from importlib import import_module

from course_lib.coach.exercise import Changed

RIGHT = {
    "rows_added": [
        """def rows_added(dy, ids, V):
    dtable = np.zeros((V, dy.shape[1]))
    np.add.at(dtable, ids, dy)
    return dtable
""",
        """def rows_added(dy, ids, V):
    return np.array([dy[ids == token].sum(axis=0) for token in range(V)])
""",
    ],
    "losses_by_token": [
        """def losses_by_token(loss, positions, starts):
    sums = np.zeros(len(starts) - 1)
    for token in range(len(sums)):
        for j in range(starts[token], starts[token + 1]):
            sums[token] += loss[positions[j]]
    return sums
""",
        Changed(("loss[positions[starts[token] : starts[token + 1]]]", "loss[positions][starts[token] : starts[token + 1]]")),
    ],
    "mean_of_counted": [
        """def mean_of_counted(losses, targets):
    kept = [loss for loss, target in zip(losses, targets) if target >= 0]
    return sum(kept) / len(kept) if kept else 0.0
""",
        """def mean_of_counted(losses, targets):
    return losses[targets != -1].mean() if (targets != -1).any() else 0
""",
    ],
    "embedding_forward": [
        """template <class I>
__global__ void embedding_forward(const float* table, const I* indices, float* y, int n, int V, int C) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * C; i += gridDim.x * blockDim.x) {
        int place = i / C, column = i - place * C;
        long long id = indices[place];
        y[i] = 0.0f;
        if (id >= 0 && id < V) y[i] = table[id * C + column];
    }
}
""",
        Changed(("    if (i >= n * C) return;\n    I row = indices[i / C];", "    if (i / C >= n) return;\n    const I row = "
                                                                             "indices[i / C];"),
                ("row >= 0 && row < V ? table[(long long)row * C + i % C] : 0.0f",
                 "row < 0 || row >= V ? 0.0f : table[(long long)row * C + i % C]")),
    ],
    "embedding_backward_kernel": [
        """extern "C" __global__
void embedding_backward(const float* dy, const int* positions, const int* starts, float* dtable, int C) {
    const int r = blockIdx.x;
    int c = threadIdx.x;
    while (c < C) {
        dtable[r * C + c] = 0.0f;
        for (int j = starts[r]; j != starts[r + 1]; j++) dtable[r * C + c] += dy[positions[j] * C + c];
        c += blockDim.x;
    }
}
""",
        Changed(("j < end; j++) sum += dy[(long long)positions[j] * C + c];",
                 "j != end; ++j) sum = sum + dy[(long long)positions[j] * C + c];")),
    ],
    "cross_entropy_forward": [
        Changed(("    if (i >= n || threadIdx.x % LANES) return;\n    const long long target = targets[i];\n    logsumexp[i] = "
                 "lse;\n"
                 "    losses[i] = target == ignore || target < 0 || target >= V ? 0.0f : lse - logits[row + target];",
                 "    if (i < n && threadIdx.x % LANES == 0) {\n        float loss = 0.0f;\n"
                 "        if (targets[i] != ignore) loss = lse - logits[row + targets[i]];\n        losses[i] = loss;\n"
                 "        logsumexp[i] = lse;\n    }")),
        Changed(("row_logsumexp<LANES>(logits + row, i < n ? V : 0)", "row_logsumexp<LANES>(logits + (i < n ? row : 0), i < n ? "
                                                                      "V : 0)"),
                ("threadIdx.x % LANES) return", "threadIdx.x % LANES != 0) return")),
    ],
    "cross_entropy_backward": [
        Changed(("__expf(logits[at] - logsumexp[i])", "expf(logits[at] - logsumexp[i])"),
                ("(p - (c == target ? 1.0f : 0.0f)) * scale", "scale * p - (c == target ? scale : 0.0f)")),
        Changed(("    dlogits[at] = target == ignore ? 0.0f : (p - (c == target ? 1.0f : 0.0f)) * scale;",
                 "    if (target == ignore) scale = 0.0f;\n    if (c == target) p -= 1.0f;\n    dlogits[at] = p * scale;")),
    ],
    "logsumexp_merge": [
        """#include "online_softmax.cuh"
extern "C" __global__ void logsumexp_merge(const float* part_m, const float* part_l, float* logsumexps, int M, int parts) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    OnlineSoftmax all = nothing_seen();
    for (int i = row * parts; i < (row + 1) * parts; i++) all = merge(all, {part_m[i], part_l[i]});
    logsumexps[row] = logsumexp(all);
}
""",
        Changed(("        if (part_m[part] > -INFINITY) l += part_l[part] * expf(part_m[part] - m);",
                 "        l += expf(part_m[part] - m) * part_l[part];")),
    ],
    "histogram": [
        """__global__ void histogram(const int* letters, int* counts, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&counts[letters[i]], 1);
    }
}
""",
        """__global__ void histogram(const int* letters, int* counts, int n) {
    if (threadIdx.x < 26) {
        int count = 0;
        for (int i = blockIdx.x; i < n; i += gridDim.x) {
            count += letters[i] == threadIdx.x;
        }
        atomicAdd(&counts[threadIdx.x], count);
    }
}
""",
    ],
    "gather": [
        """template <class T, class I> __global__ void gather(const T* x, const I* indices, T* y, int n, int C) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * C; i += gridDim.x * blockDim.x) {
        const T* from = x + (long long)indices[i / C] * C;
        y[i] = from[i - i / C * C];
    }
}
""",
        Changed(("int row = i / C, column = i % C;", "int row = i / C, column = i - row * C;")),
    ],
    "scatter_add_sorted": [
        """template <class T>
__global__ void scatter_add_sorted(const T* updates, const int* positions, const int* starts, T* y, int R, int C) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < R * C; i += gridDim.x * blockDim.x) {
        const int* place = positions + starts[i / C];
        int left = starts[i / C + 1] - starts[i / C];
        T sum = 0;
        while (left-- > 0) sum = sum + updates[(long long)*place++ * C + i % C];
        y[i] = sum;
    }
}
""",
        Changed(("int row = i / C, column = i % C, end = starts[row + 1];", "int row = i / C, column = i - row * C, end = "
                                                                            "starts[row + 1];")),
    ],
    "fused_cross_entropy": [
        import_module("course_lib.coach.exercises.11.fused_cross_entropy").NAIVE,
        """#include "online_softmax.cuh"
__global__ void fused_cross_entropy(float* x, const int* targets, float* losses, int n) {
    x += blockIdx.x * 512;
    int target = targets[blockIdx.x];
    float of_target = x[target];
    OnlineSoftmax part = nothing_seen();
    for (int c = threadIdx.x; c < 512; c += 128) part = see(part, x[c]);
    float lse = logsumexp(block_merge<128>(part));
    if (threadIdx.x == 0) losses[blockIdx.x] = lse - of_target;
    for (int c = threadIdx.x; c < 512; c += 128) x[c] = (expf(x[c] - lse) - (c == target ? 1.0f : 0.0f)) / n;
}
""",
    ],
}  # fmt: skip
