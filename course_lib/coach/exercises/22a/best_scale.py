"""The scale with the least squared error, out of a few."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    shrinks = [1.0, 0.9, 0.8, 0.7, 0.6]
    yield Case("one weight", np.array([[0.7]]), [1.0, 0.5])
    yield Case(
        "an outlier that is better cut off", np.array([[0.0, 0.3, -0.3, 0.31, 0.29, -0.28, 0.3, 2.4]]), [1.0, 0.9, 0.8]
    )
    yield Case("a group of zeros", np.zeros((1, 4)), shrinks)
    yield Case("the first of two that are equal", np.array([[-7.0, 0.0]]), [1.0, 0.875])  # -8 steps of 0.875
    yield Case("three groups of 32", random.normal(size=(3, 32)), shrinks)
    yield Case(
        "groups of different sizes", random.normal(size=(6, 32)) * np.array([[0.01, 0.1, 1, 10, 1, 0.5]]).T, shrinks
    )
    yield Case("shrinks in another order", random.normal(size=(4, 32)), [0.6, 0.9, 1.0, 0.75])


def right(groups, shrinks):
    found = []
    for group in groups:
        scales = [shrink * max(abs(group)) / 7 for shrink in shrinks]
        errors = [sum((np.clip(np.rint(w / (s or 1)), -8, 7) * s - w) ** 2 for w in group) for s in scales]
        found.append(scales[int(np.argmin(errors))])
    return np.array(found)


SQUARES = "np.square(codes * scale[:, None] - groups)"

exercise = Exercise(
    title="The scale with the least error",
    minutes=14,
    defines="best_scale",
    given="import numpy as np",
    cases=cases,
    reference=right,
    hints=(
        "For each shrink: the scale of every group, the codes with that scale, and the squared error of every group. "
        "Keep the best of what was tried.",
        "Codes end at -8 and 7: np.clip(np.rint(groups / scale[:, None]), -8, 7). A scale of 0 divides by 0: let the divisor "
        "be 1 there.",
        "better = error < least; best = np.where(better, scale, best); least = np.where(better, error, least), from "
        "best = np.zeros(len(groups)) and least = np.full(len(groups), np.inf).",
    ),
    example='''def nearest_shelf(sizes, shelves):
    """For each of sizes (J,), the shelf that it fits with the least room to spare; inf if none does."""
    best, least = np.full(len(sizes), np.inf), np.full(len(sizes), np.inf)
    for shelf in shelves:
        spare = np.where(shelf >= sizes, shelf - sizes, np.inf)
        better = spare < least
        best, least = np.where(better, shelf, best), np.where(better, spare, least)
    return best
''',
    wrong=[
        Wrong(Changed(("np.clip(np.rint(groups / divisor), -8, 7)", "np.rint(groups / divisor)")),
              "Codes end at -8 and 7. Without np.clip a shorter grid still reaches every weight, and looks better than it is."),
        Wrong(Changed((f"{SQUARES}.sum(axis=1)", f"{SQUARES}.sum()")),
              "You add up the error of all groups, so all take one shrink. Each group chooses for itself: sum over axis 1."),
        Wrong(Changed((SQUARES, "np.square(codes - groups)")),
              "You compare codes with weights. A code stands for code * scale."),
        Wrong(Changed(("better = error < least", "better = error > least"), ("len(groups), np.inf", "len(groups), -1.0")),
              "You keep the scale with the largest error. Wanted is the least."),
        Wrong(Changed((f"{SQUARES}.sum(axis=1)", "np.abs(codes * scale[:, None] - groups).max(axis=1)")),
              "You compare the largest error of each group. Wanted is the least sum of squares."),
    ],
)  # fmt: skip
