// Attention in three kernels that store the whole score matrix: the reference of the fast one.
//
// Promise: scores (B, H, T, S) = q k^T / sqrt(D); then a softmax over each row, columns beyond the mask 0; then y (B, T, H, D) =
//   weights times v. q (B, T, H, D), k and v (B, S, G, D), query head h reads key-value head h / (H / G). causal: query t sees
//   keys 0 .. S - T + t. The same bits on every run.
// Limits: fewer than 2^31 scores; S at least 1.
// Bytes: 20 B H T S for the score matrix, written and read again; flash attention moves none of these.
//   FLOPs: 4 B H T S D, masked or not.
// Architectures: sm_75 and newer.
// Chapter: 10a, built.

// Thread i owns the score of query t and key s, and loops over their D numbers.
extern "C" __global__ void attention_scores(const float* q, const float* k, float* scores, int B, int T, int S, int H, int G,
                                            int D, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * H * T * S) return;
    int s = i % S, t = i / S % T, h = i / (S * T) % H, b = i / (S * T * H), g = h / (H / G);
    q += ((long long)(b * T + t) * H + h) * D;
    k += ((long long)(b * S + s) * G + g) * D;
    float sum = 0.0f;
    for (int d = 0; d < D; d++) sum += q[d] * k[d];
    scores[i] = sum * scale;
}

// Thread i owns a row of S scores, and overwrites it with weights: the maximum, the sum, the division.
extern "C" __global__ void attention_softmax(float* scores, float* logsumexp, int rows, int T, int S, bool causal) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // row (b, h, t)
    if (i >= rows) return;
    scores += (long long)i * S;
    int seen = causal ? S - T + i % T + 1 : S;
    float largest = scores[0], sum = 0.0f;
    for (int s = 1; s < seen; s++) largest = fmaxf(largest, scores[s]);
    for (int s = 0; s < seen; s++) {
        scores[s] = expf(scores[s] - largest);
        sum += scores[s];
    }
    for (int s = 0; s < S; s++) scores[s] = s < seen ? scores[s] / sum : 0.0f;
    logsumexp[i] = largest + logf(sum);
}

// Thread i owns y[b][t][h][d], and loops over the S weights of its row.
extern "C" __global__ void attention_values(const float* weights, const float* v, float* y, int B, int T, int S, int H, int G,
                                            int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * T * H * D) return;
    int d = i % D, h = i / D % H, t = i / (D * H) % T, b = i / (D * H * T), g = h / (H / G);
    weights += ((long long)(b * H + h) * T + t) * S;
    float sum = 0.0f;
    for (int s = 0; s < S; s++) sum += weights[s] * v[((long long)(b * S + s) * G + g) * D + d];
    y[i] = sum;
}
