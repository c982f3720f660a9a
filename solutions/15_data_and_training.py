# %% [markdown]
# # 15 Data and training: exercises
#
# The lecture: [15 Data and training](../notebooks/15_data_and_training.ipynb).

# %% [markdown]
# ## Cut the windows
#
# `tokens` is a whole corpus, one long array of integers. `starts` is `(B,)`: the index at which each of B windows begins; the
# library shuffles them in each epoch. Return two arrays `(B, T)` of dtype int32, where T is `context`:
#
# - `idx`: the T tokens from each start on, which the model reads;
# - `targets`: for each of them the token that comes next in the corpus.
#
# With `tokens = [5, 6, 7, 8]`, `starts = [1]` and `context = 2`, `idx` is `[[6, 7]]` and `targets` is `[[7, 8]]`. There is
# always one more token after a window. `tokens` and `starts` are NumPy arrays, and `np` is NumPy. Every training with
# your answers (chapter 16) will use your function.

# %% exercise="cut_windows" lecture=true
# include course_lib/data/windows.py cut: cut idx and targets

# %% [markdown]
# ## Find the fault: a validation set that leaks
#
# `tokens` is a corpus: stories one after the other, and the token `end` before each and after the last. `hold_out` should
# split it in two: the training set, and the validation set, at least `count` tokens at the end of the corpus, `end` tokens
# included, and no more stories than that takes. No story may be in both. So it should split just before a story, at the `end`
# token in front of it. For `[0, 5, 6, 0, 7, 8, 0]`, where `end` is 0, and a `count` of 2, it is `[0, 5, 6]` and `[0, 7, 8,
# 0]`.
#
# The code below splits by counting. So the validation loss was a little too good, for months: the end of a story that was
# trained on can be known by [memorisation](../notebooks/glossary.md#memorisation), and overfitting stays hidden. Run the cell and
# read the verdict. (`np` is NumPy, and `np.flatnonzero(condition)` gives the indices at which a condition holds.)


# %% exercise="hold_out" lecture=true
def hold_out(tokens, end, count):
    """The tokens to train on, and those that are held out."""
    index = len(tokens) - count
    # yours: fix what comes here
    index = np.flatnonzero(tokens[: index + 1] == end)[-1]  # the `end` token before the story that it is in
    # instead
    # index = max(index, 0)
    # end
    return tokens[:index], tokens[index:]


# %% [markdown]
# ## Clip the gradients
#
# `gradients` is a list of NumPy arrays, one for each parameter. Compute the norm of all of them together: the root of the sum
# of all squares. If it is above `max_norm`, scale all arrays by one factor, so that the norm becomes `max_norm`. Return a new
# list: `clip_gradients([np.array([3.0, 4.0])], 1.0)` is `[[0.6, 0.8]]`.


# %% exercise="clip_gradients" lecture=true
def clip_gradients(gradients, max_norm):
    # yours: one norm, one factor, new arrays
    norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients))
    factor = max_norm / norm if norm > max_norm else 1.0
    return [gradient * factor for gradient in gradients]
    # end


# %% [markdown]
# ## A mean of means
#
# And if the parts hold different numbers of targets? `losses` lists the mean loss of each part, `counts` the number of its
# targets. Return the mean over all targets: `whole_loss([2, 6], [3, 1])` is (3 · 2 + 1 · 6) / 4 = 3.


# %% exercise="whole_loss" lecture=true
def whole_loss(losses, counts):
    # yours: the mean over all targets
    return sum(loss * count for loss, count in zip(losses, counts, strict=True)) / sum(counts)
    # end


# %% [markdown]
# ## Three faulty runs
#
# Diagnose such runs by program: `losses` is the list of the losses of a run, one for each step;
# `guessing` is the loss of uniform guessing, and `floor` the entropy floor, the least that is possible. The *end* is the mean
# of the last tenth of the losses: of `len(losses) // 10` of them, but at least of one. Return the first of these words that
# fits:
#
# - `"exploded"`: some loss is larger than `guessing + 1`, or is not a finite number (`nan`, `inf`; `math.isfinite(x)` tells);
# - `"saw the answers"`: the end is below the floor (data leakage);
# - `"learns nothing"`: the end is above `guessing - 0.5`;
# - `"healthy"`.
#
# `diagnose_curves([6.9, 4.0, 2.0, 1.5], 6.9, 0.3)` is `"healthy"`. `math` is there. Then try it on the runs above: each is a
# list of dicts, whose `"loss"` you need. (C is near two of these limits.)


