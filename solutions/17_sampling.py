# %% [markdown]
# # 17 Sampling: exercises
#
# The lecture: [17 Sampling](../notebooks/17_sampling.ipynb).

# %% [markdown]
# ## The likeliest two
#
# `first` is an array (V,): the probability of each token to be the next one. `after` is (V, V): `after[a, b]` is the
# probability of `b` after `a`. Return the likeliest text of two tokens, as a tuple (a, b). For `first` `[0.6, 0.4]` and `after`
# `[[0.5, 0.5], [0.1, 0.9]]` it is `(1, 1)`.


# %% exercise="likeliest_pair" lecture=true
def likeliest_pair(first, after):
    # yours: of all pairs the likeliest
    best = (0.0, 0, 0)
    for a in range(len(first)):
        for b in range(len(first)):
            best = max(best, (first[a] * after[a, b], a, b))
    return best[1:]
    # end


# %% [markdown]
# ## Temperature from probabilities
#
# Some services give you only the probabilities of a model, not its logits. Can you still change the temperature?
# `probabilities` is an array (V,), the result of a softmax at temperature 1, none of them 0. Return those at another
# `temperature`: for `[0.667, 0.333]` and 0.5 they are `[0.8, 0.2]`.


# %% exercise="at_temperature" lecture=true
def at_temperature(probabilities, temperature):
    # yours: from probabilities back to logits, and on
    lifted = np.exp(np.log(probabilities) / temperature)
    return lifted / lifted.sum()
    # end


# %% [markdown]
# ## Top-k sampling
#
# [Top-k](../notebooks/glossary.md#top-k): of each row of `probabilities` `(R, V)`, keep the k likeliest tokens. All others
# become 0, and what is left is divided by its sum. Each token keeps its index, so the result is `(R, V)` again, a NumPy
# array. Tokens that are exactly as likely as the k-th are kept as well. If k is larger than V, all are kept.
#
# `top_k_filter([[0.125, 0.5, 0.375]], 2)` is `[[0, 0.571, 0.429]]`; `probabilities` comes as a NumPy array, k is at least 1,
# and `np` is NumPy. This is what `top_k` means in `generate` and in `course sample`.

# %% exercise="top_k_filter" lecture=true
# include course_lib/sampling.py top_k_filter: keep the k likeliest of each row

# %% [markdown]
# ## Find the fault: read twice
#
# `greedy_decoding` should add `count` tokens to the list `ids`, always the likeliest one, and return the whole list.
# `model(idx, cache=cache)` gives the logits `(1, T, V)` of the tokens `idx` `(1, T)`, which follow those in the cache. There
# is no error message. The first new token is right, and the text soon becomes nonsense. It is slow, too: with a cache, the model
# should read each token once. Run the cell and read the verdict.
#
# (`np` is NumPy, and inside `no_grad()` no tape is kept.)


# %% exercise="greedy_decoding" lecture=true
def greedy_decoding(model, ids, count):
    """ids and the `count` likeliest tokens after them, as one list."""
    cache = model.new_cache()
    fresh = ids
    with no_grad():
        for _ in range(count):
            logits = model(np.array([fresh]), cache=cache).numpy()[0, -1]  # (V,): after the last token
            new = int(logits.argmax())
            ids = [*ids, new]
            # yours: fix the line below
            fresh = [new]
            # instead
            # fresh = ids
            # end
    return ids


# %% [markdown]
# ## 1. Draw a token
#
# `probabilities` is `(R, V)`: a row of V [tokens](../notebooks/glossary.md#token) for each of R texts. `uniform` is `(R,)`:
# one random number for each row, at least 0 and below 1. Sampling: return the drawn tokens as an array of R integers.
#
# Compute the [prefix sums](../notebooks/glossary.md#prefix-sum) of each row of probabilities. The drawn token is the first
# whose prefix sum exceeds the row's number. Rounding can make the last of them a little less or more than 1; so multiply the
# number by the last one first. (Not by `sum` of the row: it adds in another order, rounds in another way, and may be larger.)
#
# With `[[0.25, 0.75]]`, the number 0.125 gives token 0; 0.25 and 0.5 give token 1. `np` is NumPy. Once it has passed, and
# `course.use_my_answers()` has put it in the place of ours, the course draws by it.

