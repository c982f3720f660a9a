# %% [markdown]
# # 15 Data and training: exercises
#
# The lecture: [15 Data and training](../notebooks/15_data_and_training.ipynb).

# %% [markdown]
# ## 1. Cut the windows
#
# `tokens` is a whole corpus, one long array of whole numbers. `starts` is `(B,)`: where each of B windows begins. Give two
# arrays `(B, T)` of dtype int32, where T is `context`:
#
# - `idx`: the T tokens from each start on, which the model reads;
# - `targets`: for each of them the token that comes next in the corpus.
#
# With `tokens = [5, 6, 7, 8]`, `starts = [1]` and `context = 2`, `idx` is `[[6, 7]]` and `targets` is `[[7, 8]]`. There is
# always one more token after a window. `tokens` and `starts` are NumPy arrays, and `np` is NumPy. Every training run of the
# course reads through your function then.

# %% exercise="cut_windows"
# include course_lib/data/windows.py cut: cut idx and targets

# %% [markdown]
# ## 2. Rise and sink
#
# Give the [learning rate](../notebooks/glossary.md#learning-rate) of one step. Steps count from 0 to `steps` - 1.
#
# - In the first `warmup` steps it rises along a straight line. Step 0 takes the first part of the rise, not 0, and the last
#   step of the warm-up takes `peak`.
# - From step `warmup` on it sinks from `peak` along half a cosine. It would reach `floor` at step `steps`, and stays there.
#
# `warmup` can be 0, and as large as `steps`. With 10 steps, a peak of 1, a floor of 0.1 and a warm-up of 2, step 0
# takes 0.5, steps 1 and 2 take 1, and step 6 is half way down: 0.55. `math` is there.
# The trainer asks your function for each step.

# %% exercise="rise_and_sink"
# include course_lib/optim.py warmup_cosine: the rise, then the way down

# %% [markdown]
# ## 3. A fair mean
#
# A [validation loss](../notebooks/glossary.md#validation) is the mean over all targets that are scored. They are read in batches,
# and the last batch may have fewer rows; and some targets are not scored, they are `IGNORE`.
#
# Write the method `mean_loss(self, loss, batch_size)`. `self.batches(batch_size)` gives pairs `(idx, targets)`, arrays `(B, T)`.
# `loss(idx, targets)` gives the mean over the scored targets of one batch (0 if there are none). `self.scored` is the number of
# scored targets of all batches. The result is one number, and it must not depend on the batch size.
#
# A batch with 3 scored targets and a loss of 2, and one with 1 and a loss of 6: the result is (3 × 2 + 1 × 6) / 4 = 3. `np` is
# NumPy. This is the number that says which of two models is better, so it must be fair.

# %% exercise="fair_mean"
# include course_lib/data/windows.py mean_loss: the mean over all scored targets
