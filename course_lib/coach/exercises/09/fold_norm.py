"""What can be multiplied into the weights before a product: the gain of a norm, and its bias."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one number", np.array([[2.0]]), np.array([3.0]), np.array([0.5]))
    yield Case("no bias", random.normal(size=(2, 3)), np.array([1.0, 2.0, -0.5]), np.zeros(3))
    yield Case("a gain of ones", random.normal(size=(3, 2)), np.ones(2), np.array([1.0, -2.0]))
    yield Case("a square", *(random.normal(size=shape) for shape in ((3, 3), 3, 3)))
    yield Case("4 x 5", *(random.normal(size=shape) for shape in ((4, 5), 5, 5)))


exercise = Exercise(
    title="A norm with a bias waits",
    minutes=3,
    core=False,
    defines="fold_norm",
    results=("folded", "shift"),
    cases=cases,
    reference=lambda W, gain, bias: (W * gain, W @ bias),
    hints=("(x r gain + bias) W^T is x r gain W^T plus bias W^T. The second part is the same for every row of x.",),
    wrong=[
        Wrong(Changed(("W @ bias", "bias")),
              "The bias is added before the product, so the product multiplies it too. There are N columns then, so its shape "
              "(K,) fits only if N is K.",),
        Wrong(Changed(("W * gain", "W * gain[:, None]")) , generic="do not fit together"),
        Wrong(Changed(("W @ bias", "(W * gain) @ bias")),
              "The gain multiplies the row, and the bias is added afterwards: the gain does not touch it."),
        Wrong(Changed(("W * gain", "W")), "The gain is lost. It multiplies the columns of x, and so those of W."),
    ],
)  # fmt: skip
