"""Right answers to the exercises of chapter 10a, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "attend_one": [
        """def attend_one(q, k, v, t):
    scores = np.where(np.arange(len(k)) <= t, k @ q[t] / q.shape[1] ** 0.5, -np.inf)
    e = np.exp(scores - scores.max())
    return (e[:, None] * v).sum(axis=0) / e.sum()
""",
        """def attend_one(q, k, v, t):
    m, l, out = -np.inf, 0.0, np.zeros(q.shape[1])
    for key, value in zip(k[: t + 1], v[: t + 1]):
        score = q[t] @ key / math.sqrt(len(key))
        m_new = max(m, score)
        l = l * np.exp(m - m_new) + np.exp(score - m_new)
        out = out * np.exp(m - m_new) + np.exp(score - m_new) * value
        m = m_new
    return out / l
""",
    ],
    "one_more_key": [
        """def one_more_key(m, l, out, score, value):
    if score > m:
        return score, l * np.exp(m - score) + 1, out * np.exp(m - score) + value
    return m, l + np.exp(score - m), out + np.exp(score - m) * value
""",
        """def one_more_key(m, l, out, score, value):
    m_new = max(m, score)
    out *= np.exp(m - m_new)
    out += np.exp(score - m_new) * value
    return m_new, l * np.exp(m - m_new) + np.exp(score - m_new), out
""",
    ],
    "tile_loads": [
        """def tile_loads(T, block, tile):
    ends = [min(first + block, T) for first in range(0, T, block)]
    return sum((end + tile - 1) // tile for end in ends)
""",
        """def tile_loads(T, block, tile):
    return sum(start < first + block for first in range(0, T, block) for start in range(0, T, tile))
""",
    ],
    "half_warp_max": [
        Changed(("half = 8; half > 0; half /= 2", "half = 1; half < 16; half *= 2")),
        """__global__ void half_warp_max(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m = x[i];
    for (int j = 0; j < 16; j++) m = fmaxf(m, x[i / 16 * 16 + j]);
    y[i] = m;
}
""",
    ],
    "attention_softmax": [
        """__global__ void attention_softmax(float* scores, float* logsumexp, int rows, int T, int S, bool causal) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    float* row = scores + i * S;
    int seen = causal ? S - T + i % T + 1 : S;
    float top = -INFINITY, sum = 0.0f;
    for (int s = 0; s < seen; s++) top = fmaxf(top, row[s]);
    for (int s = 0; s < seen; s++) sum += expf(row[s] - top);
    for (int s = 0; s < seen; s++) row[s] = expf(row[s] - top) / sum;
    for (int s = seen; s < S; s++) row[s] = 0.0f;
    logsumexp[i] = top + logf(sum);
}
""",
        """__global__ void attention_softmax(float* scores, float* logsumexp, int rows, int T, int S, bool causal) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < rows; i += gridDim.x * blockDim.x) {
        int seen = causal ? S - T + i % T + 1 : S;
        float top = -INFINITY, total = 0.0f;
        for (int s = 0; s < seen; s++) {  // one pass: the sum is brought to each new largest
            float x = scores[i * S + s];
            float higher = fmaxf(top, x);
            total = total * expf(top - higher) + expf(x - higher);
            top = higher;
        }
        float sum = top + logf(total);
        for (int s = 0; s < S; s++) scores[i * S + s] = s < seen ? expf(scores[i * S + s] - sum) : 0.0f;
        logsumexp[i] = sum;
    }
}
""",
    ],
    "flash_attention_forward": [
        Changed(("""            float sum = 0.0f;
#pragma unroll
            for (int c = 0; c < KEYS; c++) sum += score[r][c];
            l[r] = l[r] * rescale + sum;
#pragma unroll
            for (int c = 0; c < C; c++) out[r][c] *= rescale;
""", """            l[r] *= rescale;
            for (int c = KEYS - 1; c >= 0; c--) l[r] += score[r][c];
            for (float& x : out[r]) x *= rescale;
""")),
        Changed(("""            new_m = fmaxf(warp_max<LANES>(new_m), m[r]);
            const float rescale = __expf(m[r] - new_m);
            m[r] = new_m;
