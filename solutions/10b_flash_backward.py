# %% [markdown]
# # 10b Flash attention, backward: exercises
#
# The lecture: [10b Flash attention, backward](../notebooks/10b_flash_backward.ipynb).

# %% [markdown]
# ## Who attends to this value?
#
# `P` holds the attention weights, a row for each query t and a column for each value s. `dy` has a row of D numbers for each
# query. Return the gradient of value `s`, D numbers. In the example above, value 0 has the gradient 1.25.


# %% exercise="one_value" lecture=true
def one_value(P, dy, s):
    gradient = np.zeros(dy.shape[1])
    for t in range(len(P)):
        # yours: add what token t contributes to the gradient of value s
        gradient = gradient + P[t, s] * dy[t]
        # end
    return gradient


# %% [markdown]
# ## One score, without its row
#
# You get what belongs to one query, `q`, `dy` and `y` (D numbers each) and `logsumexp`, a number, and what belongs to one key,
# `k` and `v`. Return the gradient of their score, dS. For the first query and first key of the example it is -0.75.


# %% exercise="one_score_gradient" lecture=true
def one_score_gradient(q, k, v, dy, y, logsumexp):
    D = len(q)
    # yours: the weight, computed again; dP; delta; and dS
    P = np.exp(q @ k / np.sqrt(D) - logsumexp)
    dP = dy @ v
    delta = dy @ y
    return P * (dP - delta)
    # end


# %% [markdown]
# ## Find the fault: who may write? (stretch)
#
# `P` is a matrix of attention weights, (T, S), and `dy` is (T, 8). The kernel below should write `dv` (S, 8): for each key
# the sum over all queries of weight times dy. It is launched in blocks of 32 threads, as many as the larger of T and S needs,
# and `dv` holds zeros at the beginning. Run the cell, and read the report. Then fix it so that the result has **the same bits
# on every run**: it is launched twice, with the threads in different orders. For P `[[1, 0], [0.25, 0.75]]` and rows of dy
# that are all 1 and all 4, dv has rows of 2 and of 3.

# %% exercise="value_gradient" lecture=true
r"""
const int D = 8;

__global__ void value_gradient(const float* P, const float* dy, float* dv, int T, int S) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // yours: fix these lines
    if (i < S) {
        float sum[D] = {};
        for (int t = 0; t < T; t++)
            for (int d = 0; d < D; d++) sum[d] += P[t * S + i] * dy[t * D + d];
        for (int d = 0; d < D; d++) dv[i * D + d] = sum[d];
    }
    // instead
    // if (i < T) {
    //     for (int s = 0; s < S; s++)
    //         for (int d = 0; d < D; d++) dv[s * D + d] += P[i * S + s] * dy[i * D + d];
    // }
    // end
}
"""

# %% [markdown]
# ## The weight that a key receives
#
# How much do all tokens attend to key s? `scores` (T, T) has a row for each query, and *nothing in it is masked yet*;
# `logsumexp` (T) belongs to the rows under the causal mask. Thread s owns key s: it sums the attention weights that the
# queries give to it. Two tokens with equal scores give `[1.5, 0.5]`.

# %% exercise="weight_received" lecture=true
r"""
__global__ void weight_received(const float* scores, const float* logsumexp, float* received, int T) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= T) return;
    float sum = 0.0f;
    // yours: loop over the queries that attend to key s, and add their weights
    for (int t = s; t < T; t++) sum += expf(scores[t * T + s] - logsumexp[t]);
    // end
    received[s] = sum;
}
"""

# %% [markdown]
# ## 1. What every row's average is
#
# The first of the three kernels that the course trains with in float32. `dy` and `y` are (B, T, H, d). For each query of each
# head, write delta, the sum over the d numbers of dy times y. But `delta` is **(B, H, T)**: the kernels that read it want the
# rows of one head side by side.
#
# Eight lanes work on one row, so that neighbouring lanes read neighbouring numbers: thread i of the grid is lane `i % 8` of
# row `i / 8`. The last block may have lanes without a row. `warp_sum<8>(x)` gives the sum over eight neighbouring lanes to
# all of them, and like all shuffles it must be called by the *whole* warp: so no thread may `return` before it.
#
# With B = T = 1, H = 2, d = 1, dy `[1, 2]` and y `[7, 6]`, delta becomes `[7, 12]`. `X` is float, or bfloat16 when chapter
# 08c's tensor cores are used: `to_float(x)` converts either to float. It is launched in blocks of 64 threads, at least eight
# for each row. The count is the bytes moved for 2 heads, 48 tokens and d = 32: at most 1.1 times the 24,960 that are needed.

