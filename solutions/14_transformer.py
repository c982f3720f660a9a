# %% [markdown]
# # 14 The transformer: exercises
#
# The lecture: [14 The transformer](../notebooks/14_transformer.ipynb).

# %% [markdown]
# ## 1. Queries, keys, values, heads
#
# The library makes queries, keys and values of all heads in *one* matmul. Its result `qkv` has the shape (B, T, (H + 2 G) D):
# for each token first its queries, head after head, then its keys, then its values. There are `heads` = H heads of queries
# and `kv_heads` = G of keys and of values, each with D numbers.
#
# Return `q` of shape (B, T, H, D), `k` and `v` of shape (B, T, G, D). With H = G = 2, one token `[1, 2, 3, 4, 5, 6]` becomes
# the queries `[[1], [2]]`, the keys `[[3], [4]]` and the values `[[5], [6]]`. Attention, the next exercise, takes these
# three. `np` is NumPy, here and below.

# %% exercise="split_heads"
def split_heads(qkv, heads, kv_heads):
    """qkv (B, T, (H + 2 G) D) -> q (B, T, H, D), k (B, T, G, D), v (B, T, G, D)."""
    # yours: cut, reshape, and return q, k, v
    B, T, width = qkv.shape
    D = width // (heads + 2 * kv_heads)
    q, k, v = np.split(qkv, [heads * D, (heads + kv_heads) * D], axis=-1)  # (B, T, H D), twice (B, T, G D)
    return q.reshape(B, T, heads, D), k.reshape(B, T, kv_heads, D), v.reshape(B, T, kv_heads, D)
    # end


# %% [markdown]
# ## 2. Attention
#
# The lecture went word by word and head by head. Now all at once, as the library needs it. The inputs are NumPy arrays: `q`
# (B, T, H, D), `k` and `v` (B, S, G, D). H is a multiple of G: consecutive query heads share one head of keys and values.
#
# - Scores are divided by the square root of D.
# - If `causal`, query t sees the keys 0 to S - T + t. With S = T that is the mask of the lecture. With more keys than
#   queries, the first ones are a past that was kept, and every query sees them.
# - Return two arrays: `y` (B, T, H, D), and `logsumexp` (B, H, T), the logarithm of the sum of e to the scores that are seen,
#   for each row. The backward pass will need it. Large scores must not overflow: e to 1000 is too large for any number.
# - Keep the dtype of the inputs, and return a contiguous `y` (`np.ascontiguousarray`).
#
# With one head, two tokens, q = k = `[[2, 0], [0, 2]]` and v = `[[1, 0], [0, 1]]`, the first token sees itself alone: y is
# `[1, 0]`, logsumexp 4 / √2. Your answer takes the place of the library's attention in every model that you run.


# %% exercise="attend"
def attention_forward(q, k, v, causal=True):
    """y (B, T, H, D) and logsumexp (B, H, T) of q (B, T, H, D), k and v (B, S, G, D)."""
    # yours: scores, mask, softmax, mix
    T, H, D = q.shape[1:]
    S, G = k.shape[1:3]
    k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)  # (B, S, H, D)
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))  # (B, H, T, D), twice (B, H, S, D)
    scores = q @ k.swapaxes(-1, -2) / D**0.5  # (B, H, T, S)
    if causal:
        scores = np.where(np.tri(T, S, S - T, dtype=bool), scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)  # (B, H, T, 1)
    e = np.exp(scores - largest)
    total = e.sum(axis=-1, keepdims=True)
    y = (e / total @ v).transpose(0, 2, 1, 3)  # (B, T, H, D)
    return np.ascontiguousarray(y), (largest + np.log(total))[..., 0]
    # end


# %% [markdown]
# ## 3. A block
#
# In the lecture a block was two lines, and each ended with an addition to the stream. The library saves a trip through
# memory: an addition is done together with the norm that reads the sum. `self.norm2(branch, stream)` gives two Tensors: the
# normed sum, and the sum itself. So a block leaves its last addition to the next block. It gets the stream and a `branch`
# that is still to be added to it, and returns such a pair: the stream after attention, and what the MLP made.
#
# In the first block there is no branch: it is `None`, and `self.norm1(stream)` gives the normed stream alone.
#
# Write the method `forward` of the library's `Block`. It has `self.norm1`, `self.norm2`, `self.attention`, `self.mlp`, and
# two dropouts (they set random numbers to 0 while a model trains): `self.dropout1` behind attention and `self.dropout2`
# behind the MLP. `self.attention(x, rotation, cache)` takes two more things that you only hand on. All Tensors are (B, T, C).
# Your models will run through your block.

# %% exercise="block_forward"
# include course_lib/model.py block_forward: take in the branch, attend, take in, and return the stream and the new branch
