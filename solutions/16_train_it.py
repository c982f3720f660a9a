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
# ## Milestone: a model that is partly yours
#
# All your answers that passed are put in their places now, and `micro` is trained with them. The first line says how many of the
# operations are yours.

# %%
course.milestone()