""", """            for (int step = 2; step > 0; step /= 2) new_m = fmaxf(new_m, __shfl_xor_sync(0xffffffff, new_m, step));
            float rescale = 1.0f;
            if (new_m > m[r]) rescale = expf(m[r] - new_m), m[r] = new_m;
            else new_m = m[r];
""")),
    ],
    "sliding_window_attention": [
        Changed(("int begin = max(0, first - W + 1) / TILE * TILE;", "int begin = max(0, first - W + 1);")),
        Changed(("for (int start = begin; start < end; start += TILE) {", "for (int tile = begin / TILE; tile * TILE < end; "
                                                                          "tile++) {\n"
                 "        int start = tile * TILE;"),
                ("        for (int s = 0; s < TILE; s++) {\n            int key = start + s;\n"
                 "            if (t < T && key <= t && key > t - W) {",
                 "        for (int key = max(start, t - W + 1); key < min(start + TILE, t + 1); key++) {\n"
                 "            int s = key - start;\n"
                 "            if (t < T) {")),
    ],
    "merge_attention": [
        """__global__ void merge_attention(const float* y1, const float* logsumexp1, const float* y2, const float* logsumexp2,
                             float* y, float* logsumexp, int n, int D) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n * D; i += gridDim.x * blockDim.x) {
        float a = logsumexp1[i / D], b = logsumexp2[i / D];
        float all = a > b ? a + log1pf(expf(b - a)) : b + log1pf(expf(a - b));
        float sum = 0.0f;
        if (a > -INFINITY) sum += expf(a - all) * y1[i];
        if (b > -INFINITY) sum += expf(b - all) * y2[i];
        y[i] = sum;
        if (i % D == 0) logsumexp[i / D] = all;
    }
}
""",
        """__global__ void merge_attention(const float* y1, const float* logsumexp1, const float* y2, const float* logsumexp2,
                             float* y, float* logsumexp, int n, int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * D) {
        float a = logsumexp1[i / D], b = logsumexp2[i / D];
        float share = 1.0f / (1.0f + expf(b - a));  // of the first half
        y[i] = a == -INFINITY ? y2[i] : b == -INFINITY ? y1[i] : y2[i] + share * (y1[i] - y2[i]);
        if (i < D) {
            for (int row = i; row < n; row += D) {
                float c = logsumexp1[row], d = logsumexp2[row], top = fmaxf(c, d);
                logsumexp[row] = top + logf(expf(c - top) + expf(d - top));
            }
        }
    }
}
""",
    ],
    "tiled_attention": [
        Changed(("        int keys = min(TILE, S - start);\n        __syncthreads();\n", "        int keys = min(TILE, S - "
                                                                                         "start);\n"),
                ("            m = new_m;\n        }\n", "            m = new_m;\n        }\n        __syncthreads();\n")),
        Changed(("        __syncthreads();\n        for (int i = threadIdx.x; i < keys * D; i += blockDim.x) {",
                 "        if (start > 0) __syncthreads();\n        for (int i = threadIdx.x; i < keys * D; i += 64) {")),
    ],
    "rope_forward": [
        Changed(("int row = i / half, column = i % half, t = row / H % T;", "int row = i / half, column = i - row * half, t = "
                                                                            "row % (T * H) / H;"),
                ("float c = cos[t * half + column], s = sign * sin[t * half + column], first = x[at], second = x[at + half];",
                 "const float* p = x + at;\n    float c = cos[t * half + column], s = sin[t * half + column] * sign, first = "
                 "p[0], second = p[half];")),
        Changed(("    if (i >= pairs) return;\n", "    for (; i < pairs; i += gridDim.x * blockDim.x) {\n"),
                ("    y[at + half] = second * c + first * s;\n", "    y[at + half] = first * s + second * c;\n    }\n")),
    ],
    "attention_scores": [
        """__global__ void attention_scores(const float* q, const float* k, float* scores, int B, int T, int S, int H, int G,
                                 int D, float scale) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < B * H * T * S; i += gridDim.x * blockDim.x) {
        int rest = i, s = rest % S;
        rest /= S;
        int t = rest % T;
        rest /= T;
        int h = rest % H, b = rest / H;
        float sum = 0.0f;
        for (int d = D - 1; d >= 0; d--)
            sum += scale * q[b * T * H * D + t * H * D + h * D + d] * k[b * S * G * D + s * G * D + h / (H / G) * D + d];
        scores[i] = sum;
    }
}
""",
        Changed(("g = h / (H / G)", "g = h * G / H")),
    ],
    "attention_values": [
        """__global__ void attention_values(const float* weights, const float* v, float* y, int B, int T, int S, int H, int G,
                                 int D) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < B * T * H * D; i += gridDim.x * blockDim.x) {
        int rest = i, d = rest % D;
        rest /= D;
        int h = rest % H;
        rest /= H;
        int t = rest % T, b = rest / T, each = H / G;
        const float* from = v + (b * S * G + h / each) * D + d;
        const float* share = weights + b * H * T * S + h * T * S + t * S;
        float sum = 0.0f;
        for (int s = S - 1; s >= 0; s--) sum += share[s] * from[s * G * D];
        y[i] = sum;
    }
}
""",
        Changed(("g = h / (H / G)", "g = h * G / H")),
    ],
    "attention_few_bytes": [
        """const int D = 16;