# %% exercise="flash_attention_delta"
# include kernels/flash_attention_backward.cu flash_attention_delta: find this lane's row (b, h, t), and sum dy times y

# %% [markdown]
# ## 2. The owners of queries
#
# The second kernel. A block owns `TILE_T` queries, and loops over tiles of `TILE_S` keys. Two products are already there:
# `p[r][c]` holds query times key, **not yet scaled**, and `ds[r][c]` holds dy times value, which the lecture called dP. Rows
# are keys here, and columns are queries: r counts this thread's keys, c its queries.
#
# Replace `ds[r][...]` by the gradients of the scores, times `scale` (1 / √d) once more, because the scores were scaled:
# weight · (dP - delta) · scale. The logsumexp of query c is `lse[c]`, its delta `deltas[c]`. `ds` must be 0 where the key
# does not exist (`key >= S`) or, if `causal`, comes after the query: query number `query + c` attends to the keys up to `past
# + query + c`. `edge` is false if nothing in this tile is masked, so that most tiles need not check.
#
# With p = 2, scale 0.5, logsumexp 1, dP = 5 and delta = 3 it is exp(0), times 2, times 0.5: 1. The kernel then multiplies
# ds by the keys, and so sums dq.

# %% exercise="flash_attention_backward_q"
# include kernels/flash_attention_backward.cu flash_attention_backward_q: dscores

# %% [markdown]
# ## 3. The owners of keys
#
# In the third kernel the roles are exchanged. A block owns `TILE_S` keys, from number `first` on, and loops over tiles of
# `TILE_T` queries, for each query head of the group. Rows are queries now, and columns are keys. Three parts are missing:
#
# - `begin`, the query at which the loop begins. If `causal`, query t attends to the keys up to `past + t`, so the block's first
#   key is used from query `first - past` on (and no query comes before number 0). The goal needs it: at most 360,000
#   bytes moved for 160 tokens, `causal`.
# - The weights `p[r][c]` and the gradients `ds[r][c]`, made from query times key and dy times value as before. But here both
#   are needed, so masked weights must become 0 as well. The row's logsumexp is `lse`, its delta `row_delta`. Masked is key `key +
#   c` if it is `S` or more or, if `causal`, comes after `past + query`; and a row that is no query, `query >= T`.
# - The two sums over the queries of the tile: dv is the sum of the weights times dy, dk of the gradients times q. Both
#   matrices are in shared memory, `p_tile` and `ds_tile`, with a row for each query, and so are `q_tile` and `dy_tile`. For
#   the product of one such tile, transposed, and another, there is `multiply_transposed`. For example,
#   `multiply_transposed<OWN, C, TILE_T, Keys::STRIDE, Head::STRIDE>(sums, p_tile + own_row, q_tile + own_column)` would add p
#   times q to `sums`.

# %% exercise="flash_attention_backward_kv"
# include kernels/flash_attention_backward.cu flash_attention_backward_kv: three parts

# %% [markdown]
# ## 4. All of it in NumPy (stretch)
#
# The naive version, which stores the score matrix, for all heads at once; when training on the processor, yours will be
# called. `dy`, `q` and `y` are (B, T, H, D), `k` and `v` (B, S, G, D); query head h reads key-value head h // (H // G).
# `logsumexp` is (B, H, T). With `causal`, query t attends to the keys 0 to S - T + t. Return dq, dk and dv, of the shapes of
# q, k and v, contiguous (`np.ascontiguousarray`). Keep the dtype, and change no input.
#
# With one head of one number, no mask, q `[log 3, 0]`, k `[0, 1]`, v `[4, 8]` and dy `[1, 2]` they are the numbers of the
# lecture: dv is `[1.25, 1.75]`. `np` is there.


