"""Right answers to the exercises of chapter 10b, written in other ways than ours."""

from course_lib.coach.exercise import Changed

RIGHT = {
    "one_value": [
        """def one_value(P, dy, s):
    return P[:, s] @ dy
""",
        """def one_value(P, dy, s):
    return (P.T @ dy)[s]
""",
    ],
    "one_score_gradient": [
        """def one_score_gradient(q, k, v, dy, y, logsumexp):
    return math.exp((q * k).sum() / len(q) ** 0.5 - logsumexp) * (dy * (v - y)).sum()
""",
        Changed(("return P * (dP - delta)", "return P * dP - P * delta")),
    ],
    "weight_received": [
        """__global__ void weight_received(const float* scores, const float* logsumexp, float* received, int T) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= T) return;
    received[s] = 0.0f;
    for (int t = 0; t < T; t++)
        if (s <= t) received[s] += expf(scores[t * T + s] - logsumexp[t]);
}
""",
        Changed(("int t = s; t < T; t++", "int t = T - 1; t >= s; t--")),
    ],
    "flash_attention_delta": [
        """#include "numbers.cuh"
#include "reduce.cuh"

template <class X>
__global__ void flash_attention_delta(const X* dy, const X* y, float* delta, int B, int T, int H, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 8, rows = B * T * H;
    int row = min(i / 8, rows - 1);  // lanes without a row repeat the last one
    int b = row / (T * H), h = row % (T * H) / T, t = row % T;
    const X* own_dy = dy + ((long long)(b * T + t) * H + h) * d;
    const X* own_y = y + ((long long)(b * T + t) * H + h) * d;
    float sum = 0.0f;
    for (int j = lane; j < d; j += 8) sum += to_float(own_dy[j]) * to_float(own_y[j]);
    for (int step = 1; step < 8; step *= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane == 0 && i / 8 < rows) delta[row] = sum;
}
""",
        """#include "numbers.cuh"
#include "reduce.cuh"

template <class X>
__global__ void flash_attention_delta(const X* dy, const X* y, float* delta, int B, int T, int H, int d) {
    const int place = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;  // as y lies
    float sum = 0.0f;
    for (int j = lane; place < B * T * H && j < d; j += 8)
        sum = fmaf(to_float(y[place * d + j]), to_float(dy[place * d + j]), sum);
    sum = warp_sum<8>(sum);
    const int h = place % H, t = place / H % T, b = place / (H * T);
    if (place < B * T * H && lane == 7) delta[(b * H + h) * T + t] = sum;
}
""",
    ],
    "flash_attention_backward_q": [
        Changed(("p[r][c] = __expf(p[r][c] * scale - lse[c]);", "p[r][c] = expf(fmaf(p[r][c], scale, -lse[c])) * scale;"),
                ("ds[r][c] = p[r][c] * (ds[r][c] - deltas[c]) * scale;", "ds[r][c] = p[r][c] * ds[r][c] - p[r][c] * deltas[c];")),
        Changed(("                if (edge && (key >= S || (causal && key > past + query + c))) ds[r][c] = 0.0f;\n",
                 "                ds[r][c] = key < (causal ? min(S, past + query + c + 1) : S) ? ds[r][c] : 0.0f;\n")),
    ],
    "flash_attention_backward_kv": [
        Changed(("    if (causal) begin = max(0, first - past) / TILE_T * TILE_T;\n",
                 "    if (causal && first > past) begin = first - past;\n")),
        Changed(("p[r][c] = __expf(p[r][c] * scale - lse);", "p[r][c] = expf(p[r][c] * scale - lse), ds[r][c] = p[r][c] * "
                                                             "(ds[r][c] - row_delta);"),
                ("if (edge && (query >= T || key + c >= S || (causal && key + c > past + query))) p[r][c] = 0.0f;",
                 "if (causal && key + c > past + query) p[r][c] = ds[r][c] = 0.0f;"),
                ("ds[r][c] = p[r][c] * (ds[r][c] - row_delta) * scale;", "ds[r][c] *= scale;")),
    ],
    "value_gradient": [
        """const int D = 8;

__global__ void value_gradient(const float* P, const float* dy, float* dv, int T, int S) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = i; e < S * D; e += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        for (int t = T - 1; t >= 0; t--) sum += P[t * S + e / D] * dy[t * D + e % D];
        dv[e] = sum;
    }
}
""",
        """const int D = 8;

__global__ void value_gradient(const float* P, const float* dy, float* dv, int T, int S) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= S) return;
    for (int t = 0; t < T; t++)
        for (int d = 0; d < D; d++) dv[i * D + d] += P[t * S + i] * dy[t * D + d];
}
""",
        """const int D = 8;

__global__ void value_gradient(const float* P, const float* dy, float* dv, int T, int S) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i != 0) return;
    for (int t = 0; t < T; t++)
        for (int s = 0; s < S; s++)
            for (int d = 0; d < D; d++) dv[s * D + d] += P[t * S + s] * dy[t * D + d];
}
""",
    ],
    "attention_backward": [
        """def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    (B, T, H, D), (S, G) = q.shape, k.shape[1:3]
    for b in range(B):
        for h in range(H):
            g = h // (H // G)
            for t in range(T):
                see = S - T + t + 1 if causal else S
                P = np.exp(k[b, :see, g] @ q[b, t, h] / D ** 0.5 - logsumexp[b, h, t])
                dP = v[b, :see, g] @ dy[b, t, h]
                dS = P * (dP - P @ dP) / D ** 0.5
                dq[b, t, h] = dS @ k[b, :see, g]
                dk[b, :see, g] += dS[:, None] * q[b, t, h]
                dv[b, :see, g] += P[:, None] * dy[b, t, h]
    return dq, dk, dv
""",
        """import math

def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    (B, T, H, D), (S, G) = q.shape, k.shape[1:3]
    split = lambda x: x.reshape(B, T, G, H // G, D)
    dyg, qg = split(dy), split(q)
    scores = np.einsum("btgrd,bsgd->bgrts", qg, k) / math.sqrt(D) - logsumexp.reshape(B, G, H // G, T, 1)
    if causal:
        scores[..., np.arange(S)[None, :] > np.arange(T)[:, None] + S - T] = -np.inf
    P = np.exp(scores)
    dP = np.einsum("btgrd,bsgd->bgrts", dyg, v)
    dS = P * (dP - (P * dP).sum(-1, keepdims=True)) / math.sqrt(D)
    dq = np.einsum("bgrts,bsgd->btgrd", dS, k).reshape(q.shape)
    return [np.ascontiguousarray(x) for x in
            (dq, np.einsum("bgrts,btgrd->bsgd", dS, qg), np.einsum("bgrts,btgrd->bsgd", P, dyg))]
""",
    ],
    "rope_backward": [
        """__global__ void rope_backward(const float* dy, const float* cos, const float* sin, float* dx, int pairs, int T, int H,
                              int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    int row = i / half, column = i % half, t = row / H % T;
    const float* from = dy + 2 * row * half;
    float* to = dx + 2 * row * half;
    float c = cos[t * half + column], s = sin[t * half + column];
    to[column] = from[column] * c + from[column + half] * s;
    to[column + half] = from[column + half] * c - from[column] * s;
}
""",
        Changed(("float c = cos[t * half + column], s = sign * sin[t * half + column], first",
                "float c = cos[t * half + column]; "
                 "float s = sin[t * half + column]; if (sign < 0) s = -s; float first"),
                ("    if (i >= pairs) return;\n", "    if (!(i < pairs)) return;\n")),
    ],
    "attention_backward_few_bytes": [
        """const int D = 16, WIDE = D + 1;

// Everything in shared memory if it fits, so that each block reads each array once; else straight from memory.
__global__ void attention_backward_few_bytes(const float* q, const float* k, const float* v, const float* dy,
                                             const float* logsumexp, const float* delta, float* dq, float* dk, float* dv, int T) {
    extern __shared__ float shared[];
    const float* given[4] = {q, k, v, dy};
    int width = D;
    if (T <= 110) {
        for (int n = 0; n < 4; n++) {
            float* copy = shared + n * T * WIDE;
            for (int i = threadIdx.x; i < T * D; i += blockDim.x) copy[i / D * WIDE + i % D] = given[n][i];
            given[n] = copy;
        }
        width = WIDE;
        __syncthreads();
    }
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < T; i += gridDim.x * blockDim.x) {
        float sums[3][D] = {};
        for (int j = 0; j < T; j++)
            for (int turn = 0; turn < 2; turn++) {
                int t = turn ? j : i, s = turn ? i : j;
                float score = 0.0f, dp = 0.0f;
                for (int d = 0; d < D; d++) {
                    score += given[0][t * width + d] * given[1][s * width + d];
                    dp += given[3][t * width + d] * given[2][s * width + d];
                }
                float p = expf(score * 0.25f - logsumexp[t]), ds = p * (dp - delta[t]) * 0.25f;
                for (int d = 0; d < D; d++) {
                    if (!turn) sums[0][d] += ds * given[1][s * width + d];
                    else sums[1][d] += ds * given[0][t * width + d], sums[2][d] += p * given[3][t * width + d];
                }
            }
        for (int d = 0; d < D; d++) dq[i * D + d] = sums[0][d], dk[i * D + d] = sums[1][d], dv[i * D + d] = sums[2][d];
    }
}
""",
        Changed(("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < T; i += gridDim.x * blockDim.x) {",
                 "for (int i = blockIdx.x + gridDim.x * threadIdx.x; i < T; i += blockDim.x * gridDim.x) {"),
                ("for (int s = 0; s < T; s++) {", "for (int s = T - 1; s >= 0; s--) {")),
    ],
}  # fmt: skip
