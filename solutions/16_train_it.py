# %% [markdown]
# # 16 Train it: exercises
#
# The lecture: [16 Train it](../notebooks/16_train_it.ipynb).

# %% [markdown]
# ## How long at least?
#
# A model has `weights` weights in its matrices, it is to read `tokens` tokens, and the machine does `throughput` operations in
# a second. With about six operations for each weight and token, how many hours does the run take at least? For a million
# weights, six million tokens and 10 billion operations per second it is one hour.


# %% exercise="least_hours" lecture=true
def least_hours(weights, tokens, throughput):
    # yours: hours
    return 6 * weights * tokens / throughput / 3600
    # end


# %% [markdown]
# ## What came next?
#
# `ids` is a text, a list of tokens. Return the bigram probabilities after one `token`, as a dict: for each token that came
# right after it, how often, as a fraction. `what_followed([1, 5, 1, 5, 1, 9], 1)` is `{5: 0.667, 9: 0.333}`. At least one token
# comes after it.


# %% exercise="what_followed" lecture=true
def what_followed(ids, token):
    # yours: what came next, and how often
    found = [ids[i + 1] for i in range(len(ids) - 1) if ids[i] == token]
    return {after: found.count(after) / len(found) for after in found}
    # end


# %% [markdown]
# ## Tokens until good enough
#
# Which of two runs learns faster? Steps do not answer this, since a step of one may read more than a step of the other. Count
# the tokens that a run had read when it was good enough for the first time: when its validation loss was at most `gap` above
# the entropy floor, `floor`.
#
# `records` is the log of a run: a list of dicts in the order of steps. Each has `"step"`, the number of steps done, and
# `"loss"`; some have `"val_loss"`. Each step reads `tokens_per_step` tokens. The result is an integer, or None if the run was
# never good enough. With `records = [{"step": 10, "loss": 1.4, "val_loss": 1.5}]`, a floor of 1, a gap of 0.5 and 256 tokens
# per step it is 2560. Try it on the `records` of your own runs.


# %% exercise="tokens_to_reach" lecture=true
def tokens_to_reach(records, floor, gap, tokens_per_step):
    """The tokens that were read until val_loss was first at most `gap` above the floor; None if it never was."""
    # yours: find the first record that is good enough
    for record in records:
        if "val_loss" in record and record["val_loss"] <= floor + gap:
            return record["step"] * tokens_per_step
    return None
    # end


# %% [markdown]
# ## One bad draw spoils it
#
# Suppose that each of `draws` draws is out of place with the same probability p, whatever the others were. A fraction
# `well_formed` of the stories has no such draw. How large is p? `fault_per_draw(0.75, 1)` is 0.25,
# and `fault_per_draw(0.25, 2)` is 0.5.


# %% exercise="fault_per_draw" lecture=true
def fault_per_draw(well_formed, draws):
    # yours: the probability that one draw is out of place
    return 1 - well_formed ** (1 / draws)
    # end


# %% [markdown]
# ## 1. What the judge says of many
#
# The judge has read n samples. `well_formed` is a list with True or False for each, `wrong_facts` a list with the number of its
# wrong facts. Return four numbers as a tuple:
#
# - the fraction of well-formed samples, p;
# - the fraction of possible ones: well-formed, and without a wrong fact;
# - the mean of the wrong facts over the well-formed samples, `math.nan` if there are none;
# - the standard error of p, the root of p (1 - p) / n. Draw the samples again, and p will change by about so much.
#
# `sample_metrics([True, False], [0, 0])` is `(0.5, 0.5, 0.0, 0.354)`. `math` is there. The last number shows whether
# a model that seems better is better, or was only lucky.


# %% exercise="sample_metrics"
def sample_metrics(well_formed, wrong_facts):
    """Fraction well-formed, fraction possible, mean wrong facts, standard error of the first."""
    # yours: four numbers
    n = len(well_formed)
    facts = [wrong for well, wrong in zip(well_formed, wrong_facts, strict=True) if well]
    share, possible = len(facts) / n, facts.count(0) / n
    mean = sum(facts) / len(facts) if facts else math.nan
    return share, possible, mean, math.sqrt(share * (1 - share) / n)
    # end


