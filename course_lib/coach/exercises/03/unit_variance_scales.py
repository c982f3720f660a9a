"""Initialisation by measuring: a factor for each layer, so that the signal neither vanishes nor saturates."""

from itertools import pairwise

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def case(label, rows, *widths, size=1.0, shift=0.0):
        weights = [size * random.normal(size=pair) for pair in pairwise(widths)]
        return Case(label, random.normal(size=(rows, widths[0])) + shift, weights)

    return [
        Case("one layer of width 1", np.array([[1.0], [-1.0]]), [np.array([[4.0]])]),
        case("one layer", 8, 3, 2),
        case("two layers", 8, 3, 4, 2),
        case("six layers, far too large", 32, 10, 10, 10, 10, 10, 10, 10, size=5.0),
        case("four layers, far too small", 32, 10, 20, 5, 10, 10, size=0.001),
        case("inputs that are not around 0", 16, 4, 4, 4, shift=3.0),
    ]


def scales(x, weights):
    found = []
    for weight in weights:
        y = x @ weight
        found.append(1 / np.std(y))
        x = np.tanh(found[-1] * y)
    return np.array(found)


exercise = Exercise(
    title="Initialisation by measuring",
    minutes=10,
    core=False,
    defines="unit_variance_scales",
    given="import numpy as np",
    cases=cases,
    reference=scales,
    hints=(
        "Iterate over the layers, as `signals` does in the lecture. What do you measure at each, and what is the input of "
        "the next?",
        "y = x @ weight; factor = 1 / y.std(); the scaled signal factor * y then goes through tanh.",
        "factors = []; for weight in weights: y = x @ weight; factors.append(1 / y.std()); x = np.tanh(factors[-1] * y).",
    ),
    example='''def guessed_scales(weights):
    """The same factors without any data, from the rule of the lecture: std should be 1 / sqrt(inputs)."""
    return [1 / (weight.std() * len(weight) ** 0.5) for weight in weights]
''',
    wrong=[
        Wrong(Changed(("np.tanh(factors[-1] * y)", "np.tanh(y)")),
              "The input of the next layer is the output of this one *with* its factor: tanh(factor * y), not tanh(y)."),
        Wrong(Changed(("np.tanh(factors[-1] * y)", "factors[-1] * y")),
              "Between two layers is the activation tanh. The next layer must get tanh(factor * y)."),
        Wrong("""def unit_variance_scales(x, weights):
    factors = []
    for W in weights:
        y = np.tanh(x @ W)
        factors.append(1 / y.std())
        x = np.tanh(factors[-1] * (x @ W))
    return factors
""", "Measure the size before the tanh, where the factor acts: after it the numbers are already limited to -1 to 1."),
        Wrong(Changed(("1 / y.std()", "y.std()")), "The factor must undo the measured size: 1 / std, not std."),
        Wrong(Changed(("y.std()", "y.var()")),
              "You divide by the variance. The task asks for its root, the standard deviation."),
        Wrong(Changed(("y.std()", "y.std(axis=0)")),
              "The task asks for one factor per layer, and yours has several: y.std() without an axis gives one.",
              when=lambda seen: isinstance(seen.got, tuple | list) and len(seen.got) > 0 and np.ndim(seen.got[0]) > 0),
        Wrong("""def unit_variance_scales(x, weights):
    out = []
    for w in weights:
        z = x.dot(w)
        s = np.sqrt((z ** 2).mean())
        x = np.tanh(z / s)
        out.append(1 / s)
    return out
""", "You take the root of the mean square. The standard deviation is measured from the mean of the numbers, not from 0."),
        Wrong("""def unit_variance_scales(x, weights):
    out = []
    for w in weights:
        z = x.dot(w)
        s = z.std(ddof=1)
        x = np.tanh(z / s)
        out.append(1 / s)
    return out
""", "You divide by one number fewer (ddof=1). Here y.std() is meant, which divides by all of them."),
    ],
)  # fmt: skip
