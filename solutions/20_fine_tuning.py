# %% [markdown]
# # 20 Fine-tuning: exercises
#
# The lecture: [20 Fine-tuning](../notebooks/20_fine_tuning.ipynb).

# %% [markdown]
# ## What a request leaves open
#
# `story` is the number of nats of a whole story, -log P(story). `facts` lists the probabilities of what a request names, each
# given those before it: of the hero's kind, say, then of the name. Return the nats of the answer, -log P(story | request), if
# the story has these facts. `answer_nats(5, [0.5])` is 4.307. `math` is there.


# %% exercise="answer_nats" lecture=true
def answer_nats(story, facts):
    # yours: the nats that are left
    return story + sum(math.log(p) for p in facts)
    # end


# %% [markdown]
# ## The prompt mask
#
# One example for [fine-tuning](../notebooks/glossary.md#fine-tuning): `ids` is a list, the tokens of a prompt and of its
# answer, up to the end token: at most `context` + 1 of them. `start` is the index of the answer's first token, at least 1.
# Return the targets of this row, an array of `context` integers. The target in column t is the token that comes next, `ids[t +
# 1]`, if it belongs to the answer. All other targets are `IGNORE`. With `ids = [7, 5, 8, 0]`, `start = 2` and a context of 5
# they are `[IGNORE, 8, 0, IGNORE, IGNORE]`. `np` is NumPy.


# %% exercise="answer_targets" lecture=true
def answer_targets(ids, start, context):
    targets = np.full(context, IGNORE)
    # yours: put the tokens of the answer where they are predicted
    targets[start - 1 : len(ids) - 1] = ids[start:]
    # end
    return targets


# %% [markdown]
# ## Find the fault: a leak in the loss
#
# `answer_loss` should give the mean loss over all tokens of the answers in a batch, their end tokens included. `tokens` is
# `(B, T + 1)`: each row is the end token, a prompt, the special token `mark`, the answer, the end token, and more end tokens as
# padding. `losses` is `(B, T)`: `losses[b, t]` is the loss of the token that comes after `tokens[b, t]`.
#
# There is no error message, but the number does not say how well the model answers: it counts the prompts. For `tokens`
# `[[0, 5, 9, 6, 0, 0]]`, the special token 9 and the end token 0, it should be the mean of `losses[0, 2]` and `losses[0, 3]`. Run
# the cell and read the verdict. (`np.flatnonzero(condition)` gives the indices at which a condition holds.)


# %% exercise="answer_loss" lecture=true
def answer_loss(losses, tokens, mark, end):
    """The mean loss over the tokens of all answers."""
    scored = []
    for row, ids in zip(losses, tokens, strict=True):
        # yours: fix the line below
        start = np.flatnonzero(ids == mark)[0]
        # instead
        # start = np.flatnonzero(ids == end)[0]
        # end
        stop = start + 1 + np.flatnonzero(ids[start + 1 :] == end)[0]
        scored.append(row[start:stop])
    return np.concatenate(scored).mean()


# %% [markdown]
# ## How many are trained?
#
# A GPT has `layers` layers, and in each of them four matrices: in attention from C to 3 C channels and from C to C, in the MLP
# from C to 4 C and from 4 C to C; C is `channels`. Return how many parameters LoRA trains with this `rank`.
# `lora_parameters(1, 1, 1)` is 16.


# %% exercise="lora_parameters" lecture=true
def lora_parameters(layers, channels, rank):
    # yours: A and B of every matrix
    return layers * 16 * rank * channels
    # end


# %% [markdown]
# ## LoRA: merge
#
# Write the method `merged(self)` of a layer with LoRA: return the weight with its change added, a new NumPy array `(outputs,
# inputs)`. The layer has the Tensors `self.weight` `(outputs, inputs)`, `self.b` `(outputs, rank)` and `self.a` `(rank, inputs)`,
# and the number `self.factor`, which is scale / rank; `tensor.numpy()` gives the numbers of a Tensor. With weight `[[1]]`, b
# `[[2]]`, a `[[3]]` and a factor of 0.5 it is `[[4]]`. `course train --lora` saves what yours returns, if you use your answers.

# %% exercise="lora_merge" lecture=true
# include course_lib/tuning/lora.py merged: the weight and its change

