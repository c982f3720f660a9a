# %% [markdown]
# # 14 The transformer: exercises
#
# The lecture: [14 The transformer](../notebooks/14_transformer.ipynb).

# %% [markdown]
# ## Find the fault: a token that comes twice
#
# In the forward pass, an embedding copies row `indices[...]` of its table to each position. In the backward pass, the
# upstream gradient `dy` of the copies must be added to the rows that they came from. `dy` has the shape of `indices` and one
# more axis, C; the result is (rows, C). These two lines passed a test on texts in which all tokens differed. Then a model
# learned badly. Fix the line.


# %% exercise="embedding_backward" lecture=true
def embedding_backward(dy, indices, rows):
    """dy (..., C), indices (...) -> the gradient of the table, (rows, C)."""
    dtable = np.zeros((rows, dy.shape[-1]), dy.dtype)
    # yours: fix the line below
    np.add.at(dtable, indices, dy)
    # instead
    # dtable[indices] += dy
    # end
    return dtable


# %% [markdown]
# ## How large must a dot product be?
#
# A token attends to `tokens` tokens, itself included, and is to give one of them the attention weight `weight`. All others have
# the score 0, and queries and keys have `D` numbers. Return the dot product of query and key that gives this weight, the number
# *before* it is divided by √D. Among the three tokens, `it` needed 4 for the weight 0.89. With two and the weight 0.5, it is 0.


# %% exercise="needed_score" lecture=true
def needed_score(weight, tokens, D):
    # yours: return the dot product
    return np.sqrt(D) * np.log(weight * (tokens - 1) / (1 - weight))
    # end


# %% [markdown]
# ## Hide the future afterwards
#
# Somebody forgot the mask, and kept only the attention weights, after softmax: `weights` (T, T), a row for each token. Make them
# causal: return a new array with the weights that the mask would have given. `[[0.5, 0.5], [0.25, 0.75]]` becomes
# `[[1, 0], [0.25, 0.75]]`. The scores need not be known: without the later tokens, softmax divides by a smaller sum.
# (`np.tril(weights)` is a copy with zeros to the right of the diagonal.)


# %% exercise="causal_weights" lecture=true
def causal_weights(weights):
    # yours: hide the future, and let each row add up to 1
    kept = np.tril(weights)
    return kept / kept.sum(axis=1, keepdims=True)
    # end


# %% [markdown]
# ## A head that attends further back
#
# Set the keys of a head like head 1, in which each token attends to the one `back` positions before it. There are `T` tokens,
# and the queries are `12 * np.eye(T)`, as above. Return the keys, (T, T). The first tokens have none so far back: there any
# weights are right. With `back` = 0 each token attends to itself.


# %% exercise="keys_back" lecture=true
def keys_back(T, back):
    # yours: the keys
    return np.eye(T, k=back)
    # end


# %% [markdown]
# ## One rotation is enough
#
# A score needs both rotations: `rotate(query, p * frequency) @ rotate(key, s * frequency)`, for a query at position `p` and a key
# at position `s`. Leave the key as it is, and rotate only the query, so that their dot product is the same for *every* key.
# Return that pair. `rotate` is there. If p and s are equal, it is the query itself.


# %% exercise="one_rotation" lecture=true
def one_rotation(query, p, s, frequency):
    # yours: rotate the query alone
    return rotate(query, (p - s) * frequency)
    # end


# %% [markdown]
# ## 1. The causal mask
#
# `scores` has the shape (..., T, S): T queries, S keys, and any axes before them, for texts and heads. Mask the future: return
# a new array of the same dtype, with minus infinity there. `[[1, 2], [3, 4]]` becomes `[[1, -inf], [3, 4]]`.
#
# There may be more keys than queries. Then the first S - T keys are a past that was kept, and all queries attend to them: query
# t attends to the columns 0 to S - T + t. So with 2 queries and 3 keys, `[[1, 2, 3], [4, 5, 6]]` becomes `[[1, 2, -inf], [4, 5,
# 6]]`. Do not change `scores`. `np` is NumPy, here and below. Exercises 2 and 4 call this function, the library's own.

# %% exercise="causal_mask"
# include course_lib/devices/reference/attention.py causal_mask: mask the future

