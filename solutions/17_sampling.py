# %% [markdown]
# # 17 Sampling: exercises
#
# The lecture: [17 Sampling](../notebooks/17_sampling.ipynb).

# %% [markdown]
# ## 1. Draw a token
#
# `probabilities` is `(R, V)`: a row of V [tokens](../notebooks/glossary.md#token) for each of R texts. `uniform` is `(R,)`: one
# random number for each row, at least 0 and below 1. Give the drawn tokens as an array of R whole numbers.
#
# Add up the probabilities of a row from its first token on. The drawn token is the first whose running sum exceeds the row's
# number. Rounding can make a row end a little below 1; so multiply its number by what the row sums to.
#
# With `[[0.25, 0.75]]`, the number 0.125 gives token 0; 0.25 and 0.5 give token 1. `np` is NumPy. Every text that a model writes
# in the course is drawn by your function then.

# %% exercise="draw_tokens"
# include course_lib/sampling.py draw: choose a token for each row

# %% [markdown]
# ## 2. Cold or hot
#
# `logits` is `(R, V)`. Divide them by the [temperature](../notebooks/glossary.md#temperature), and make probabilities of each
# row: the same shape, as float64. At temperature 0 the largest logit of a row gets 1 and all others 0; where several are the
# largest, the first gets it.
#
# Logits can be as large as 1000 and as low as -1000, and nothing may overflow. `softmax([[1, 0]], 0.5)` is about
# `[[0.88, 0.12]]`; `logits` comes as a NumPy array, and `np` is NumPy. `generate` will ask your function for each token.

# %% exercise="cold_or_hot"
# include course_lib/sampling.py softmax: probabilities of each row, and the case of temperature 0

# %% [markdown]
# ## 3. As many as it takes
#
# [Top-p](../notebooks/glossary.md#top-p): of each row of `probabilities` `(R, V)`, keep the likeliest tokens until together they
# reach p, where at least p is enough. All others become 0, and what is left is divided by its sum. Each token stays in its
# place, so the result is `(R, V)` again, a NumPy array. Of equally likely tokens, the one that stands first is taken first.
#
# p is above 0 and at most 1, so at least one token is kept. `top_p_filter([[0.25, 0.5, 0.25]], 0.75)` is `[[0.333, 0.667, 0]]`;
# `probabilities` comes as a NumPy array, and `np` is NumPy. This is what `top_p` means in `generate` and in `course sample`.

# %% exercise="sure_or_not"
# include course_lib/sampling.py top_p_filter: keep as many of each row as it takes