# %% exercise="attention_backward"
def attention_backward(dy, q, k, v, y, logsumexp, causal=True):
    # yours: the gradients dq, dk, dv
    B, T, H, D = q.shape
    S, G = k.shape[1:3]
    dy, q, y = (x.transpose(0, 2, 1, 3) for x in (dy, q, y))  # (B, H, T, D)
    k, v = (x.repeat(H // G, axis=2).transpose(0, 2, 1, 3) for x in (k, v))  # (B, H, S, D)
    scale = 1 / D**0.5
    scores = q @ k.swapaxes(2, 3) * scale  # (B, H, T, S)
    if causal:
        scores = np.where(np.tri(T, S, S - T, dtype=bool), scores, scores.dtype.type(-np.inf))
    weights = np.exp(scores - logsumexp[..., None])
    delta = (dy * y).sum(axis=-1, keepdims=True)  # (B, H, T, 1)
    dscores = weights * (dy @ v.swapaxes(2, 3) - delta) * scale  # (B, H, T, S)
    dq, dk, dv = dscores @ k, dscores.swapaxes(2, 3) @ q, weights.swapaxes(2, 3) @ dy
    dk, dv = (x.reshape(B, G, H // G, S, D).sum(axis=2) for x in (dk, dv))  # (B, G, S, D), over the heads of a group
    return tuple(np.ascontiguousarray(x.transpose(0, 2, 1, 3)) for x in (dq, dk, dv))
    # end


# %% [markdown]
# ## 5. Rotate back (stretch)
#
# The backward pass of RoPE is given `dy`, the gradient of the rotated queries or keys, and computes `dx`, the gradient of the
# numbers before the rotation. All of them are (B, T, H, D) with D = 2 `half`. Number i of a row, i less than `half`, makes a
# pair with number i + `half`, and the forward pass rotated the pair, as a point:
#
#     y[i]        = x[i] cos - x[i + half] sin
#     y[i + half] = x[i + half] cos + x[i] sin
#
# What are the derivatives of both y with respect to `x[i]`, and with respect to `x[i + half]`? Each derivative, times its dy,
# and summed, is dx. You will find that this is a rotation again. `cos` and `sin` are (T, half), a row for each position. All
# rows together have `pairs` pairs, with at least one thread for each, in blocks of 32. `rotate` does the rotation. It
# multiplies the sine by `sign`, so that forward and backward pass can both use it; `rope_backward` calls it. With half = 1,
# cos 0 and sin 1, the row dy `[3, 4]` becomes `[4, -3]`.

# %% exercise="rope_backward"
# include kernels/rope.cu rotate: find this thread's pair and its position t, and rotate it by the angle times `sign`
# include kernels/rope.cu rope_backward: call rotate, in the right direction

# %% [markdown]
# ## 6. Challenge: all gradients with few bytes (stretch)
#
# One head of D = 16 numbers, no mask, T tokens that attend to each other. Given are q, k, v and dy (T, 16), `logsumexp` and
# `delta` (T); write dq, dk and dv (T, 16). It is one launch of 2 blocks of 32 threads with 32,768 bytes of `shared`, whatever
# T is. Blocks cannot wait for each other, so no block may need what another writes. `pair` computes the weight p and the
# gradient ds of a score, for one query and one key. The count is the bytes moved for 96 tokens. Reading and writing everything
# once takes 43,776. Ours leaves you much room. Your attempts are recorded.

# %% exercise="attention_backward_few_bytes"
r"""
const int D = 16;

__device__ void pair(const float* q, const float* k, const float* v, const float* dy, float logsumexp, float delta,
                     float& p, float& ds) {
    float score = 0.0f, dp = 0.0f;
    for (int d = 0; d < D; d++) score += q[d] * k[d], dp += dy[d] * v[d];
    p = expf(score / sqrtf(D) - logsumexp);
    ds = p * (dp - delta) / sqrtf(D);
}

__global__ void attention_backward_few_bytes(const float* q, const float* k, const float* v, const float* dy,
                                             const float* logsumexp, const float* delta, float* dq, float* dk, float* dv, int T) {
    extern __shared__ float shared[];
    // yours: all T rows of dq, dk and dv
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < T; i += gridDim.x * blockDim.x) {
        float own[D], other[D], sum_q[D] = {}, sum_k[D] = {}, sum_v[D] = {}, p, ds;
        for (int d = 0; d < D; d++) own[d] = q[i * D + d], other[d] = dy[i * D + d];
        for (int s = 0; s < T; s++) {
            pair(own, k + s * D, v + s * D, other, logsumexp[i], delta[i], p, ds);
            for (int d = 0; d < D; d++) sum_q[d] += ds * k[s * D + d];
        }
        for (int d = 0; d < D; d++) own[d] = k[i * D + d], other[d] = v[i * D + d];
        for (int t = 0; t < T; t++) {
            pair(q + t * D, own, other, dy + t * D, logsumexp[t], delta[t], p, ds);
            for (int d = 0; d < D; d++) sum_k[d] += ds * q[t * D + d], sum_v[d] += p * dy[t * D + d];
        }
        for (int d = 0; d < D; d++) dq[i * D + d] = sum_q[d], dk[i * D + d] = sum_k[d], dv[i * D + d] = sum_v[d];
    }
    // end
}
"""
