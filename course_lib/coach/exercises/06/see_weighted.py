"""Online softmax with a weighted sum: the factor that corrects l corrects it too, as in flash attention."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the first number", -np.inf, 0.0, 0.0, 2.0, 5.0)
    yield Case("a smaller number", 3.0, 1.5, 4.0, 1.0, 2.0)
    yield Case("a larger number", 1.0, 1.5, 4.0, 3.0, -2.0)
    yield Case("the same number again", 2.0, 1.0, 5.0, 2.0, 3.0)
    yield Case("far above what exp can take", 1000.0, 2.5, -6.0, 1001.0, 4.0)


def see_weighted(m, l, total, x, value):
    new = max(m, x)
    return new, l * np.exp(m - new) + np.exp(x - new), total * np.exp(m - new) + np.exp(x - new) * value


exercise = Exercise(
    title="A weighted sum, online",
    minutes=4,
    core=False,
    defines="see_weighted",
    results=("m", "l", "total"),
    cases=cases,
    reference=see_weighted,
    hints=("`total` is corrected as `l` is, by exp(m - new). What is added to it is exp(x - new) * value.",),
    wrong=[
        Wrong(Changed(("total * np.exp(m - new)", "total")),
              "The old terms of `total` still have the old maximum in their exponents. The factor of `l` corrects them too."),
        Wrong(Changed(("np.exp(x - new) * value", "value")), "The value is added with the weight 1. Its weight is exp(x - new)."),
        Wrong(Changed(("total * np.exp(m - new)", "total * np.exp(new - m)")),
              "The factor is upside down: the maximum grows, so old terms shrink. It is exp(m - new)."),
        Wrong("""def see_weighted(m, l, total, x, value):
    return max(m, x), l + np.exp(x - max(m, x)), total + np.exp(x - max(m, x)) * value
""", "Nothing corrects what was summed before the maximum grew."),
    ],
)  # fmt: skip