# %% [markdown]
# ## 1. A chat template
#
# `turns` is a conversation: a list of pairs `(who, text)`, where `who` is `"user"` and `"assistant"` in turn, the user first.
# Return two lists of the same length:
#
# - `ids`: the token `END`, then every turn. One of the user is `USER` and the text; one of the assistant is `ASSISTANT`, the
#   text, and `END`. If the last turn is the user's, one more `ASSISTANT` follows: now the model should go on.
# - `learned`: True for each token that the model should learn to write, that is the texts of the assistant with the `END` behind
#   them; False for all others.
#
# `encode(text)` gives the ids of a text as a list, and `END`, `USER`, `ASSISTANT` are ids that no text encodes to. For
# `[("user", "A?"), ("assistant", "B")]` `ids` is `[END, USER, 65, 63, ASSISTANT, 66, END]`, and the last two are learned.


# %% exercise="conversation"
def conversation(turns):
    ids, learned = [END], [False]
    # yours: add each turn to both lists
    for who, text in turns:
        body = encode(text)
        if who == "user":
            ids += [USER, *body]
            learned += [False] * (1 + len(body))
        else:
            ids += [ASSISTANT, *body, END]
            learned += [False] + [True] * (len(body) + 1)
    if turns[-1][0] == "user":
        ids.append(ASSISTANT)
        learned.append(False)
    # end
    return ids, learned


# %% [markdown]
# ## 2. LoRA: forward
#
# Write the method `forward(self, x)` of a layer with LoRA. `x` is a Tensor `(*n, inputs)`, and so is the result, `(*n,
# outputs)`:
#
# $$y = x W^T + \text{bias} + \text{factor} \cdot (x A^T) B^T$$
#
# W is `self.weight` `(outputs, inputs)` and the bias `self.own_bias`, a Tensor or None: both are frozen. `self.a`
# `(rank, inputs)` and `self.b` `(outputs, rank)` are trained, so gradients must reach them. `self.factor` is a number.
# `functional.linear(x, weight, bias)` is x W^T + bias. With one number each, x = 2, W = 3, bias = 1, A = 7, B = 5 and a factor of
# 0.5, y is 2 · 3 + 1 + 0.5 · 2 · 7 · 5 = 42.

# %% exercise="lora_forward"
# include course_lib/tuning/lora.py forward: the frozen layer, and its change

# %% [markdown]
# ## 3. The log-probabilities of a batch
#
# `logits` is `(B, T, V)`, what a model says of each position of B rows. `targets` is `(B, T)`: the token that came next, or
# `IGNORE` (-1) where it is not scored, in the prompt and in the padding. Return an array `(B,)`: for each row the log-probability
# of its answer, the sum of the log-probabilities of its scored targets; 0 if there are none.
#
# With one row, `logits = [[[0, log 3]]]` and `targets = [[1]]` it is `[log 0.75]`. The logits may be very large or very small.
# `np` is NumPy; `np.take_along_axis(logits, picks[..., None], -1)` takes from each position the logit of the token in `picks`
# `(B, T)`, and gives `(B, T, 1)`. DPO, the next exercise, begins with these numbers.


# %% exercise="answer_log_probabilities"
def answer_log_probabilities(logits, targets):
    scored = targets != IGNORE
    # yours: the sum over the scored targets of each row
    largest = logits.max(-1, keepdims=True)
    total = largest + np.log(np.exp(logits - largest).sum(-1, keepdims=True))  # (B, T, 1): logsumexp
    picked = np.take_along_axis(logits, np.where(scored, targets, 0)[..., None], -1)  # (B, T, 1)
    return np.where(scored, (picked - total)[..., 0], 0.0).sum(-1)
    # end


# %% [markdown]
# ## 4. The loss of DPO
#
# N pairs of answers, four arrays `(N,)` of log-probabilities: of the preferred answers, `chosen`, and of the others,
# `rejected`, by the model that is trained; and of the same answers by the model at the start, `chosen_before` and
# `rejected_before`. Return the loss, one number: the mean over the pairs of
#
# $$-\log \operatorname{sigmoid}\bigl(\beta\,[(\text{chosen} - \text{chosen before})
# - (\text{rejected} - \text{rejected before})]\bigr)$$
#
# At the start, before any step, it is log 2 = 0.693 for any `beta`. The numbers may be far apart, and the loss stays finite.
# `np` is NumPy; `np.logaddexp(a, b)` is log(exp(a) + exp(b)), without overflow.


# %% exercise="dpo_loss"
def dpo_loss(chosen, rejected, chosen_before, rejected_before, beta):
    # yours: the margin of each pair, then the mean loss
    margin = beta * ((chosen - chosen_before) - (rejected - rejected_before))
    return np.logaddexp(0.0, -margin).mean()
    # end
