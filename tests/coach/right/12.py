"""Right answers to the exercises of chapter 12, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "own_array": [
        """def own_array(block, end):
    for k, last in enumerate(end):
        if block < last:
            return k, block - ([0] + end)[k]
""",
        """def own_array(block, end):
    before = [last for last in end if last <= block]
    return len(before), block - max(before, default=0)
""",
    ],
    "is_lost": [
        """def is_lost(weight, update):
    return float(ml_dtypes.bfloat16(weight + update)) - weight == 0
""",
        """def is_lost(weight, update):
    half = ml_dtypes.bfloat16(weight)
    return bool(ml_dtypes.bfloat16(np.float32(half) + np.float32(update)) == half)
""",
    ],
    "least_block": [
        """def least_block(lives):
    times = range(max(ends for _, _, ends in lives))
    return max(sum(size * (begins <= now < ends) for size, begins, ends in lives) for now in times)
""",
        """def least_block(lives):
    changes = sorted([(ends, -size) for size, _, ends in lives] + [(begins, size) for size, begins, _ in lives])
    alive = most = 0
    for _, change in changes:
        alive += change
        most = max(most, alive)
    return most
""",
    ],
    "adamw_single_tensor": [
        """__global__
void adamw_single_tensor(float* __restrict__ p, const float* __restrict__ g, float* __restrict__ m, float* __restrict__ v,
               const float* settings, int n) {
    const float rate = settings[0], first = rate / settings[1], second = 1.0f / settings[2];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float gi = g[i], mi = m[i] + 0.1f * (gi - m[i]), vi = v[i] + 0.05f * (gi * gi - v[i]);
        m[i] = mi;
        v[i] = vi;
        p[i] -= rate * 0.1f * p[i] + first * mi / (sqrtf(second * vi) + 1e-8f);
    }
}
""",
        Changed(("        pi *= 1.0f - rate * 0.1f;\n        pi -= rate * (mi / settings[1]) / (sqrtf(vi / settings[2]) + "
                 "1e-8f);",
                 "        float step = mi / settings[1] / (sqrtf(vi / settings[2]) + 1e-8f) + 0.1f * pi;\n        pi -= rate * "
                 "step;")),
    ],
    "adamw_step": [
        Changed(("    int low = 0, high = arrays.count - 1;  // the first array whose end is beyond this block\n    while (low "
                 "< high) {\n"
                 "        int middle = (low + high) / 2;\n        if (blockIdx.x < arrays.end[middle]) high = middle;\n"
                 "        else low = middle + 1;\n    }\n", "    int low = 0;\n    while (blockIdx.x >= arrays.end[low]) "
                                                            "low++;\n")),
        Changed(("        if (i >= size) return;", "        if (i >= size) break;"),
                ("__float2bfloat16(pi)", "__nv_bfloat16(pi)")),
    ],
    "norm_squares": [
        """#include "reduce.cuh"
__global__ void norm_squares(const float* g, float* partial, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += g[i] * g[i];
    sum = block_sum<128>(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
""",
        """__global__ void norm_squares(const float* g, float* partial, int n) {
    __shared__ float s[128];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += g[i] * g[i];
    s[threadIdx.x] = sum;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
""",
    ],
    "global_norm_squares": [
        Changed(("    for (int i = 4 * threadIdx.x; i < length; i += 4 * THREADS) {\n"
                 "        const float4 four = load_four(own, i, length, aligned);\n"
                 "        sum += (four.x * four.x + four.y * four.y) + (four.z * four.z + four.w * four.w);\n    }\n",
                 "    for (int i = threadIdx.x; i < length; i += THREADS) sum += own[i] * own[i];\n")),
        Changed(("    int low = 0, high = gradients.count - 1;  // the first array whose end is beyond this block\n    while "
                 "(low < high) {\n"
                 "        const int middle = (low + high) / 2;\n        if (blockIdx.x < gradients.end[middle]) high = middle;\n"
                 "        else low = middle + 1;\n    }\n", "    int low = 0;\n    while (blockIdx.x >= gradients.end[low]) "
                                                            "low++;\n")),
    ],
    "plan_memory": [
        """def plan_memory(lives):
    offsets = [0] * len(lives)
    placed = []
    for i in sorted(range(len(lives)), key=lambda i: -lives[i][0]):
        size, begins, ends = lives[i]
        taken = sorted((offsets[j], offsets[j] + lives[j][0]) for j in placed if lives[j][1] < ends and begins < lives[j][2])
        at = 0
        for first, last in taken:
            if at + size <= first:
                break
            at = max(at, last)
        offsets[i] = at
        placed.append(i)
    return offsets
""",
        """def plan_memory(lives):
    offsets = []
    for i, (size, begins, ends) in enumerate(lives):
        meet = [j for j in range(i) if lives[j][1] < ends and begins < lives[j][2]]
        candidates = [0] + [offsets[j] + lives[j][0] for j in meet]
        fits = [at for at in candidates if all(at + size <= offsets[j] or offsets[j] + lives[j][0] <= at for j in meet)]
        offsets.append(min(fits))
    return offsets
""",
    ],
}  # fmt: skip