// Without shared memory: each thread loops over all keys by itself.
__global__ void attention_few_bytes(const float* q, const float* k, const float* v, float* y, int T, int S) {
    for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < T; t += gridDim.x * blockDim.x) {
        float out[D] = {}, top = -INFINITY, total = 0.0f;
        for (int s = 0; s < S; s++) {
            float score = 0.0f;
            for (int d = 0; d < D; d++) score += q[t * D + d] * k[s * D + d];
            score *= 0.25f;
            float higher = fmaxf(top, score), shrink = expf(top - higher), weight = expf(score - higher);
            for (int d = 0; d < D; d++) out[d] = out[d] * shrink + weight * v[s * D + d];
            total = total * shrink + weight;
            top = higher;
        }
        for (int d = 0; d < D; d++) y[t * D + d] = out[d] / total;
    }
}
""",
        """const int D = 16, WIDE = D + 1, TILE = 32, OWN = 3;

// A thread owns up to OWN queries, so a tile of keys serves 32 OWN of them; rows of q and y pass through shared memory.
__global__ void attention_few_bytes(const float* q, const float* k, const float* v, float* y, int T, int S) {
    extern __shared__ float shared[];
    float *rows = shared, *k_tile = rows + OWN * 32 * WIDE, *v_tile = k_tile + TILE * D;
    for (int first = blockIdx.x * 32 * OWN; first < T; first += gridDim.x * 32 * OWN) {
        int count = min(32 * OWN, T - first);
        __syncthreads();
        for (int i = threadIdx.x; i < count * D; i += 32) rows[i / D * WIDE + i % D] = q[first * D + i] / sqrtf(D);
        __syncthreads();
        float own[OWN][D], out[OWN][D] = {}, top[OWN], total[OWN] = {};
        for (int r = 0; r < OWN; r++) {
            top[r] = -INFINITY;
            for (int d = 0; d < D; d++) own[r][d] = threadIdx.x + 32 * r < count ? rows[(threadIdx.x + 32 * r) * WIDE + d] : 0.0f;
        }
        for (int start = 0; start < S; start += TILE) {
            int keys = min(TILE, S - start);
            __syncthreads();
            for (int i = threadIdx.x; i < keys * D; i += 32) k_tile[i] = k[start * D + i], v_tile[i] = v[start * D + i];
            __syncthreads();
            for (int s = 0; s < keys; s++)
                for (int r = 0; r < OWN; r++) {
                    float score = 0.0f;
                    for (int d = 0; d < D; d++) score += own[r][d] * k_tile[s * D + d];
                    float higher = fmaxf(top[r], score), shrink = expf(top[r] - higher), weight = expf(score - higher);
                    for (int d = 0; d < D; d++) out[r][d] = out[r][d] * shrink + weight * v_tile[s * D + d];
                    total[r] = total[r] * shrink + weight, top[r] = higher;
                }
        }
        for (int r = 0; r < OWN; r++)
            if (threadIdx.x + 32 * r < count)
                for (int d = 0; d < D; d++) rows[(threadIdx.x + 32 * r) * WIDE + d] = out[r][d] / total[r];
        __syncthreads();
        for (int i = threadIdx.x; i < count * D; i += 32) y[first * D + i] = rows[i / D * WIDE + i % D];
    }
}
""",
    ],
}  # fmt: skip