# %% [markdown]
# ## 2. A log that survives
#
# A run writes a line to its log at each step, and a checkpoint only now and then. It is killed at step 37; the checkpoint is
# of step 30, so the run resumes there. But the log holds the steps 31 to 37 already, and its last line may be incomplete.
# Which records are kept?
#
# `text` is the whole log: one line of JSON for each record, in the order of steps, as `{"step": 10, "loss": 3.5}`. Return a
# list of records, as dicts: those up to the step `step`, that one included. Stop reading at the first line that is not
# complete JSON: nothing after it is trusted. `json.loads(line)` makes a dict from a line, or raises `ValueError`; `json` is
# there. The runs of the course read their logs in this way before they resume.


# %% exercise="resume_records"
def resume_records(text, step):
    """The records of a log that are kept when a run resumes after `step`."""
    # yours: read line by line, as far as it can be trusted
    found = []
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            break
        if record["step"] <= step:
            found.append(record)
    return found
    # end


# %% [markdown]
# ## 3. Find the fault: a loss curve that begins too low (stretch)
#
# The loss is noisy from batch to batch. To see its trend, one plots an exponential moving average: at each step it is `keep`
# times the old average plus `1 - keep` times the new loss. The code below does this. All loss curves seemed to begin near 0
# and to get *worse*. With equal losses the result should be constant:
# `exponential_moving_average([4, 4], 0.5)` should be `[4, 4]`.
#
# Run the cell and read the verdict. Each result should be a mean of the losses so far, where each older loss has `keep` times
# the weight of the next one, and nothing else has any weight. The fix is in chapter 03: `fair_average`, of Adam.


# %% exercise="exponential_moving_average"
def exponential_moving_average(losses, keep):
    """The exponential moving average of the losses at each step, as a list."""
    result, average = [], 0.0
    for step, loss in enumerate(losses, 1):
        average = keep * average + (1 - keep) * loss
        # yours: fix the line below
        result.append(average / (1 - keep**step))
        # instead
        # result.append(average)
        # end
    return result


# %% [markdown]
# ## 4. Challenge: without a network (stretch)
#
# How good can a model be that only counts? `fit(text, characters)` gets about 30,000 characters of stories, and a list of all
# characters that can occur, some perhaps not in `text`. It returns a function `probabilities`. This is called with the beginning
# of another story, `before`, which is empty at first, and returns a dict: a probability above 0 for each of `characters`, that
# it is the next character of the story. They sum to 1.
#
# For `fit("aab", ["a", "b"])`, `probabilities("a")` could be `{"a": 0.5, "b": 0.5}`, since each of them came once after an a.
# The verdict measures the mean surprise, −log p, at 600 characters. Uniform guessing among the 59 characters would be log 59,
# 4.08 nats per character, a [perplexity](../notebooks/glossary.md#perplexity) of 59. Ours is a bigram model: it uses one
# character. How low can you get? Your attempts are recorded. Before there were neural networks, language models were built
# like this.


# %% exercise="ngram_model"
def fit(text, characters):
    """A function that gives the probabilities of the next character, as a dict."""
    # yours: count, and return a function
    from itertools import pairwise

    counts = {character: dict.fromkeys(characters, 1) for character in characters}  # 1 more for each, so that none is 0
    for character, following in pairwise(text):
        counts[character][following] += 1

    def probabilities(before):
        found = counts[before[-1:] or characters[0]]
        total = sum(found.values())
        return {character: count / total for character, count in found.items()}

    return probabilities
    # end


# %% [markdown]
# ## 5. Challenge: three minutes (stretch)
#
# As near to the entropy floor as possible, in three minutes on this machine. Any change is allowed that learns from the
# training stories alone: the size of the model, its parts, the optimiser, the learning rates, the batch, the tokenizer, the
# order of the stories.
#
# The cell below writes `my_entry.py` beside your notebooks, a copy of our best entry: one function, `train`, of some twenty
# lines. Change it and run the cell again. A judge trains it for three minutes, in a process that has no access to the
# grammar, and measures its loss on 512 new stories. The score is linear between the bigram model (0 %) and the entropy floor
# (100 %), in nats per story, so that another vocabulary is no advantage. A record is trained once more with another seed, and
# judged by other stories, before it counts. What we tried is listed in the README: yours may be the next line.

# %%
course.speedrun()

# %% [markdown]
# ## Milestone: a model that is partly yours
#
# All your answers that passed replace ours now, and `micro` is trained with them. At the end it says how many of
# the operations are yours. After ten steps it says how long it will take: an answer that loops over single numbers in Python
# is slow, and the square above (■) stops a cell.

# %%
course.milestone()