# %% [markdown]
# ## 2. Attention of one head
#
# The lecture computed attention token by token. Now all tokens at once, for one head of one text: `q` (T, D) holds the queries,
# `k` and `v` (S, D) the keys and the value vectors. Return y (T, D), the output of each token, in four steps:
#
# 1. the scores: every query times every key, divided by the square root of D;
# 2. the mask: `causal_mask` of exercise 1 is there for you;
# 3. softmax along each row. Scores may be large, and exp(1000) is infinite even in float64: subtract the row's largest first;
# 4. the weighted sum of the values.
#
# With two tokens, q = k = `[[2, 0], [0, 2]]` and v = `[[1, 0], [0, 1]]`, y is `[1, 0]` for the first token, which attends to
# itself alone, and about `[0.06, 0.94]` for the second.


# %% exercise="head_attention"
def head_attention(q, k, v):
    """y (T, D) of the queries q (T, D), the keys k and the value vectors v (S, D)."""
    # yours: scores, mask, softmax of each row, weighted sum
    scores = causal_mask(q @ k.T / q.shape[1] ** 0.5)  # (T, D) @ (D, S) -> (T, S)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v  # (T, S) @ (S, D) -> (T, D)
    # end


# %% [markdown]
# ## 3. Queries, keys, values, heads
#
# The library computes queries, keys and values of all heads in *one* matmul. Its result `qkv` has the shape (B, T, (H + 2 G)
# D): for each token first its queries, head after head, then its keys, then its values. Each attention head has its own part.
# There are `heads` = H heads of queries and `kv_heads` = G of keys and of values, each with D numbers.
#
# Return `q` of shape (B, T, H, D), `k` and `v` of shape (B, T, G, D). With H = G = 2, one token `[1, 2, 3, 4, 5, 6]` becomes
# the queries `[[1], [2]]`, the keys `[[3], [4]]` and the values `[[5], [6]]`. The next exercise takes these three.


# %% exercise="split_heads"
def split_heads(qkv, heads, kv_heads):
    """qkv (B, T, (H + 2 G) D) -> q (B, T, H, D), k (B, T, G, D), v (B, T, G, D)."""
    # yours: split, reshape, and return q, k, v
    B, T, width = qkv.shape
    D = width // (heads + 2 * kv_heads)
    q, k, v = np.split(qkv, [heads * D, (heads + kv_heads) * D], axis=-1)  # (B, T, H D), twice (B, T, G D)
    return q.reshape(B, T, heads, D), k.reshape(B, T, kv_heads, D), v.reshape(B, T, kv_heads, D)
    # end


# %% [markdown]
# ## 4. Attention, all heads at once
#
# Exercise 2 for B texts and all heads at once, as the library needs it: the queries `q` (B, T, H, D), the keys `k` and the value
# vectors `v` (B, S, G, D). This is grouped-query attention: H is a multiple of G, and consecutive query heads share one head of
# keys and values. What is new:
#
# - `@` multiplies along the last two axes. So bring the heads before the tokens: (B, H, T, D).
# - Only if `causal`, scores are masked, with `causal_mask` of exercise 1.
# - Return two arrays: `y` (B, T, H, D), and `logsumexp` (B, H, T), the logarithm of the sum of exp(score) over the keys that
#   are not masked, for each row. The backward pass will need it.
# - Keep the dtype of the inputs, and return a contiguous `y` (`np.ascontiguousarray`).
#
# With the two tokens of exercise 2, logsumexp of the first is 4 / √2, its only score. With `course.use_my_answers()` your
# answer replaces the library's attention on the CPU.


# %% exercise="attention_forward"
def attention_forward(q, k, v, causal=True):
    """y (B, T, H, D) and logsumexp (B, H, T) of q (B, T, H, D), k and v (B, S, G, D)."""
    # yours: scores, mask, softmax, weighted sum
    (H, D), G = q.shape[2:], k.shape[2]
    k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)  # (B, S, H, D)
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))  # (B, H, T, D), twice (B, H, S, D)
    scores = q @ k.swapaxes(-1, -2) / D**0.5  # (B, H, T, S)
    if causal:
        scores = causal_mask(scores)
    largest = scores.max(axis=-1, keepdims=True)  # (B, H, T, 1)
    e = np.exp(scores - largest)
    total = e.sum(axis=-1, keepdims=True)
    y = (e / total @ v).transpose(0, 2, 1, 3)  # (B, T, H, D)
    return np.ascontiguousarray(y), (largest + np.log(total))[..., 0]
    # end


