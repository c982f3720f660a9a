"""The loss of a batch from the losses of its parts: a mean of means needs weights."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("parts with the same number of targets", [2.0, 4.0], [3, 3])
    yield Case("a part with fewer targets", [2.0, 6.0], [3, 1])
    yield Case("a part with none", [2.0, 0.0, 5.0], [2, 0, 2])
    yield Case("one part", [1.5], [4])


exercise = Exercise(
    title="A mean of means",
    minutes=2,
    core=False,
    defines="whole_loss",
    cases=cases,
    reference=lambda losses, counts: sum(loss * count for loss, count in zip(losses, counts, strict=True)) / sum(counts),
    hints=("loss * count is the sum of the losses of a part. Add these sums, and divide by the number of all targets.",),
    wrong=[
        Wrong("def whole_loss(losses, counts):\n    return sum(losses) / len(losses)\n",
              "This is right if all parts hold the same number of targets. A part with more of them must count more."),
        Wrong(Changed((" / sum(counts)", "")), "This is the sum over all targets. Divide by their number for the mean."),
        Wrong(Changed(("/ sum(counts)", "/ len(counts)")), "Divide by the number of all targets, not by the number of parts."),
    ],
)  # fmt: skip
