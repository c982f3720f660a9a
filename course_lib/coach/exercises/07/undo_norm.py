"""What a learned weight and bias can undo: the scale and the mean that LayerNorm removes."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the example", np.array([1.0, 3.0]))
    yield Case("negative numbers", np.array([-2.0, -4.0, -9.0]))
    yield Case("a long row", random.normal(5, 3, size=7))
    yield Case("nearly equal numbers", np.array([2.0, 2.001, 2.003, 2.002]))


def undo_norm(x):
    return np.sqrt(((x - x.mean()) ** 2).mean() + 1e-5), x.mean()


exercise = Exercise(
    title="What a weight and a bias undo",
    minutes=3,
    core=False,
    defines="undo_norm",
    results=("weight", "bias"),
    cases=cases,
    reference=undo_norm,
    hints=("Solve y = (x - mean) / np.sqrt(variance + 1e-5) for x. What is y multiplied by, and what is added?",),
    wrong=[
        Wrong("""def undo_norm(x):
    return x.std(), x.mean()
""", "The norm divides by the root of the variance plus 1e-5. In a row of nearly equal numbers that is far more than the "
     "standard deviation."),
        Wrong("""def undo_norm(x):
    return 1 / np.sqrt(((x - x.mean()) ** 2).mean() + 1e-5), x.mean()
""", "This divides once more. What was divided by the root must be multiplied by it."),
        Wrong("""def undo_norm(x):
    return ((x - x.mean()) ** 2).mean() + 1e-5, x.mean()
""", "This is what stands under the root. The norm divides by the root."),
        Wrong("""def undo_norm(x):
    return np.sqrt((x * x).mean() + 1e-5), x.mean()
""", "This is the root mean square, of RMSNorm. LayerNorm subtracts the mean first."),
        Wrong(Changed((", x.mean()", ", -x.mean()")), generic="bias"),
    ],
)  # fmt: skip
