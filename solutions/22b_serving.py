# %% [markdown]
# # 22b Serving: exercises
#
# The lecture: [22b Serving](../notebooks/22b_serving.ipynb).

# %% [markdown]
# ## Where a row lies
#
# The cache is pages of `rows` rows each, one behind the other in memory, so that row r of page p is slot p * rows + r.
# `table` is the [block table](../notebooks/glossary.md#block-table) of a text, a list: which page holds its first rows, which
# the next ones. Return the slot of the text's row j. For the table `[7, 2]`, `rows` 4 and j 5 it is 9: row 1 of page 2.


# %% exercise="slot_of_row" lecture=true
def slot_of_row(table, j, rows):
    # yours: page and row, then the slot
    return table[j // rows] * rows + j % rows
    # end


# %% [markdown]
# ## Find the page that is freed twice
#
# Two texts held page 4, and both have ended. Soon two new texts had page 4, each as its own, and wrote over each other's
# words. `release(table, holders)` is called when a text ends: `table` is the list of its pages, and `holders[p]` says how
# many texts hold page p. It should count down, empty the table, and return the list of the pages that nobody holds any more.
# With `table = [4, 1]`, and `holders` 2 for page 4 and 1 for page 1, it returns `[1]`. Fix it.

# %% exercise="release" lecture=true
# include course_lib/serving/pages.py release: say which pages are free now

# %% [markdown]
# ## Ask the latents
#
# In [multi-head latent attention](../notebooks/glossary.md#multi-head-latent-attention) the key of a token with the latent c is
# `w_uk[h] @ c`. `q` (H, d) holds a query for each of H heads, and `w_uk` (H, d, K) the matrices. Return an array (H, K): for
# each head the vector whose product with c is the score `q[h] @ (w_uk[h] @ c)`, whatever c is. So nobody needs the keys. For
# the query `[1, 2]` and the matrix `[[1, 0, 3], [0, 1, 1]]` it is `[1, 2, 5]`. `np` is NumPy. A loop over the heads will do, or
# `np.einsum`, which multiplies arrays along axes that you name by letters, and adds up over each letter the result lacks.


# %% exercise="absorb_query" lecture=true
def absorb_query(q, w_uk):
    # yours: move the matrix of each head to its query
    return np.einsum("hd,hdk->hk", q, w_uk)
    # end


# %% [markdown]
# ## Whose turn is it?
#
# A request waits for a batch slot. `waiting` is a list: who sent each request, the oldest first. `running` says whose texts are
# being written now. Return the index in `waiting` of the request that is next: one of the client who has the fewest running,
# and of those the oldest. For `["ann", "ann", "bob"]` and running `["ann"]` it is 2.

# %% exercise="next_in_line" lecture=true
# include course_lib/serving/scheduling.py next_in_line: the oldest request of the client with the fewest running

# %% [markdown]
# ## 1. A step of the scheduler
#
# This is [continuous batching](../notebooks/glossary.md#continuous-batching). A step of the engine computes `budget` tokens
# at most. `needed` is a list, the oldest text first: how many tokens each text still has to compute. A text that is being
# written needs 1: its reader waits for the next token. A text in [prefill](../notebooks/glossary.md#prefill), whose prompt is
# still to be read, needs more, and can do it in several steps.
#
# Return a list of as many numbers: the tokens that each text computes in this step. Texts that need 1 get it first, the
# oldest first. What is left of the budget goes to the prompts, the oldest first, each as much as it needs or as there is. For
# `[50, 1, 7, 1]` and a budget of 32 it is `[30, 1, 0, 1]`. `needed` itself must not change.

# %% exercise="share_budget"
# include course_lib/serving/scheduling.py share_budget: first those that need one, then the prompts

# %% [markdown]
# ## 2. Copy on write
#
# A text has `length` rows, and row `length` is about to be written, to page `table[length // rows]`. See to it that this page
# is there, and that this text alone holds it. There are three cases:
#
# - The table has no such page yet. Take one from the end of the list `free`, and append it to the table.
# - The page is there, and this text alone holds it: `holders[page]` is 1. There is nothing to do.
# - The page is there, and others hold it too. Take one from the end of `free`, put it into the table in the place of the old
# one, and count the old one's holders down.
#
# A page that was taken has one holder. Return the old page in the third case, because its rows must be copied, and `None` in
# the others. `table`, `holders` (how many texts hold each page) and `free` are lists, and you change them in place. For
# `table = [4]`, length 2, 4 rows, `holders[4] = 2` and `free = [0, 3]` it returns 4, and the table is then `[3]`.

# %% exercise="page_for_next"
# include course_lib/serving/pages.py page_for_next: find the page, take one if need be, and say what must be copied

# %% [markdown]
# ## 3. Accept or reject
#
# In [speculative decoding](../notebooks/glossary.md#speculative-decoding) a cheap model has drafted K tokens, `drafted`.
# `draft` `(K, V)` holds the probabilities that it drew them from, and `target` `(K + 1, V)` those of the real model: for each
# drafted token, and for the one after the last. `uniform` `(K + 1,)` holds random numbers from 0 to 1. Return a list: the
# tokens that the text gets.
#
# Look at the drafted tokens in order. Token x number i is accepted if `uniform[i]` is below p(x) / q(x), where p is
# `target[i]` and q is `draft[i]`. At the first that is not, draw a token from max(p - q, 0) divided by its sum, add it, and
# stop. If all are accepted, add one more that is drawn from `target[K]`. `draw(probabilities, u)` draws from an array `(V,)`,
# whatever its sum; always give it the last number, `uniform[K]`. For `drafted = [0]`, a target of `[[0.25, 0.75], [1, 0]]`, a
# draft of `[[0.5, 0.5]]` and `uniform = [0.4, 0.1]` it is `[0, 0]`; with `[0.6, 0.1]` it is `[1]`. `np` is NumPy.

# %% exercise="accept"
# include course_lib/serving/speculative.py accept: accept one after the other, or stop

# %% [markdown]
# ## 4. The rows of a text, from their pages
#
# [Paging](../notebooks/glossary.md#paging) scatters the rows of a text. A prompt is attended to by flash attention, which
# wants its keys in order. Write the kernel that gathers them: `pages` holds pages of N rows of `row` numbers each, one behind
# the other; `table` is the block table of a text. `y` `(count, row)` becomes the text's first `count` rows. Thread i owns
# number i of y: it belongs to row j = i / row of the text, which is row j % N of page `table[j / N]`. A page's first number
# may lie beyond 2^31: count with `long long`. X is any type of number.

# %% exercise="paged_gather"
# include kernels/paged_attention.cu paged_gather: find your row's page, and copy one number

# %% [markdown]
# ## 5. New rows into pages
#
# The other way. A step has computed the keys `k` and values `v` of n new tokens, each `row` numbers, and they belong to n
# texts, or to one, or to fewer than n. `slots[i]` says where token i goes: row r of page p is slot p * N + r, and the pages
# lie one behind the other, so slot s begins at number s * row. Write row i of `k` to its slot of `k_pages`, and that of `v` to
# the same slot of `v_pages`. All other rows stay as they are. Thread i moves number i of each; count with `long long` here
# too.

# %% exercise="paged_append"
# include kernels/paged_attention.cu paged_append: find your row's slot, and copy one number of k and one of v

# %% [markdown]
# ## 6. Attention over pages
#
# Several texts add one token each, and each token attends to its own text. `q` is (R, H, D), a query of H heads for each of R
# texts. `k_pages` and `v_pages` (P, N, G, D) hold the rows of all texts. `tables` (R, M) holds the block tables, filled up
# with zeros at their ends, and text r consists of the rows 0 .. `positions[r]`; whatever else is in the pages is not its own.
# H is a multiple of G: query heads 0 .. H / G - 1 share key-value head 0, the next ones head 1. Return y (R, H, D), of q's
# dtype: for each text and head the mean of the values, weighted by softmax(q k / √D). Use NumPy and a loop over the texts.


# %% exercise="paged_attention_forward"
def paged_attention_forward(q, k_pages, v_pages, tables, positions):
    shared = q.shape[1] // k_pages.shape[2]
    y = np.empty_like(q)
    # yours: for each text its rows in order, then attention of its one query
    for r, (table, position) in enumerate(zip(tables, positions, strict=True)):
        k, v = (pages[table].reshape(-1, *pages.shape[2:])[: position + 1] for pages in (k_pages, v_pages))  # (S, G, D)
        k, v = (np.repeat(x, shared, axis=1) for x in (k, v))  # (S, H, D)
        scores = (k * q[r]).sum(axis=-1) / q.shape[-1] ** 0.5  # (S, H)
        e = np.exp(scores - scores.max(axis=0))
        weights = e / e.sum(axis=0)  # (S, H)
        y[r] = (weights[..., None] * v).sum(axis=0)  # (H, D)
    # end
    return y


# %% [markdown]
# ## 7. Keys and values in 8 bits
#
# A cache in 8 bits keeps the d numbers of a token and head as `last` words of codes and one more, the bits of their scale. A
# code is an integer from -127 to 127, a number divided by the scale and rounded to the nearest (`rintf`); where the scale
# is 0, so are the codes. Word w holds the codes of the numbers 4w .. 4w + 3, the first in its lowest 8 bits. The last word may
# have fewer: the bits of numbers that do not exist are 0. The scale is there already. Build `word`.

# %% exercise="paged_append_int8"
# include kernels/paged_attention.cu paged_append_int8: the codes of four numbers, each in its byte

# %% [markdown]
# ## 8. Attention over 8 bits
#
# And back. The attention of one query, `attend_one`, reads its keys and values as `row[i]`, whatever a row is. Let a row be the
# words that the exercise before made: `words` are its codes, four to a word, the first in the lowest 8 bits, each a byte with a
# sign; `scale` is what they are multiplied by. Return number i of the row. So the floats exist in registers only.

# %% exercise="paged_attention_int8"
# include kernels/paged_attention.cu paged_attention_int8: number i of a row
