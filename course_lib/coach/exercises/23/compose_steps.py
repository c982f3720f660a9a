"""Two steps of a linear recurrence are one step: the operator of its scan."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("small numbers", (2.0, 1.0), (3.0, 4.0))
    yield Case("the first forgets all", (0.0, 5.0), (0.5, 1.0))
    yield Case("the second forgets all", (2.0, 5.0), (0.0, 1.0))
    for label in ("any numbers", "other numbers"):
        pairs = random.normal(size=(2, 2)).round(3)
        yield Case(label, tuple(map(float, pairs[0])), tuple(map(float, pairs[1])))


def right(first, then):
    """From what both do to 0 and to 1."""
    at = [then[0] * (first[0] * h + first[1]) + then[1] for h in (0.0, 1.0)]
    return at[1] - at[0], at[0]


exercise = Exercise(
    title="Two steps as one",
    minutes=3,
    core=False,
    defines="compose_steps",
    given="import numpy as np",
    cases=cases,
    reference=right,
    results=("a", "b"),
    call=lambda answer, first, then: tuple(float(x) for x in np.asarray(answer(first, then))),
    hints=("Put a1 h + b1 in the place of h in a2 h + b2, and sort: what is multiplied with h, and what is not?",),
    wrong=[
        Wrong(Changed(("a2 * b1 + b2", "b1 + b2")), "The second step multiplies what the first has added, b1, as well."),
        Wrong(Changed(("a2 * b1 + b2", "a1 * b2 + b1")), "This does `then` first. `first` is the earlier step."),
        Wrong(Changed(("a2 * a1, ", "a2 + a1, ")), "h is multiplied twice, by a1 and by a2: that is by a1 * a2."),
    ],
)  # fmt: skip
