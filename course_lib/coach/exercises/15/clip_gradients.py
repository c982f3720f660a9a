"""Clipping: one norm for all gradients together, and one factor."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Refused, Wrong

LONGER = "A gradient that is short enough stays as it is. This makes it longer."


def cases(random):
    yield Case("one array, too long", [np.array([3.0, 4.0])], 1.0)
    yield Case("one array, short enough", [np.array([0.3, -0.4])], 1.0)
    yield Case("two arrays, too long together", [np.array([3.0, 0.0]), np.array([[0.0], [4.0]])], 4.0)
    yield Case("a matrix and a row", [random.normal(size=(3, 4)), random.normal(size=4)], 0.5)
    yield Case("all zeros", [np.zeros((2, 2))], 1.0)


def clipped(gradients, max_norm):
    norm = np.sqrt(sum((gradient * gradient).sum() for gradient in gradients))
    return [gradient * (max_norm / norm if norm > max_norm else 1.0) for gradient in gradients]


def new_list(answer, gradients, max_norm):
    """The result, if it is a list of its own."""
    result = answer(gradients, max_norm)
    if result is gradients:
        raise Refused(
            "The given list itself comes back. Return a new one, also where nothing is clipped: its owner may change it."
        )
    return result


exercise = Exercise(
    title="Clip the gradients",
    minutes=4,
    core=False,
    defines="clip_gradients",
    cases=cases,
    call=new_list,
    reference=clipped,
    hints=(
        "Sum the squares of all numbers of all arrays; the root is the norm. If it is above max_norm, the factor is max_norm "
        "/ norm, else 1.",
    ),
    wrong=[
        Wrong("""def clip_gradients(gradients, max_norm):
    norms = [np.sqrt((gradient**2).sum()) for gradient in gradients]
    return [gradient * min(1, max_norm / max(norm, max_norm)) for gradient, norm in zip(gradients, norms)]
""", "The norm is that of all arrays together. With a factor for each of them, the direction of the step would change."),
        Wrong(Changed(("factor = max_norm / norm if norm > max_norm else 1.0", "factor = max_norm / norm if norm > 0 else 1.0")),
              LONGER),
        Wrong(Changed(("max_norm / norm if norm > max_norm else 1.0", "max_norm / norm")), LONGER, also=True),
        Wrong(Changed(("np.sqrt(sum((gradient**2).sum() for gradient in gradients))",
                       "sum((gradient**2).sum() for gradient in gradients)")),
              "The norm is the root of the sum of squares: for (3, 4) it is 5, not 25."),
        Wrong("""def clip_gradients(gradients, max_norm):
    return [np.clip(gradient, -max_norm, max_norm) for gradient in gradients]
""", "This limits each number by itself, so the direction changes. Multiply all numbers by one factor."),
        Wrong(Changed(("gradient * factor", "gradient / norm")),
              "The clipped gradient has the norm max_norm, which need not be 1; and a short one stays as it is."),
    ],
)  # fmt: skip