# %% [markdown]
# ## 5. A block: plumbing (stretch)
#
# No new idea here, only wiring: all parts of the library's block are there, and you connect them. In the lecture a block was
# two lines, and each ended with an addition to the residual stream. The library saves a pass over memory: an addition is fused
# with the norm that reads the sum. `self.norm2(branch, stream)` gives two Tensors, the normalised sum and the sum itself; so
# does `self.norm1(branch, stream)`. So a block leaves its last addition to the next block. It gets the stream and a `branch`
# that is still to be added to it, and returns such a pair: the stream after attention, and the output of the MLP.
#
# In the first block there is no branch: it is `None`, and `self.norm1(stream)` gives the normalised stream alone.
#
# Write the method `forward` of the library's `Block`. It has `self.norm1`, `self.norm2`, `self.attention`, `self.mlp`, and two
# dropouts (they set randomly chosen activations to 0 during training): `self.dropout1` after attention and `self.dropout2`
# after the MLP. `self.attention(x, rotation, cache)` takes two more arguments that you only pass on. All Tensors are (B, T,
# C). With `course.use_my_answers()` your models use your block.

# %% exercise="block_forward"
# include course_lib/model.py block_forward: add the branch, attend, add again, and return the stream and the new branch

# %% [markdown]
# ## 6. The tied head (stretch)
#
# The embedding table (V, C) is used twice. The first layer reads rows of it, `table[ids]`, and the head compares the final
# vectors of the stream with all rows: `logits = x @ table.T`. What is the gradient of the table?
#
# For one text: `ids` (T,); `dx` (T, C), the gradient of `table[ids]`; `x` (T, C), the final vectors; `dlogits` (T, V). Return
# (V, C). With one token, `ids` = `[1]`, `dx` = `[[1, 2]]`, `x` = `[[3, 4]]` and `dlogits` = `[[0.5, -0.5]]`: the gradient
# from the head is `[[1.5, 2], [-1.5, -2]]`, and with that from the first layer it is `[[1.5, 2], [-0.5, 0]]`.


# %% exercise="tied_gradient"
def tied_gradient(ids, dx, x, dlogits):
    """The gradient of a table (V, C) that is both the embedding and the head."""
    # yours: both uses
    dtable = dlogits.T @ x  # (T, V) transposed @ (T, C) -> (V, C)
    np.add.at(dtable, ids, dx)
    return dtable
    # end


# %% [markdown]
# ## 7. Count the parameters (stretch)
#
# Count the parameters of the lecture's GPT: a row for each of `vocab` tokens and each of `context` positions, `layers` blocks
# with two norms, attention (C to 3 C, and C to C) and an MLP (C to 4 C, and 4 C to C), a last norm, and a tied head with a
# bias. Every matrix has a bias, every norm a weight and a bias. Here C is `channels`. The smallest of all,
# `count_parameters(1, 1, 1, 1)`, has 30. For `12m` you know the result. Before one pays for a training run, one does this
# count.


# %% exercise="count_parameters"
def count_parameters(layers, channels, context, vocab):
    """How many numbers a GPT learns."""
    # yours: count, and return the number
    block = 12 * channels * channels + 13 * channels  # 3 + 1 + 4 + 4 matrices; 9 biases, 4 for the norms
    return (vocab + context) * channels + layers * block + 2 * channels + vocab  # the last norm, and the head's bias
    # end


# %% [markdown]
# ## 8. Challenge: attention in little memory (stretch)
#
# The score matrix grows with the square of the text's length. With T = 512 and D = 32 it has 262,144 numbers, though the result
# has only 16,384. It need not be stored all at once. Write causal attention for one head: `q`, `k` and `v` are (T, D), and so
# is the result; token t attends to the keys 0 to t, and scores are divided by the square root of D. Two tokens with q = k =
# `[[2, 0], [0, 2]]` and v = `[[1, 0], [0, 1]]` give `[1, 0]` and about `[0.06, 0.94]`.
#
# Any right answer passes. The verdict measures the peak memory, the result included, and records your attempts. How low can you
# get? Flash attention, in Part II, is the same challenge on a GPU.


# %% exercise="memory_efficient_attention"
def memory_efficient_attention(q, k, v):
    """Causal attention of one head: q, k, v (T, D) -> (T, D)."""
    # yours: attention in as little memory as you can
    y = np.empty_like(v)
    for t in range(len(q)):
        scores = k[: t + 1] @ q[t] / q.shape[1] ** 0.5  # (t + 1,)
        e = np.exp(scores - scores.max())
        y[t] = e @ v[: t + 1] / e.sum()
    return y
    # end
