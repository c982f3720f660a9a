# %% [markdown]
# # 03 Neural networks: exercises
#
# The lecture: [03 Neural networks](../notebooks/03_neural_networks.ipynb).

# %% [markdown]
# ## Average surprise
#
# A model read a text letter by letter. `probabilities` is a list: what probability it had given to each letter that really
# came. Return the average surprise, in nats per letter. For `[0.5, 0.125]` it is (0.693 + 2.079) / 2 = 1.386. `math` is there.


# %% exercise="average_surprise" lecture=true
def average_surprise(probabilities):
    # yours: the mean of -log p
    return sum(-math.log(p) for p in probabilities) / len(probabilities)
    # end


# %% [markdown]
# ## Two layers in one
#
# Layers have biases too. The first layer is W1 x + b1, with `W1` (hidden, inputs) and `b1` (hidden,). The second acts on its
# result, with `W2` (outputs, hidden) and `b2` (outputs,). Return the `W` and the `b` of the one layer W x + b that does the
# same. All are NumPy arrays.


# %% exercise="one_layer" lecture=true
def one_layer(W1, b1, W2, b2):
    # yours: W and b
    return W2 @ W1, W2 @ b1 + b2
    # end


# %% [markdown]
# ## A log that survives
#
# Write logsumexp for one row: `scores` is a NumPy array in float32, and the result is the log of the sum of `exp` of its
# numbers. Scores may be far above 1000 or far below −1000. `logsumexp(np.array([0, 0], np.float32))` is log 2 = 0.693.


# %% exercise="safe_logsumexp" lecture=true
def logsumexp(scores):
    # yours: without overflow
    largest = scores.max()
    return largest + np.log(np.exp(scores - largest).sum())
    # end


# %% [markdown]
# ## Probability minus truth
#
# `probabilities` is a NumPy array, the result of softmax, and `true` the number of the true letter. Return the gradient of the
# loss with respect to the scores, a new array: for `[0.75, 0.25]` and 1 it is `[0.75, -0.75]`.


# %% exercise="score_gradient" lecture=true
def score_gradient(probabilities, true):
    # yours: a new array
    gradient = probabilities.copy()
    gradient[true] -= 1
    return gradient
    # end


# %% [markdown]
# ## Steps with momentum
#
# Each move is `keep` times the move before it, and a plain SGD step of the learning rate `rate` on top; before the first one
# the move is 0. Take one step for each number in the list `gradients`, from `point` on, and return where they end. With point
# 1, gradients `[2, 2]`, rate 0.1 and keep 0.6 the moves are −0.2 and −0.32, and the result is 0.48.


# %% exercise="momentum_steps" lecture=true
def momentum_steps(point, gradients, rate, keep):
    move = 0.0
    for gradient in gradients:
        # yours: the new move, and the new point
        move = keep * move - rate * gradient
        point = point + move
        # end
    return point


# %% [markdown]
# ## 1. A layer
#
# Write the [layer](../notebooks/glossary.md#layer) that every model of the course is made of: y = x @ weight.T + bias. It is a
# [module](../notebooks/glossary.md#module), so its parameters are attributes, and `forward` is its forward pass:
#
# - `__init__(self, inputs, outputs, bias=True, std=0.02, rng=None, device="cpu", dtype="float32")`
# - `self.weight` of shape `(outputs, inputs)`, drawn from `rng`, from a normal distribution with mean 0 and standard
#   deviation `std`. `rng` is a `np.random.Generator`; if it is None, make one: `np.random.default_rng()`.
# - `self.bias` of shape `(outputs,)`, all 0; or None if `bias` is False.
# - `forward(self, x)`: x is a Tensor `(*n, inputs)`, the result a Tensor `(*n, outputs)`.
#
# `parameter(numbers, device, dtype)` makes a parameter of a NumPy array: a Tensor with `requires_grad`. `functional.linear(x,
# weight, bias)` is the product on the tape; `Module`, `Tensor` and `np` are there too. `Linear(2, 3)(Tensor([[1.0, 2.0]]))` has
# the shape `(1, 3)`. The transformer of chapter 14 is built of your layers.

