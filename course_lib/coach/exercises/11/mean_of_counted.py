"""The mean over the positions that count, of which there may be none."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, losses, targets in (
        ("one position does not count", [2.0, 4.0, 9.0], [5, 7, -1]),
        ("token 0 is a token", [1.0, 5.0, 2.0], [0, -1, 3]),
        ("all count", [1.0, 2.0], [4, 0]),
        ("none counts", [3.0, 1.0], [-1, -1]),
        ("one position", [1.5], [2]),
    ):
        yield Case(label, np.array(losses), np.array(targets))


exercise = Exercise(
    title="The mean of those that count",
    minutes=2,
    core=False,
    defines="mean_of_counted",
    cases=cases,
    reference=lambda losses, targets: losses[targets != -1].sum() / max((targets != -1).sum(), 1),
    hints=("counts = targets != -1 is True where a position counts. losses[counts] are their losses; counts.sum() may be "
           "0.",),
    wrong=[
        Wrong(Changed(("losses[counts].sum() / max(counts.sum(), 1)", "losses.mean()")),
              "A position whose target is -1 is in this mean: neither its loss nor the position itself may count."),
        Wrong(Changed(("max(counts.sum(), 1)", "len(targets)")),
              "The sum is right. It is divided by the number of all positions, and should be by the number of those that "
              "count."),
        Wrong(Changed(("losses[counts].sum()", "losses.sum()")),
              "The sum holds losses of positions that do not count."),
        Wrong(Changed(("max(counts.sum(), 1)", "counts.sum()")), "If no position counts, this is 0 / 0. Return 0.0 then."),
        Wrong(Changed(("targets != -1", "targets > 0")),
              "Token 0 is a token like any other: only the target -1 does not count."),
    ],
)  # fmt: skip
