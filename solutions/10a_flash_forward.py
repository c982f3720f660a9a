# %% [markdown]
# # 10a Flash attention, forward: exercises
#
# The lecture: [10a Flash attention, forward](../notebooks/10a_flash_forward.ipynb).

# %% [markdown]
# ## One token attends
#
# `q`, `k` and `v` are (T, D). Return the output of token `t`: D numbers. It attends to itself and to the tokens before it, and
# to no other. With D = 1, q `[[0], [0]]`, v `[[2], [4]]` and t = 1, both scores are 0, and the output is `[3]`.


# %% exercise="attend_one" lecture=true
def attend_one(q, k, v, t):
    D = q.shape[1]
    # yours: scores of the keys that token t may attend to, their softmax, and the weighted sum of values
    scores = k[: t + 1] @ q[t] / np.sqrt(D)  # (t + 1,)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    return weights @ v[: t + 1]
    # end


# %% [markdown]
# ## One more key
#
# `m` and `l` are the running maximum and the running sum over the keys so far, and `out` is the unfinished output. Now comes
# a key with its `score`, and `value`. Bring `l` and `out` up to date. With m = 0, l = 1, out = `[4]`, a score of 0 and the
# value `[2]`, nothing needs rescaling: l becomes 2, and out `[6]`.


# %% exercise="one_more_key" lecture=true
def one_more_key(m, l, out, score, value):
    m_new = max(m, score)
    # yours: l and out after this key
    rescale, weight = np.exp(m - m_new), np.exp(score - m_new)
    l = l * rescale + weight
    out = out * rescale + weight * value
    # end
    return m_new, l, out


# %% [markdown]
# ## Find the fault: a tile too soon (stretch)
#
# Attention without a mask, with tiles: each of T queries attends to all S keys. On some machines, on some days, the results
# are right. Run the cell first, and read the report: it names the two lines of a race. q and y are (T, D), k and v (S, D), in
# blocks of 64 threads.

# %% exercise="tiled_attention" lecture=true
r"""
const int D = 8, TILE = 16;

__global__ void tiled_attention(const float* q, const float* k, const float* v, float* y, int T, int S) {
    __shared__ float k_tile[TILE][D], v_tile[TILE][D];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float own[D], out[D] = {}, m = -INFINITY, l = 0.0f;
    for (int d = 0; d < D; d++) own[d] = t < T ? q[t * D + d] / sqrtf(D) : 0.0f;
    for (int start = 0; start < S; start += TILE) {
        int keys = min(TILE, S - start);
        // yours: fix the loading of a tile
        __syncthreads();
        for (int i = threadIdx.x; i < keys * D; i += blockDim.x) {
            k_tile[i / D][i % D] = k[start * D + i];
            v_tile[i / D][i % D] = v[start * D + i];
        }
        __syncthreads();
        // instead
        // for (int i = threadIdx.x; i < keys * D; i += blockDim.x) {
        //     k_tile[i / D][i % D] = k[start * D + i];
        //     v_tile[i / D][i % D] = v[start * D + i];
        // }
        // __syncthreads();
        // end
        for (int s = 0; s < keys; s++) {
            float score = 0.0f;
            for (int d = 0; d < D; d++) score += own[d] * k_tile[s][d];
            float new_m = fmaxf(m, score), rescale = expf(m - new_m), weight = expf(score - new_m);
            for (int d = 0; d < D; d++) out[d] = out[d] * rescale + weight * v_tile[s][d];
            l = l * rescale + weight;
            m = new_m;
        }
    }
    for (int d = 0; d < D; d++) if (t < T) y[t * D + d] = out[d] / l;
}
"""

# %% [markdown]
# ## Tiles that are loaded
#
# A text has `T` tokens. A block owns `block` queries (the last one what is left), and loads tiles of `tile` keys, from key 0
# on, as long as one of its queries attends to a key of the tile. How many tiles do all blocks load together? With 128 tokens,
# blocks of 32 and tiles of 32 it was 10; with blocks of 64 it was 6.