# %% exercise="diagnose_curves" lecture=true
def diagnose_curves(losses, guessing, floor):
    """What is wrong with a run, in words."""
    # yours: check for each fault, in this order
    if any(not math.isfinite(loss) or loss > guessing + 1 for loss in losses):
        return "exploded"
    tail = losses[-max(len(losses) // 10, 1) :]
    end = sum(tail) / len(tail)
    if end < floor:
        return "saw the answers"
    if end > guessing - 0.5:
        return "learns nothing"
    return "healthy"
    # end


# %% [markdown]
# ## 1. Warm up, then decay
#
# Return the [learning rate](../notebooks/glossary.md#learning-rate) of one step. Steps count from 0 to `steps` - 1; the other
# arguments are [hyperparameters](../notebooks/glossary.md#hyperparameter).
#
# - In the first `warmup` steps it rises linearly. Step 0 takes the first part of the rise, not 0, and the last step of the
#   warm-up takes `peak`.
# - From step `warmup` on it decays linearly from `peak`. It would reach the minimum learning rate `lowest` at step `steps`, and
#   stays there.
#
# `warmup` can be 0, and as large as `steps`. With 10 steps, a peak of 1, a minimum of 0.2 and a warm-up of 2, step 0
# takes 0.5, steps 1 and 2 take 1, and step 6 is half way down: 0.6. A training with your answers calls
# your function at each step.

# %% exercise="warmup_linear"
# include course_lib/optim.py warmup_linear: the rise, then the decay

# %% [markdown]
# ## 2. A fair mean
#
# A [validation loss](../notebooks/glossary.md#validation) is the mean over all targets that are scored. They are read in
# batches, and the last batch may have fewer rows; and some targets are not scored, they are `IGNORE`.
#
# Write the method `mean_loss(self, loss, batch_size)`. `self.batches(batch_size)` gives pairs `(idx, targets)`, arrays `(B,
# T)`. `loss(idx, targets)` gives the mean over the scored targets of one batch (0 if there are none). `self.scored` is the
# number of scored targets of all batches. The result is one number, and it must not depend on the batch size.
#
# A batch with 3 scored targets and a loss of 2, and one with 1 and a loss of 6: the result is (3 × 2 + 1 × 6) / 4 = 3. `np` is
# NumPy. This number says which of two models is better, and whether a model is overfitting, so it must be fair.

# %% exercise="mean_loss"
# include course_lib/data/windows.py mean_loss: the mean over all scored targets

# %% [markdown]
# ## 3. A polar factor, by products alone (stretch)
#
# Muon replaces the gradient of a matrix by its polar factor: U V^T of its singular value decomposition U S V^T, where every
# singular value is 1. The lecture used polynomials with powers up to the fifth. Write the shortest one that works: divide the
# matrix `G` by its norm, the root of the sum of all squares, so that no singular value is above 1. Then, `steps` times, X
# becomes 1.5 X - 0.5 X X^T X. A singular value s becomes 1.5 s - 0.5 s^3, which is nearer to 1. A matrix of zeros stays as it
# is.
#
# Return a new array of the shape of G; it may be wide or tall. `polar_factor([[0, 2], [-2, 0]], 20)` is `[[0, 1], [-1, 0]]`.
# G is a NumPy array, and `np` is NumPy; `np.linalg.norm(G)` is the norm of G.


# %% exercise="polar_factor"
def polar_factor(G, steps):
    # yours: a norm of 1 first, and then step after step
    norm = np.linalg.norm(G)
    X = G / norm if norm else G
    for _ in range(steps):
        X = 1.5 * X - 0.5 * X @ X.T @ X
    return X
    # end


# %% [markdown]
# ## 4. A step in parts (stretch)
#
# A batch is too large for the memory, so it comes as `parts`: a list of pairs `(idx, targets)` of arrays `(B, T)`.
# `model.loss(idx, targets)` is a Tensor: the mean over the targets of that part that are scored, those that are not `IGNORE`.
# Take one step of the optimiser, with the gradient of the mean over *all* scored targets of the batch. The parts may hold
# different numbers of them.
#
# `optimiser.zero_grad()` sets the gradients to zero, `loss.backward()` adds to them, and `optimiser.step(rate)` takes the
# step; a Tensor can be multiplied by a number, and `loss.item()` is its value. Return the loss of the whole batch. A part
# with 3 scored targets and a loss of 2, and one with 1 and a loss of 6, give 3. `np` is NumPy. This is gradient accumulation:
# with it a small machine can train with large batches.


# %% exercise="gradient_accumulation"
def gradient_accumulation(model, optimiser, parts, rate):
    """One step with a batch that is read in parts; the loss of the whole batch."""
    # yours: add up the gradients of all parts, and take the step
    scored = [int((targets != IGNORE).sum()) for _, targets in parts]
    optimiser.zero_grad()
    total = 0.0
    for (idx, targets), count in zip(parts, scored, strict=True):
        loss = model.loss(idx, targets) * (count / sum(scored))
        loss.backward()
        total += loss.item()
    optimiser.step(rate)
    return total
    # end


# %% [markdown]
# ## 5. Challenge: the best 300 rates (stretch)
#
# A very small bigram model learns which character follows which, in 300 steps. Its batches are small, so its gradients are
# noisy. You choose the schedule: return a list with one learning rate, 0 or more, for each of `steps` steps.
# `learning_rate_schedule(2)` could be `[10, 5]`.
#
# The verdict trains with your 300 rates and measures the loss on held-out text. With all rates 0 it would be 4.06 nats per
# character; ours leaves you room. Your attempts are recorded. `math` is there. (This model is trained by SGD, not AdamW, so
# its rates are much larger than those of the lecture.)


# %% exercise="learning_rate_schedule"
def learning_rate_schedule(steps):
    """The learning rate of each step, as a list."""
    # yours: the rates that you would try first
    return [10.0] * steps
    # end
