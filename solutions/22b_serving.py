# %% [markdown]
# # 22b Serving: exercises
#
# The lecture: [22b Serving](../notebooks/22b_serving.ipynb).

# %% [markdown]
# ## Where a row lies
#
# The cache is pages of `rows` rows each, one behind the other in memory, so that row r of page p is slot p * rows + r. `table` is
# the [block table](../notebooks/glossary.md#block-table) of a text, a list: which page holds its first rows, which the next ones.
# Return the slot of the text's row j. For the table `[7, 2]`, `rows` 4 and j 5 it is 9: row 1 of page 2.


# %% exercise="slot_of_row" lecture=true
def slot_of_row(table, j, rows):
    # yours: page and row, then the slot
    return table[j // rows] * rows + j % rows
    # end


# %% [markdown]
# ## Find the page that is freed twice
#
# Two texts held page 4, and both have ended. Soon two new texts had page 4, each as its own, and wrote over each other's words.
# `release(table, holders)` is called when a text ends: `table` is the list of its pages, and `holders[p]` says how many texts hold
# page p. It should count down, empty the table, and return the list of the pages that nobody holds any more. With `table = [4, 1]`,
# and `holders` 2 for page 4 and 1 for page 1, it returns `[1]`. Fix it.

# %% exercise="release" lecture=true
# include course_lib/serving/pages.py release: say which pages are free now

# %% [markdown]
# ## Whose turn is it?
#
# A request waits for a place. `waiting` is a list: who sent each request, the oldest first. `running` says whose texts are being
# written now. Return the index in `waiting` of the request that is next: one of the client who has the fewest running, and of
# those the oldest. For `["ann", "ann", "bob"]` and running `["ann"]` it is 2.

# %% exercise="next_in_line" lecture=true
# include course_lib/serving/scheduling.py next_in_line: the oldest request of the client with the fewest running

# %% [markdown]
# ## 1. A step of the scheduler
#
# A step of the engine computes `budget` tokens at most. `needed` is a list, the oldest text first: how many tokens each text still has
# to compute. A text that is being written needs 1: its reader waits for the next word. A text whose prompt is still to be read
# needs more, and can do it in several steps.
#
# Return a list of as many numbers: the tokens that each text computes in this step. Texts that need 1 get it first, the oldest first.
# What is left of the budget goes to the prompts, the oldest first, each as much as it needs or as there is. For `[50, 1, 7, 1]` and
# a budget of 32 it is `[30, 1, 0, 1]`. `needed` itself must not change.

# %% exercise="share_budget"
# include course_lib/serving/scheduling.py share_budget: first those that need one, then the prompts

# %% [markdown]
# ## 2. Copy on write
#
# A text has `length` rows, and row `length` is about to be written, to page `table[length // rows]`. See to it that this page is there,
# and that this text alone holds it. There are three cases:
#
# - The table has no such page yet. Take one from the end of the list `free`, and append it to the table.
# - The page is there, and this text alone holds it: `holders[page]` is 1. There is nothing to do.
# - The page is there, and others hold it too. Take one from the end of `free`, put it into the table in the place of the old one, and
#   count the old one's holders down.
#
# A page that was taken has one holder. Return the old page in the third case, because its rows must be copied, and `None` in
# the others. `table`, `holders` (how many texts hold each page) and `free` are lists, and you change them in place. For `table =
# [4]`, length 2, 4 rows, `holders[4] = 2` and `free = [0, 3]` it returns 4, and the table is then `[3]`.

# %% exercise="page_for_next"
# include course_lib/serving/pages.py page_for_next: find the page, take one if need be, and say what must be copied

# %% [markdown]
# ## 3. Accept or reject
#
# A cheap model has drafted K tokens, `drafted`. `draft` `(K, V)` holds the probabilities that it drew them from, and `target`
# `(K + 1, V)` those of the real model: for each drafted token, and for the one after the last. `uniform` `(K + 1,)` holds random
# numbers from 0 to 1. Return a list: the tokens that the text gets.
#
# Look at the drafted tokens in order. Token x number i is accepted if `uniform[i]` is below p(x) / q(x), where p is `target[i]` and
# q is `draft[i]`. At the first that is not, draw a token from max(p - q, 0) divided by its sum, add it, and stop. If all
# are accepted, add one more that is drawn from `target[K]`. `draw(probabilities, u)` draws from an array `(V,)`, whatever its sum;
# always give it the last number, `uniform[K]`. For `drafted = [0]`, a target of `[[0.25, 0.75], [1, 0]]`, a draft of `[[0.5, 0.5]]`
# and `uniform = [0.4, 0.1]` it is `[0, 0]`; with `[0.6, 0.1]` it is `[1]`. `np` is NumPy.

# %% exercise="accept"
# include course_lib/serving/speculative.py accept: accept one after the other, or stop

# %% [markdown]
# ## 4. The rows of a text, from their pages
#
# A prompt is attended to by flash attention, which wants its keys in order. Write the kernel that gathers them: `pages` holds pages of
# N rows of `row` numbers each, one behind the other; `table` is the block table of a text. `y` `(count, row)` becomes the text's
# first `count` rows. Thread i owns number i of y: it belongs to row j = i / row of the text, which is row j % N of page
# `table[j / N]`. A page's first number may lie beyond 2^31: count with `long long`. X is any type of number.

# %% exercise="paged_gather"
# include kernels/paged_attention.cu paged_gather: find your row's page, and copy one number
