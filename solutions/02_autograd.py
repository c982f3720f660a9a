# %% [markdown]
# # 02 Autograd: exercises
#
# The lecture: [02 Autograd](../notebooks/02_autograd.ipynb).

# %% [markdown]
# ## Two slopes by the chain rule
#
# The prediction is `w * x + b`, the error is the prediction minus `target`, and the loss is the square of the error. Multiply
# the local gradients along the two paths, and return the slope of the loss at `w` and the slope at `b`. For the numbers of the
# picture, `line_slopes(3, -1, 2, 7)`, they are −8 and −4.


# %% exercise="line_slopes" lecture=true
def line_slopes(w, b, x, target):
    error = w * x + b - target
    # yours: the slope at w, and the slope at b
    return 2 * error * x, 2 * error
    # end


# %% [markdown]
# ## Find the fault: used twice
#
# This is the backward pass over the tape of the lecture. `tape` is a list of lines `(result, inputs)`, where `inputs` are
# pairs of a name and a local gradient; `last` is the name of the loss. The function should give a dict with the gradient of
# each name. Run the cell first and look. One line is wrong.


# %% exercise="backward_pass" lecture=true
def backward_pass(tape, last):
    """The gradient of each name, as a dict."""
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            # yours: fix the line below
            gradients[name] = gradients.get(name, 0.0) + gradients[result] * slope
            # instead
            # gradients[name] = gradients[result] * slope
            # end
    return gradients


# %% [markdown]
# ## How many paths?
#
# A graph is given as a dict: `inputs[name]` lists the inputs of the operation that made the number `name`. A number that was
# given, not computed, has no entry. Count the paths from `start` down to `end`. With
# `inputs = {"L": ["a", "c"], "a": ["x", "x"]}`, `count_paths(inputs, "L", "x")` is 2.


# %% exercise="count_paths" lecture=true
def count_paths(inputs, start, end):
    if start == end:
        return 1
    # yours: the paths through each input of `start`
    return sum(count_paths(inputs, source, end) for source in inputs.get(start, []))
    # end


# %% [markdown]
# ## A row and a column
#
# In y = x + row + column, `x` has the shape (n, C), `row` (C,) and `column` (n, 1). `dy` is the upstream gradient, a NumPy
# array (n, C). Return two gradients: that of `row`, and that of `column`, each in the shape of its own tensor.


# %% exercise="broadcast_gradients" lecture=true
def broadcast_gradients(dy):
    # yours: two sums
    return dy.sum(axis=0), dy.sum(axis=1, keepdims=True)
    # end


# %% [markdown]
# ## Downhill, step by step
#
# `gradient(w)` gives the slope of a loss at any `w`, one number. Take `steps` steps of gradient descent, each of -`rate` times
# the slope, as in the loop above, and return the last `w`. For the loss w · w, whose slope is 2 · w, one step from 1 with rate
# 0.25 ends at 0.5.


# %% exercise="gradient_descent" lecture=true
def gradient_descent(gradient, w, rate, steps):
    # yours: one step after the other
    for _ in range(steps):
        w = w - rate * gradient(w)
    return w
    # end


# %% [markdown]
# ## 1. Where was it repeated?
#
# By broadcasting a small tensor takes part in an operation as if it were larger: one of shape `(4,)` acts as one of `(3, 4)`,
# say. In the [backward pass](../notebooks/glossary.md#backward-pass) its gradient is summed over every axis along which it was
# repeated. Which axes are these?
#
# Give them as a tuple of positions in `to`, the smallest first. `repeated_axes((4,), (3, 4))` is `(0,)`.

# %% exercise="repeated_axes"
# include course_lib/tensor/shapes.py repeated_axes: find the axes, and give them as a tuple

# %% [markdown]
# ## 2. An order for the backward pass
#
# `backward()` needs an order of all [nodes](../notebooks/glossary.md#graph) that a result depends on: each after everything it
# was made from, the result itself last. That is a topological order, and the core of autograd: in reverse, it is the order of
# [backpropagation](../notebooks/glossary.md#backpropagation). Build it.
#
# `node.parents` is a list with one entry for each input. An entry is a pair `(parent node, number)`, where the number does
# not matter here, or `None` for an input that needs no gradient. A leaf has no parents: its list is empty. Graphs can be
# thousands of nodes deep. Any order that keeps the rule is right.

# %% exercise="topological_order"
# include course_lib/autograd.py topological_order: put every node that `root` depends on in such an order

# %% [markdown]
# ## 3. A gradient by finite differences
#
# Is a gradient right? Compare it with a [finite difference](../notebooks/glossary.md#finite-difference). For each element of
# `x`, change it by `step` up and down, leave all others as they are, and divide: (up - down) / (2 * step).
# (`np.ndindex(x.shape)` iterates over all indices of an array.)
#
# `function` takes an array of the shape of `x` and gives one number. `x` is a float64 NumPy array of any shape; it must be the
# same afterwards. The result is an array of that shape. For the sum of squares, `numerical_gradient(function, x)` at `x = [3.,
# 4.]` is about `[6., 8.]`. `np` is NumPy. This is the core of gradcheck, which you will want each time you write a rule for
# the backward pass.


# %% exercise="numerical_gradient"
def numerical_gradient(function, x, step=1e-5):
    """The slope of `function` at each element of x, measured by a step to both sides; same shape as x."""
    # yours: change one element at a time
    slopes = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        slopes[index] = (function(up) - function(down)) / (2 * step)
    return slopes
    # end


