# %% [markdown]
# # 21 Reward: exercises
#
# The lecture: [21 Reward](../notebooks/21_reward.ipynb).

# %% [markdown]
# ## Advantages in a group
#
# `rewards` is an array: what the texts of one group earned. Return the [advantage](../notebooks/glossary.md#advantage) of each
# in [GRPO](../notebooks/glossary.md#GRPO): its reward minus the group's mean, which is
# the [reward baseline](../notebooks/glossary.md#reward-baseline), divided by the group's standard deviation (that of
# `np.std`). A group in which all earned the same teaches nothing: all zeros. `[0, 1]` gives `[-1, 1]`. `np` is NumPy.


# %% exercise="group_advantages" lecture=true
def group_advantages(rewards):
    # yours: how much better than its group each text was
    apart = rewards - rewards.mean()
    spread = rewards.std()
    return apart / spread if spread > 1e-9 else np.zeros(len(rewards))
    # end


# %% [markdown]
# ## An estimate of KL
#
# Tokens were drawn from the [policy](../notebooks/glossary.md#policy) that is trained. `log_p` (n,) holds what it said of
# each, `log_start` (n,) what the model at the start said of the same tokens. With d = log_start - log_p return exp(d) - d - 1
# of each: estimates (n,) of the [KL divergence](../notebooks/glossary.md#KL-divergence), none of which is negative. For `log_p
# = [log 0.25]` and `log_start = [log 0.5]` it is `[0.307]`. `np` is NumPy.


# %% exercise="kl_estimates" lecture=true
def kl_estimates(log_p, log_start):
    # yours: the third estimator
    d = log_start - log_p
    return np.exp(d) - d - 1
    # end


# %% [markdown]
# ## The entropy of a policy
#
# `log_chances` is `(N, T)`: for each of all N texts that there are, the log-probability of each of its T tokens. Return the
# entropy of the texts, in nats: the mean of -log P(text), weighted by P(text). For `[[log 0.5], [log 0.5]]` it is `log 2`.
# `np` is NumPy.


# %% exercise="policy_entropy" lecture=true
def policy_entropy(log_chances):
    # yours: the entropy of whole texts
    log_p = log_chances.sum(-1)
    return -(np.exp(log_p) * log_p).sum()
    # end


# %% [markdown]
# ## Find the reward that is hacked
#
# `runs` is a dictionary: for each reward by name two lists of the same length, `(rewards, possible)`. At each evaluation
# of the run they hold the mean reward, and what was really wanted: the fraction of stories that are possible. Return the names
# of the rewards that were hacked, sorted ([reward hacking](../notebooks/glossary.md#reward-hacking)): the reward rose from the
# first evaluation to the last, and what was wanted fell. For
# `{"word": ([1, 9], [0.6, 0.1]), "stories": ([0.6, 0.9], [0.6, 0.9])}` it is `["word"]`.


# %% exercise="hacked_rewards" lecture=true
def hacked_rewards(runs):
    # yours: the names of the rewards that were hacked
    return sorted(
        name for name, (rewards, possible) in runs.items() if rewards[-1] > rewards[0] and possible[-1] < possible[0]
    )
    # end


# %% [markdown]
# ## 1. The gradient of REINFORCE
#
# A policy is a table: `probabilities` `(R, V)` gives for each of R rows how likely each of V tokens is, the softmax of a row of
# logits. It wrote B texts of T tokens, a
# [rollout](../notebooks/glossary.md#rollout): `rows` `(B, T)` says from which row each token was drawn, `tokens` `(B, T)` which
# token it
# was. `advantages` is `(B,)`. Return the estimate of [REINFORCE](../notebooks/glossary.md#REINFORCE) for the gradient of the
# expected reward with respect to the logits, `(R, V)`: the mean over the texts of the advantage times d log P(text) / d logits.
#
# For one token drawn from a row with probabilities p, d log p[token] / d logits is 1 at that token, minus p. With one row
# `[[0.75, 0.25]]`, one text of one token, `rows = [[0]]`, `tokens = [[1]]` and `advantages = [2]` it is `[[-1.5, 1.5]]`. `np` is
# NumPy. The judge adds up all texts of the tiny grammar, so it knows the exact gradient too.


# %% exercise="reinforce_gradient"
def reinforce_gradient(probabilities, rows, tokens, advantages):
    gradient = np.zeros_like(probabilities)
    # yours: add what each token of each text contributes
    for text, advantage in enumerate(advantages):
        for row, token in zip(rows[text], tokens[text], strict=True):
            gradient[row] -= advantage * probabilities[row]
            gradient[row, token] += advantage
    # end
    return gradient / len(advantages)


# %% [markdown]
# ## 2. The clipped objective
#
# Each of n tokens has `log_p`, its log-probability now, `before`, its log-probability when it was written, and its `advantages`;
# all are arrays `(n,)`. Return the loss of PPO, one number: minus the mean of
#
# $$\min\bigl(\rho A, \operatorname{clamp}(\rho, 1 - \text{clip}, 1 + \text{clip})\, A\bigr), \quad \rho = P_{now} / P_{before}$$
#
# A is the token's [advantage](../notebooks/glossary.md#advantage), and clamp cuts off what is outside. For a ratio of 2, an
# advantage of 1 and a clip of 0.2 it is -1.2; for an advantage of -1 it is 2. `np` is NumPy; `np.clip(x, low, high)` clamps.


# %% exercise="clipped_loss"
def clipped_loss(log_p, before, advantages, clip):
    # yours: the ratio, the clamped ratio, the smaller gain
    ratio = np.exp(log_p - before)
    within = np.clip(ratio, 1 - clip, 1 + clip)
    return -np.minimum(ratio * advantages, within * advantages).mean()
    # end


# %% [markdown]
# ## 3. Credit for each token
#
# A batch of B texts: `lengths` says how many tokens each has, `faults` the index of the token at which it first goes wrong, or
# None if it is right to its end. Return the credit of each token, `(B, width)`:
#
# - the token at the fault gets -1;
# - it, and all tokens before it, get the same small number more: the number of faults in the batch, divided by the number of
#   tokens up to the faults (included; of a right text, all its tokens). So the sum over the batch is 0;
# - what comes after the fault was written on a wrong beginning: it gets `nan`, and so does what is behind the end of a text.
#
# `faults = [None, 1]`, `lengths = [2, 3]` and `width = 3` give `[[0.25, 0.25, nan], [0.25, -0.75, nan]]`: one fault, four tokens.
# `spread(credit, lengths)` gives a copy of `credit` `(B, width)` with `nan` from each row's length on. `np` is NumPy. If you use
# your answers, `course train --reward possible` learns by yours.

# %% exercise="credit_by_fault"
# include course_lib/tuning/reward.py fault_credit: the credit of each token