# %% exercise="tile_loads" lecture=true
def tile_loads(T, block, tile):
    loaded = 0
    for first in range(0, T, block):
        # yours: add the tiles that the block whose first query is `first` loads
        end = min(first + block, T)
        loaded += -(-end // tile)
        # end
    return loaded


# %% [markdown]
# ## A butterfly among 16 lanes
#
# A row of `x` has 16 numbers, so each warp has two rows, and each lane one number, `m`. Afterwards every lane must have the
# largest number *of its row*. The rows must not mix.

# %% exercise="half_warp_max" lecture=true
r"""
__global__ void half_warp_max(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m = x[i];
    // yours: the butterfly, for the largest of 16 lanes
    for (int half = 8; half > 0; half /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, half));
    // end
    y[i] = m;
}
"""

# %% [markdown]
# ## 1. Rows of scores become weights
#
# The second of the three naive kernels. `scores` is a matrix with `rows` rows of `S` scores. Overwrite each row with its
# attention weights, **in place**: exp(score - largest score of the row), divided by the sum of these. And write the row's
# logsumexp, the log of the sum of exp(score), to `logsumexp`.
#
# The rows belong to queries: row `i` to query `t = i % T`. If `causal`, query t attends to the keys 0 to S - T + t and no
# others (the queries are the *last* T tokens). The weights of all other keys are 0, and their scores must not matter.
#
# With T = S = 2, causal, the rows `[1, 9]` and `[2, 2]` become `[1, 0]` and `[0.5, 0.5]`; logsumexp becomes `[1, 2.6931]`. It
# is launched in blocks of 32 threads, with at least one thread for each row; a thread owns a row. Without flash attention every
# layer of a model would do this to its whole score matrix.

# %% exercise="attention_softmax"
# include kernels/attention_naive.cu attention_softmax: replace this thread's row, if there is one, by its attention weights

# %% [markdown]
# ## 2. Four lanes share a row
#
# This is the kernel that the course trains with in float32. The lecture printed its loop without the middle, and you write the
# middle. A group of four lanes (`LANES`) owns `ROWS` queries. Of each tile of keys a lane takes `KEYS`, so for its query r it
# has the scores `score[r][0]` to `score[r][KEYS - 1]`, and masked ones are `-INFINITY`. Of the output of that query it keeps
# `C` numbers, `out[r][...]`. For each r:
#
# - `m[r]` is the running maximum of the *whole* row, the same in all four lanes. `warp_max<LANES>(x)` gives the largest x
#   of the four to all of them.
# - `l[r]` is the running sum over *this lane's* keys only. The four sums are added at the very end.
# - `score[r][...]` must become weights, exp(score - m). The four lanes then multiply them by v together.
# - `out[r]` and `l[r]` were computed with the old m, so they must be rescaled. If the old m is 1 and the new one 3, the
#   factor is exp(-2) = 0.135.
#
# `__expf` is a faster, slightly less exact `expf`. `#pragma unroll` above a loop tells the compiler to write its iterations out
# one by one, so that the arrays can stay in registers. How tiles are loaded and multiplied is in
# `kernels/include/attention_tile.cuh`.

# %% exercise="flash_attention_forward"
# include kernels/flash_attention_forward.cu flash_attention_forward: scores become weights, and the sums so far are rescaled

# %% [markdown]
# ## 3. Sliding-window attention
#
# Some models for long texts use **sliding-window attention** (Beltagy et al. 2020): a token attends only to the `W` tokens
# that end with itself. Query t attends to the keys t - W + 1 to t, as far as they exist. So tiles can be skipped at *both* ends.
# Write the loop of a block over its tiles: those that any of its queries attends to, and no others. All threads of the block
# together load each tile of `TILE` keys and values into `k_tile` and `v_tile`. Then every thread calls `see` for each key
# that its query attends to: `see(own, key, value, out, m, l)`, as in the lecture, with `key` and `value` pointing into the
# tiles. Let each tile begin at a key `start` of your choice; a multiple of `TILE` will do. q, k, v and y are (T, D). The block
# has 32 threads; T can be any number.
#
# With `W` = 1 each token attends to itself alone, and y equals v. The count is the number of bytes moved for 256 tokens and W
# = 20: at most 330,000.

# %% exercise="sliding_window_attention"
r"""
const int D = 16, TILE = 16;

__device__ void see(const float* own, const float* key, const float* value, float* out, float& m, float& l) {
    float score = 0.0f;
    for (int d = 0; d < D; d++) score += own[d] * key[d];
    float new_m = fmaxf(m, score), rescale = expf(m - new_m), weight = expf(score - new_m);
    for (int d = 0; d < D; d++) out[d] = out[d] * rescale + weight * value[d];
    l = l * rescale + weight;
    m = new_m;
}

__global__ void sliding_window_attention(const float* q, const float* k, const float* v, float* y, int T, int W) {
    __shared__ float k_tile[TILE * D], v_tile[TILE * D];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float own[D], out[D] = {}, m = -INFINITY, l = 0.0f;
    for (int d = 0; d < D; d++) own[d] = t < T ? q[t * D + d] / sqrtf(D) : 0.0f;
    // yours: loop over the tiles that this block needs, and call see for each key of this thread's query
    int first = blockIdx.x * blockDim.x;
    int begin = max(0, first - W + 1) / TILE * TILE;
    int end = min(T, first + (int)blockDim.x);
    for (int start = begin; start < end; start += TILE) {
        __syncthreads();
        for (int i = threadIdx.x; i < TILE * D; i += blockDim.x) {
            bool inside = start * D + i < T * D;
            k_tile[i] = inside ? k[start * D + i] : 0.0f;
            v_tile[i] = inside ? v[start * D + i] : 0.0f;
        }
        __syncthreads();
        for (int s = 0; s < TILE; s++) {
            int key = start + s;
            if (t < T && key <= t && key > t - W) {
                see(own, k_tile + s * D, v_tile + s * D, out, m, l);
            }
        }
    }
    // end
    for (int d = 0; d < D; d++) if (t < T) y[t * D + d] = out[d] / l;
}
"""

# %% [markdown]
# ## 4. Two halves of the past (stretch)
#
# Attention was computed twice: over the first half of the keys, with the results `y1` (n rows of `D` numbers) and `logsumexp1`
# (one number for each row), and over the second half, with `y2` and `logsumexp2`. Write what attention over all keys would have
# given: `y` and `logsumexp`.
#
# If half 1 has the logsumexp log 3 and half 2 the logsumexp log 1, then the sum of all exponentials is 4, and y is 3/4 `y1`
# plus 1/4 `y2`. The logsumexp of a half may be 200, and exp(200) overflows; the difference of two is harmless. A half without
# any key has the logsumexp -infinity, and contributes nothing: its y is 0/0, nan. At most one half is so.
#
# It is launched in blocks of 32 threads, with at least one thread for each number of `y`. Splitting the keys is how a single
# query, as in text that is being generated, keeps a whole GPU busy.

# %% exercise="merge_attention"
r"""
__global__ void merge_attention(const float* y1, const float* logsumexp1, const float* y2, const float* logsumexp2, float* y,
                             float* logsumexp, int n, int D) {
    // yours: merge this thread's number; one thread of each row writes the logsumexp
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * D) return;
    int row = i / D;
    float a = logsumexp1[row], b = logsumexp2[row];
    float m = fmaxf(a, b);
    float first = expf(a - m), second = expf(b - m);
    float one = first > 0.0f ? y1[i] : 0.0f, two = second > 0.0f ? y2[i] : 0.0f;
    y[i] = (first * one + second * two) / (first + second);
    if (i % D == 0) {
        logsumexp[row] = m + logf(first + second);
    }
    // end
}
"""

# %% [markdown]
# ## 5. Rotate by the position (stretch)
#
# RoPE for a whole batch. `x` and `y` are (B, T, H, D) with D = 2 `half`. A row is one (b, t, h): D numbers. Number i of a row,
# i less than `half`, makes a pair with number i + `half`. A pair is a point, which is rotated by an angle whose cosine and
# sine are given:
#
#     first  = x[i] cos - x[i + half] sin
#     second = x[i + half] cos + x[i] sin
#
# `cos` and `sin` are (T, half): row t for position t, whatever b and h are. In the backward pass the point is rotated in the
# opposite direction, so the sine is multiplied by `sign`, 1 or -1. All rows together have `pairs` pairs, with at least one
# thread for each, in blocks of 32. Write the rotation, `rotate`; both kernels of the course call it. With half = 1, cos 0, sin
# 1, the row `[3, 4]` becomes `[-4, 3]`.

# %% exercise="rope_forward"
# include kernels/rope.cu rotate: find this thread's pair and its position t, and rotate it
# given kernels/rope.cu rope_forward

# %% [markdown]
# ## 6. A score for each query and key (stretch)
#
# The first of the three naive kernels. The lecture had it for one head; here it is for all. `q` is (B, T, H, D): B texts, T
# queries, H heads, D numbers. `k` is (B, S, G, D): S keys, and G heads of them. This is grouped-query attention, so query
# head h reads head `h / (H / G)`. Write `scores` (B, H, T, S): the sum over d of query times key, times `scale`. All arrays
# are row-major: the last index runs fastest.
#
# For the query `[1, 2]`, the keys `[3, 4]` and `[0, 1]`, and a scale of 0.5, the scores are `[5.5, 1]`. It is launched in
# blocks of 32 threads, with at least one thread for each score. This score matrix, T times S numbers for every head, is what
# flash attention never stores.

# %% exercise="attention_scores"
# include kernels/attention_naive.cu attention_scores: find this thread's b, h, t and s, and loop over the D numbers

# %% [markdown]
# ## 7. Weights times values (stretch)
#
# The third of the naive kernels. `weights` is (B, H, T, S): the result of exercise 1 for each
# text b, head h and query t. `v` is (B, S, G, D): G heads of values, and as in exercise 6 query head h reads head
# `h / (H / G)` of them. Write y (B, T, H, D): `y[b][t][h]` is the sum over the keys s of `weights[b][h][t][s]` times
# `v[b][s][g]`, D numbers. All arrays are row-major: the last index runs fastest.
#
# For the weights `[0.25, 0.75]` and the values `[4]` and `[8]`, y is `[7]`. It is launched in blocks of 32 threads, with at
# least one thread for each number of y. Flash attention does the same without storing the weights.

# %% exercise="attention_values"
# include kernels/attention_naive.cu attention_values: find this thread's b, t, h and d, and loop over the weights of its row

# %% [markdown]
# ## 8. Challenge: attention with few bytes (stretch)
#
# Attention without a mask, for one head of D = 16 numbers: q and y are (T, 16), k and v (S, 16), any T and S from 1 on. It is
# launched with 2 blocks of 32 threads, and with 32,768 bytes of `shared`, whatever the sizes (`extern __shared__`: the launch
# says how much). Which thread does what is up to you. The count is the bytes moved for 96 queries and 96 keys. Reading q, k
# and v once and writing y takes 24,576. How near can you come? Ours leaves you much room. Your attempts are recorded.

# %% exercise="attention_few_bytes"
r"""
const int D = 16, TILE = 32;

__global__ void attention_few_bytes(const float* q, const float* k, const float* v, float* y, int T, int S) {
    extern __shared__ float shared[];
    // yours: all T rows of y
    float *k_tile = shared, *v_tile = shared + TILE * D;
    for (int first = blockIdx.x * blockDim.x; first < T; first += gridDim.x * blockDim.x) {
        int t = first + threadIdx.x;
        float own[D], out[D] = {}, m = -INFINITY, l = 0.0f;
        for (int d = 0; d < D; d++) own[d] = t < T ? q[t * D + d] / sqrtf(D) : 0.0f;
        for (int start = 0; start < S; start += TILE) {
            int keys = min(TILE, S - start);
            __syncthreads();
            for (int i = threadIdx.x; i < keys * D; i += blockDim.x) {
                k_tile[i] = k[start * D + i];
                v_tile[i] = v[start * D + i];
            }
            __syncthreads();
            for (int s = 0; s < keys; s++) {
                float score = 0.0f;
                for (int d = 0; d < D; d++) score += own[d] * k_tile[s * D + d];
                float new_m = fmaxf(m, score), rescale = expf(m - new_m), weight = expf(score - new_m);
                for (int d = 0; d < D; d++) out[d] = out[d] * rescale + weight * v_tile[s * D + d];
                l = l * rescale + weight;
                m = new_m;
            }
        }
        for (int d = 0; d < D; d++) if (t < T) y[t * D + d] = out[d] / l;
    }
    // end
}
"""
