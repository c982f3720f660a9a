# %% [markdown]
# # 02 Autograd: exercises
#
# The lecture: [02 Autograd](../notebooks/02_autograd.ipynb).

# %% [markdown]
# ## 1. Where was it repeated?
#
# A small tensor takes part in an operation as if it were larger: its shape `(4,)` is shown as `(3, 4)`, say. On the way back
# its gradient is summed over every axis along which it was repeated. Which axes are these?
#
# Give them as a tuple of positions in `to`, the smallest first. `repeated_axes((4,), (3, 4))` is `(0,)`.

# %% exercise="repeated_axes"
# include course_lib/tensor/shapes.py repeated_axes: find the axes, and give them as a tuple

# %% [markdown]
# ## 2. An order for the walk
#
# `backward()` needs an order of all [nodes](../notebooks/glossary.md#graph) that a result depends on: each after everything it
# was made from, the result itself last. Build it.
#
# `node.parents` is a list with one entry for each input. An entry is a pair `(parent node, number)`, where the number does not
# matter here, or `None` for an input that needs no gradient. Graphs can be thousands of nodes deep. Any order that keeps the
# rule is right.

# %% exercise="topological_order"
# include course_lib/autograd.py topological_order: put every node that `root` depends on in such an order

# %% [markdown]
# ## 3. Find the fault: used twice (stretch)
#
# Somebody wrote the walk back over the tape of the lecture. `tape` is a list of lines `(result, inputs)`, where `inputs` are
# pairs of a name and a local slope; `last` is the name of the loss. It should give a dict with the gradient of each name.
# Run the cell first and look. One line is wrong.

# %% exercise="walk_back"
def walk_back(tape, last):
    """The gradient of each name, as a dict."""
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            # yours: mend the line below
            gradients[name] = gradients.get(name, 0.0) + gradients[result] * slope
            # instead
            # gradients[name] = gradients[result] * slope
            # end
    return gradients