# %% [markdown]
# ## 4. Local gradients (stretch)
#
# The tape of the lecture knew two operations and their local slopes, the local gradients of the chain rule. Write down
# those of six more. `operation` is a word, `inputs` a tuple of one or two numbers; give a tuple with one slope for each
# input. `local_gradients("subtract", (5, 3))` is `(1, -1)`.
#
# | operation | result |
# |---|---|
# | `subtract` | a - b |
# | `divide` | a / b |
# | `exp`, `log`, `tanh` | of one number |
# | `maximum` | the larger of a and b; if they are equal, each counts half |
#
# `math` is there. The slope of tanh is 1 minus its result squared. These rules stand beside every operation of the Tensor.


# %% exercise="local_gradients"
def local_gradients(operation, inputs):
    """One slope for each input, as a tuple."""
    # yours: a rule for each operation
    if operation == "subtract":
        return (1.0, -1.0)
    if operation == "divide":
        a, b = inputs
        return (1 / b, -a / (b * b))
    if operation == "exp":
        return (math.exp(inputs[0]),)
    if operation == "log":
        return (1 / inputs[0],)
    if operation == "tanh":
        return (1 - math.tanh(inputs[0]) ** 2,)
    a, b = inputs
    first = 0.5 if a == b else float(a > b)
    return (first, 1 - first)
    # end


# %% [markdown]
# ## 5. The backward pass of a layer (stretch)
#
# A layer computes y = x @ weight.T + bias. `x` is `(*n, K)`: rows of K inputs, with one or more axes in front. `weight` is
# `(N, K)`, `bias` is `(N,)`, and `dy` is the [upstream gradient](../notebooks/glossary.md#upstream-gradient), `(*n, N)`. Give
# three gradients: `dx`, `dweight` and `dbias`, each with the shape of its own tensor. Without a bias (`has_bias` is False) the
# third is `None`.
#
# For `dy = [[1, 10]]`, `x = [[2, 3]]` and `weight = [[1, 2], [3, 4]]`: `dx` is `[[31, 42]]`, `dweight` is `[[2, 3], [20, 30]]`,
# and `dbias` is `[1, 10]`. All are NumPy arrays of one dtype. Two of every three multiplications of a layer happen here: one
# product in the forward pass, two in the backward pass.

# %% exercise="linear_backward"
# include course_lib/devices/reference/layers.py linear_backward: three gradients, each with the shape of its own tensor

# %% [markdown]
# ## 6. Find the fault: a gradient that lies (stretch)
#
# Each row of `x` is divided by its length, the root of its sum of squares: y = x / size. (The norms of chapter 07 do
# nearly this.) The function below is its backward pass. `dy` and `x` are arrays `(*n, C)`, and `np` is NumPy. It was checked
# with one row, and found right. It is wrong.
#
# Run the cell, then the one below: that one calls gradcheck. One line is wrong.


# %% exercise="normalise_rows_backward"
def normalise_rows_backward(dy, x):
    """The gradient of x, from the gradient dy of y = x / size, where size is the length of each row."""
    size = np.sqrt((x * x).sum(axis=-1, keepdims=True))  # (*n, 1)
    y = x / size  # (*n, C)
    # yours: fix the line below
    along = (dy * y).sum(axis=-1, keepdims=True)  # (*n, 1): how much of dy points along y
    # instead
    # along = (dy * y).sum()  # how much of dy points along y
    # end
    return (dy - y * along) / size  # (*n, C)


# %%
import numpy as np

from course_lib import gradcheck
from course_lib.tensor import record


def normalise_rows(x):
    values = x.array()  # (*n, C)
    y = values / np.sqrt((values * values).sum(axis=-1, keepdims=True))  # (*n, C)
    return record("normalise_rows", (x,), y, lambda dy: (normalise_rows_backward(dy, values),))


for rows in ([[3.0, 4.0]], [[3.0, 4.0], [5.0, 12.0]]):  # try others
    try:
        gradcheck(normalise_rows, [rows])
        print(rows, "is right")
    except (AssertionError, NameError) as error:
        print(rows, error)

# %% [markdown]
# ## 7. Open challenge: a tape that forgets (stretch)
#
# The tape keeps every value of the forward pass until the backward pass. For a large model that is more memory than a machine
# has. So keep only some values. When the backward pass reaches the values between two kept ones, compute them once more, use
# them, and drop them. This is called [recomputation](../notebooks/glossary.md#recomputation).
#
# `sizes` is a list: how much memory each value takes, in the order in which they are made. Give a list of the indices of the
# values to keep. The input of the whole chain is always there, and does not count. The most memory in use is **the sum of all
# kept sizes, plus the largest sum of sizes between two kept values** (or before the first, or after the last). For `sizes = [1,
# 1, 1, 1, 1]`, `[2]` needs 1 + 2 = 3.
#
# From 16 values on, your choice may need at most half of `sum(sizes)`. The verdict counts the memory for 56 values of sizes
# from 1 to 11. Together they take 276. How little is enough? Your tries are remembered. Large models are trained in exactly
# this way.


# %% exercise="choose_checkpoints"
def choose_checkpoints(sizes):
    """The indices of the values to keep, as a list."""
    # yours: which values would you keep?
    best, least = [], sum(sizes) + 1
    for every in range(1, len(sizes) + 1):  # keep every second, every third, ...
        kept = list(range(every - 1, len(sizes), every))
        longest = max(sum(sizes[place : place + every - 1]) for place in range(0, len(sizes), every))
        room = sum(sizes[place] for place in kept) + longest
        if room < least:
            best, least = kept, room
    return best
    # end