# %% exercise="sample_tokens"
# include course_lib/sampling.py draw: choose a token for each row

# %% [markdown]
# ## 2. Temperature
#
# `logits` is `(R, V)`. Divide them by the [temperature](../notebooks/glossary.md#temperature), and apply softmax to each
# row: the same shape. At temperature 0 the largest logit of a row gets probability 1 and all others 0; if several are the
# largest, the first gets it.
#
# Logits can be far above 1000 and far below -1000, and nothing may overflow. `softmax([[1, 0]], 0.5)` is about
# `[[0.88, 0.12]]`; `logits` comes as a NumPy array, and `np` is NumPy. With your answers in place of
# ours, `generate` calls your function for each token.

# %% exercise="softmax_temperature"
# include course_lib/sampling.py softmax: probabilities of each row, and the case of temperature 0

# %% [markdown]
# ## 3. Top-p sampling
#
# [Top-p](../notebooks/glossary.md#top-p): of each row of `probabilities` `(R, V)`, keep the likeliest tokens until together
# they reach p or more. All others become 0, and what is left is divided by its sum. Each token keeps its index, so the result
# is `(R, V)` again, a NumPy array. Of equally likely tokens, the one with the smaller index is taken first.
#
# p is above 0 and at most 1, so at least one token is kept. `top_p_filter([[0.25, 0.5, 0.25]], 0.75)` is `[[0.333, 0.667,
# 0]]`; `probabilities` comes as a NumPy array, and `np` is NumPy. (In our solution `np.take_along_axis(x, order, -1)` sorts
# each row by an order of its own, and `np.put_along_axis(y, order, x, -1)` undoes it.) This is what `top_p` means in
# `generate` and in `course sample`.

# %% exercise="top_p_filter"
# include course_lib/sampling.py top_p_filter: keep as many of each row as it takes

# %% [markdown]
# ## 4. One more token (stretch)
#
# A [key-value cache](../notebooks/glossary.md#key-value-cache) by hand, for one head. A new token comes with its query `q`,
# its key `k` and its value `v`, each `(D,)`. Append key and value to the cache, attend with the query to all keys in it, the
# new one too, and return the weighted sum of the values, `(D,)`. Scores are divided by the square root of D, and large ones
# must not overflow.
#
# `cache` is a list. For the first token it is empty; afterwards it holds two arrays: the keys and the values of all tokens so
# far, `(S, D)` each, the oldest first. Change the list itself, because the next call gets the same one. With an empty cache the
# result is `v`. `np` is NumPy. This computes one row of the score matrix of chapter 14; no other row is needed.


# %% exercise="cached_attention"
def cached_attention(cache, q, k, v):
    """The weighted sum of all values so far, for a new token: q, k, v (D,) -> (D,)."""
    # yours: append key and value, then attend
    keys = np.concatenate([cache[0], k[None]]) if cache else k[None]  # (S, D)
    values = np.concatenate([cache[1], v[None]]) if cache else v[None]  # (S, D)
    cache[:] = [keys, values]
    scores = keys @ q / len(q) ** 0.5  # (S,)
    e = np.exp(scores - scores.max())
    return e @ values / e.sum()
    # end


# %% [markdown]
# ## 5. Challenge: the likeliest text (stretch)
#
# The likeliest token at each step does not make the likeliest text. Find a better one: `probabilities(tokens)` gives the
# probabilities of the 12 tokens 0 to 11 after a list of tokens, an array `(12,)`. Return a list of `length` tokens with a
# product of probabilities as large as possible. For one text you may call `probabilities` 150 times.
#
# If the first token is 0 or 1 with probabilities 0.6 and 0.4, and the next token has at best 0.5 after a 0 and 0.9 after a 1,
# then the text that begins with 1 is the likelier: 0.36 against 0.3. The verdict adds up the surprise, −log of these
# products, of the texts for 30 models, 8 tokens each. Ours is greedy decoding. How low can you get? Your attempts are
# recorded.


# %% exercise="most_likely_text"
def most_likely_text(probabilities, length):
    """A text of `length` tokens, as a list, as likely as you can find."""
    # yours: call probabilities, choose, repeat
    tokens = []
    for _ in range(length):
        tokens.append(int(probabilities(tokens).argmax()))
    return tokens
    # end