# %% exercise="linear_layer"
# include course_lib/nn.py Linear: __init__ with the two parameters, and forward

# %% [markdown]
# ## 2. The loss that never overflows
#
# `logits` is an array `(n, V)`: a row of V scores for each of n examples. `targets` is `(n,)`: the number of the true one in
# each row. A row whose target is `ignore_index` does not count. Give two results:
#
# - the loss: the mean of −log p over the rows that count, in nats;
# - `logsumexp`, `(n,)`: the log of the sum of exp of each row (of all rows), which the backward pass will need.
#
# Both are NumPy numbers or arrays of the dtype of `logits`, which must stay as it is. For `logits = [[0., 0.]]` and `targets =
# [0]` the loss is log 2 = 0.693, and logsumexp is `[0.693]`. Scores may be far above 1000 or far below −1000. `np` is NumPy.
# (In our solution `np.flatnonzero(condition)` gives the indices at which a condition holds, and `np.asarray(x, dtype)` makes
# an array of that dtype.) Your function will be the loss of every training run.


# %% exercise="stable_cross_entropy"
def cross_entropy_forward(logits, targets, ignore_index=-1):
    """logits (n, V), targets (n) -> the mean loss of the rows that count, and logsumexp (n)."""
    # yours: logsumexp without overflow, then the mean of logsumexp - true score
    largest = logits.max(axis=-1, keepdims=True)  # (n, 1)
    logsumexp = (largest + np.log(np.exp(logits - largest).sum(axis=-1, keepdims=True)))[:, 0]  # (n)
    rows = np.flatnonzero(targets != ignore_index)  # (kept)
    losses = logsumexp[rows] - logits[rows, targets[rows]]  # (kept)
    return np.asarray(losses.mean(), logits.dtype), logsumexp
    # end


# %% [markdown]
# ## 3. AdamW, for all parameters
#
# The lecture did AdamW by hand for one parameter. Write one step for all of them. `parameters`, `gradients`, `first_moments`
# (the averages), `second_moments` (the averages of squares) and `weight_decay` are lists that belong together: one entry for
# each parameter array. The first four hold NumPy arrays, the last numbers.
#
# - `settings` holds three numbers: the learning rate, 1 − beta1^t, and 1 − beta2^t, where t counts the steps.
# - If `norm` is not None, `norm[0]` is the length of all gradients together. Then the gradients count as multiplied by
#   min(1, max_norm / (norm[0] + 1e-6)). That is *clipping*: a gradient that is too long keeps only its direction.
# - Nothing is returned. **Parameters and moments are changed in place**; gradients stay as they are.
#
# First draw the parameter towards 0, `p *= 1 - learning_rate * decay`, then take the step of the lecture. `eps` is added to the
# root. For one parameter 1.0, gradient 4.0, moments 0, learning rate 0.1, and no decay, the parameter becomes 0.9. Every
# training of the course takes its steps here. (`np` is NumPy, and `np.minimum(a, b)` is the smaller of two.)

# %% exercise="adamw_update"
# include course_lib/devices/reference/optimiser.py adamw_step: one step for each parameter array, in place

# %% [markdown]
# ## 4. The backward pass of softmax (stretch)
#
# `y` holds the results of a [softmax](../notebooks/glossary.md#softmax) over the last axis, `(*n, S)`: each row adds up to 1.
# `dy` is the upstream gradient, of the same shape. Give the gradient of the scores. Remember that one score changes all
# probabilities of its row.
#
# For y = `[[0.5, 0.5]]` and dy = `[[1, 0]]` it is `[[0.25, -0.25]]`. Both are NumPy arrays, and `np` is NumPy. The attention
# of chapter 14 uses this rule in its backward pass, and so does the kernel of chapter 10b.

