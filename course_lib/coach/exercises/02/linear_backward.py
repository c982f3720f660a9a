"""The backward pass of a linear layer: two products and a sum."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong
from course_lib.devices import ops


def cases(random):
    def numbers(*shape):
        return random.integers(-5, 6, shape).astype(np.float32)

    def case(label, n, K, N, has_bias=True):
        return Case(label, numbers(*n, N), numbers(*n, K), numbers(N, K), has_bias)

    yield Case("one row, 2 inputs, 2 outputs", np.array([[1.0, 10.0]], np.float32), np.array([[2.0, 3.0]], np.float32),
               np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), True)  # fmt: skip
    yield case("two rows", (2,), 2, 2)
    yield case("3 rows, 4 inputs, 2 outputs", (3,), 4, 2)
    yield case("no bias", (3,), 4, 2, False)
    yield case("one input, one output", (5,), 1, 1)
    yield case("a batch of 2 times 3 rows", (2, 3), 4, 5)
    yield case("two leading axes and one output", (2, 2, 2), 3, 1)
    yield Case("float64", random.normal(size=(3, 2)), random.normal(size=(3, 4)), random.normal(size=(2, 4)), True)


def check(result, dy, x, weight, has_bias):
    for name, part in zip(("dx", "dweight", "dbias"), result, strict=True):
        if getattr(part, "dtype", x.dtype) != x.dtype:
            return (
                f"The numbers of {name} are right, but its dtype is {part.dtype}; x and dy are {x.dtype}. A gradient "
                "keeps the dtype."
            )
    return None


exercise = Exercise(
    title="The backward pass of a layer",
    minutes=15,
    core=False,
    defines="linear_backward",
    target="op:linear_backward",
    given="import numpy as np",
    cases=cases,
    results=("dx", "dweight", "dbias"),
    reference=ops("reference").linear_backward,
    check=check,
    hints=(
        "Each gradient has the shape of its own tensor. Which products of dy, x and weight have these shapes?",
        "dx (*n, K) = dy (*n, N) @ weight (N, K). For dweight flatten the leading axes: dy.reshape(-1, N), and x likewise.",
        "rows = dy.reshape(-1, dy.shape[-1]); dweight = rows.T @ x.reshape(-1, x.shape[-1]); dbias = rows.sum(axis=0), or None.",
    ),
    example='''def scale_backward(dy, x, scale):
    """The backward pass of y = x * scale, where x is (*n, C) and scale (C): each row used the same scale."""
    dx = dy * scale
    dscale = (dy * x).reshape(-1, len(scale)).sum(axis=0)  # (*n, C) -> (n, C) -> (C)
    return dx, dscale
''',
    wrong=[
        Wrong(Changed(("rows.sum(axis=0)", "rows.mean(axis=0)")),
              "dbias is a sum, not a mean: every row used the bias once, and the gradients of all its uses add up."),
        Wrong(Changed(("rows.sum(axis=0)", "dy.sum(axis=0)")),
              "With more leading axes dbias must be summed over all of them, not over the first alone."),
        Wrong("""def linear_backward(dy, x, weight, has_bias):
    rows = dy.reshape(-1, dy.shape[-1])
    return dy @ weight, rows.T @ x.reshape(-1, x.shape[-1]), dy if has_bias else None
""", "The bias is added to every row of y, so its gradient is the sum of dy over the rows."),
        Wrong(Changed((" if has_bias else None", "")), "Without a bias there is no gradient of it: the third result is None.",
              when=lambda seen: seen.label == "no bias" and isinstance(seen.got, tuple | list) and len(seen.got) == 3
                  and seen.got[2] is not None, once="an array in place of None"),
        Wrong("""def linear_backward(dy, x, weight, has_bias):
    dx = dy @ weight
    dw = x.reshape(-1, x.shape[-1]).T @ dy.reshape(-1, dy.shape[-1])
    return dx, dw, dy.reshape(-1, dy.shape[-1]).sum(0) if has_bias else None
""", "dweight must have the shape of weight, (N, K). Yours is its transpose."),
        Mistake("The task asks for three results: dx, dweight and dbias (None without a bias).",
                when=lambda seen: isinstance(seen.got, tuple | list) and len(seen.got) == 2),
        Wrong(Changed(("dy @ weight  #", "dy @ weight.T  #")), generic="`weight` must not be transposed"),
        Wrong("""def linear_backward(dy, x, weight, has_bias):
    return dy @ weight, dy.T @ x, dy.sum(0) if has_bias else None
""", generic="ValueError"),
    ],
)  # fmt: skip
