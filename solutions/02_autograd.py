# %% [markdown]
# # 02 Autograd: exercises
#
# **30 minutes.** Each cell below is one exercise: write your part, press Shift+Enter, and read the verdict. Stuck? Type
# `course.hint()` in a cell of its own. Your answers are kept in `exercises/mine/answers/`.
#
# The lecture: [02 Autograd](../notebooks/02_autograd.ipynb).

# %%

# %% [markdown]
# ## 1. Where was it repeated?
#
# A small tensor takes part in an operation as if it were larger: its shape `(4,)` is shown as `(3, 4)`, say. On the way back
# its gradient is summed over every axis along which it was repeated. Which axes are these?
#
# Give them as a tuple of positions in `to`, the smallest first. `repeated_axes((4,), (3, 4))` is `(0,)`.

# %% exercise="repeated_axes"
# include course_lib/tensor/shapes.py repeated_axes: find the axes, and give them as a tuple