# %% exercise="softmax_backward"
# include course_lib/devices/reference/attention.py softmax_backward: the gradient of the scores

# %% [markdown]
# ## 5. Initialisation by measuring (stretch)
#
# The lecture derived the size of the initial weights: 1 / sqrt(inputs). One can measure it instead (Mishkin and Matas 2015).
# `x` is a batch `(B, K)`, `weights` a list of matrices, each `(inputs, outputs)`. The signal goes through all of them, with the
# [activation](../notebooks/glossary.md#activation) tanh after each. Give one factor for each matrix, so that the signal just
# before each tanh has the standard deviation 1, over all its numbers together.
#
# For x = `[[1], [-1]]` and the one matrix `[[4]]` it is 4 and −4 before the tanh, so the factor is `[0.25]`. `np` is NumPy.
# The input of a layer depends on the factors before it. With factors that are too large tanh would be saturated, and hardly
# any gradient would pass.


# %% exercise="unit_variance_scales"
def unit_variance_scales(x, weights):
    """One factor for each matrix, as a list."""
    # yours: measure, scale, and go on
    factors = []
    for weight in weights:
        y = x @ weight  # (B, inputs) @ (inputs, outputs) -> (B, outputs)
        factors.append(1 / y.std())
        x = np.tanh(factors[-1] * y)  # (B, outputs)
    return factors
    # end


# %% [markdown]
# ## 6. Find the fault: the loss that stays high (stretch)
#
# A model of one layer is trained with this loss. There is no error; the loss falls a little, and then stays high, for any
# number of [epochs](../notebooks/glossary.md#epoch). So it is not [overfitting](../notebooks/glossary.md#overfitting): even the
# loss on the training examples is bad. `x` is a Tensor `(B, C)`, `weight` a Tensor `(V, C)`, `targets` a NumPy array `(B,)` of
# the true numbers. The result should be the mean of −log p. Run the cell and look. It is one of the most common faults of all.


# %% exercise="training_loss"
def training_loss(x, weight, targets):
    """The mean surprise at the true ones: a Tensor with one number, on the tape."""
    scores = functional.linear(x, weight)  # (B, C), (V, C) -> (B, V)
    # yours: fix what is wrong below
    return functional.cross_entropy(scores, targets)
    # instead
    # probabilities = functional.softmax(scores)  # (B, V)
    # return functional.cross_entropy(probabilities, targets)
    # end


# %% [markdown]
# ## 7. Open challenge: an optimiser of your own (stretch)
#
# Write an optimiser of your own. `grad(point)` gives the gradient at any point, an array of 2 numbers. Begin at
# `point`, an array of 2 numbers, and give the point where you end. The loss there must be at most 0.0001; its minimum is 0.
# The loss itself you cannot see.
#
# There are four valleys: a round one, the narrow one of the lecture, one that lies askew, and one with walls that become
# straight further up. The same function must serve all. `minimise(grad, np.array([3.0, -2.0]))` in the round one may end at
# `[0.001, -0.002]`. A call may compute at most 2,000 gradients. The verdict counts the gradients of all four valleys. A
# gradient of a large model costs seconds, so fewer is better. Your tries are remembered.


# %% exercise="minimise"
def minimise(grad, point):
    """The point where the descent ends, an array of 2 numbers."""
    # yours: the steps that you would take
    velocity = np.zeros(2)
    for _ in range(300):
        gradient = grad(point)
        if np.abs(gradient).max() < 0.005 and np.abs(velocity).max() < 0.005:
            break
        velocity = 0.8 * velocity - 0.02 * gradient
        point = point + velocity
    return point
    # end


# %% [markdown]
# ## Milestone: a network that is partly yours
#
# All your answers that passed now replace their parts of the library, and a small model of stories is trained with them. Later
# chapters explain its parts. At the end the training says how many of the operations are yours. After ten steps it says how
# long it will take: less than a minute with our code. An answer that loops over single numbers in Python can make it many
# minutes; the square above (■) stops a cell.

# %%
course.milestone()
