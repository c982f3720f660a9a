# %% [markdown]
# # 16 Train it: exercises
#
# The lecture: [16 Train it](../notebooks/16_train_it.ipynb).

# %% [markdown]
# ## 1. What the judge says of many
#
# The judge has read n samples. `well_formed` is a list with True or False for each, `wrong_facts` a list with the number of its
# wrong facts. Give four numbers as a tuple:
#
# - the share of well-formed samples, p;
# - the share of possible ones: well-formed, and without a wrong fact;
# - the mean of the wrong facts over the well-formed samples, `math.nan` if there are none;
# - the standard error of p, the root of p (1 - p) / n. Draw the samples again, and p will change by about so much.
#
# `judged_samples([True, False], [0, 0])` is `(0.5, 0.5, 0.0, 0.354)`. `math` is there. With the last number you can tell whether
# a model that seems better is better, or was only lucky.

# %% exercise="judged_samples"
def judged_samples(well_formed, wrong_facts):
    """Share well-formed, share possible, mean wrong facts, standard error of the first."""
    # yours: four numbers
    n = len(well_formed)
    facts = [wrong for well, wrong in zip(well_formed, wrong_facts, strict=True) if well]
    share, possible = len(facts) / n, facts.count(0) / n
    mean = sum(facts) / len(facts) if facts else math.nan
    return share, possible, mean, math.sqrt(share * (1 - share) / n)
    # end


# %% [markdown]
# ## 2. Tokens until good enough
#
# Which of two runs learns faster? Steps do not tell, since a step of one may read more than a step of the other. Count the
# tokens that a run had read when it was good enough for the first time: when its validation loss was at most `gap` above the
# `floor`.
#
# `records` is the log of a run: a list of dicts in the order of steps. Each has `"step"`, the number of steps done, and `"loss"`;
# some have `"val_loss"`. Each step reads `tokens_per_step` tokens. The result is a whole number, or None if the run was never
# good enough. With `records = [{"step": 10, "loss": 1.4, "val_loss": 1.5}]`, a floor of 1, a gap of 0.5 and 256 tokens per step
# it is 2560. Try it on the `records` of your own runs.


# %% exercise="tokens_to_reach"
def tokens_to_reach(records, floor, gap, tokens_per_step):
    """The tokens that were read until val_loss was first at most `gap` above the floor; None if it never was."""
    # yours: find the first record that is good enough
    for record in records:
        if "val_loss" in record and record["val_loss"] <= floor + gap:
            return record["step"] * tokens_per_step
    return None
    # end


# %% [markdown]
# ## 3. A log that survives
#
# A run writes a line to its log at each step, and a checkpoint only now and then. It is killed at step 37; the checkpoint is of
# step 30, and so it goes on there. But the log holds the steps 31 to 37 already, and its last line may be half. What of it stays?
#
# `text` is the whole log: one line of JSON for each record, in the order of steps, as `{"step": 10, "loss": 3.5}`. Return a list
# of records, as dicts: those up to the step `step`, that one included. At the first line that is no whole JSON, the reading
# ends: nothing behind it is trusted. `json.loads(line)` makes a dict of a line, or raises `ValueError`; `json` is there. The runs
# of the course read their logs in this way before they go on.


# %% exercise="kept_records"
def kept_records(text, step):
    """The records of a log that stay when a run goes on behind `step`."""
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
# ## 4. Find the fault: a curve that begins too low (stretch)
#
# The loss jumps from batch to batch. To see where it goes, one draws a running mean: at each step it keeps the share `keep` of
# itself, and takes the rest from the new loss. Somebody drew the losses of two runs like this. Both seemed to begin near 0 and
# to get *worse*. With equal losses the curve should be flat: `smoothed([4, 4], 0.5)` should be `[4, 4]`.
#
# Run the cell and look. Each result should be a mean of the losses so far, where each older loss counts `keep` times as much as
# the next one, and nothing else counts. You met the cure in chapter 03.


# %% exercise="smooth_curve"
def smoothed(losses, keep):
    """The running mean of the losses at each step, as a list."""
    result, average = [], 0.0
    for step, loss in enumerate(losses, 1):
        average = keep * average + (1 - keep) * loss
        # yours: mend the line below
        result.append(average / (1 - keep**step))
        # instead
        # result.append(average)
        # end
    return result


# %% [markdown]
# ## 5. Challenge: without a network (stretch)
#
# How far does one come by counting? `learn(text, letters)` gets about 30,000 letters of stories, and a list of all letters that
# there are. It returns a function `odds`. This is called with the beginning of another story, `before`, and gives a dict: a
# probability above 0 for each of `letters`, the next letter of the story. They sum to 1.
#
# For `learn("aab", ["a", "b"])`, `odds("a")` could be `{"a": 0.5, "b": 0.5}`, since each of them came once behind an a. The
# verdict measures the mean surprise, −log p, at 600 letters. Guessing would be about 4 nats per letter, a perplexity of e to
# the 4, 55. Ours is a bigram model: it looks at one letter. How low can you get? Your tries are remembered. Before there were
# networks, language models were made like this.


# %% exercise="without_network"
def learn(text, letters):
    """A function that gives the odds of the next letter, as a dict."""
    # yours: count, and return a function
    from itertools import pairwise

    counts = {letter: dict.fromkeys(letters, 1) for letter in letters}  # 1 more for each, so that none is 0
    for letter, following in pairwise(text):
        counts[letter][following] += 1

    def odds(before):
        found = counts[before[-1:] or letters[0]]
        total = sum(found.values())
        return {letter: count / total for letter, count in found.items()}

    return odds
    # end


# %% [markdown]
# ## 6. Challenge: three minutes (stretch)
#
# As near to the floor as possible, in three minutes on this machine. Any change is allowed that learns from the training stories
# alone: the size of the model, its parts, the optimiser, the rates, the batch, the tokenizer, the order of the stories.
#
# The cell below writes `my_entry.py` beside your notebooks, a copy of our best entry: one function, `train`, of some twenty
# lines. Change it and run the cell again. A judge trains it for three minutes, in a process that cannot see the grammar, and asks
# it about 512 stories that it has never seen. The score is the share of the way from the bigram model (0 %) to the floor (100 %),
# in nats per story, so that another vocabulary is no advantage. A record is trained once more with another seed, and judged by
# other stories, before it counts. What we tried stands in a table in the README: yours may be its next line.

# %%
course.speedrun()

# %% [markdown]
# ## Milestone: a model that is partly yours
#
# All your answers that passed are put in their places now, and `micro` is trained with them. At the end it says how many of
# the operations are yours. After ten steps it says how long it will take: an answer that loops over single numbers in Python
# takes its time, and the square above (■) stops a cell.

# %%
course.milestone()
