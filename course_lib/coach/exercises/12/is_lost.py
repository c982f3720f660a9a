"""bfloat16 keeps 8 bits: whether an update is rounded away depends on the size of the weight."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, weight, update in (
        ("the update of the lecture", 1.0, 0.001), ("a larger one", 1.0, 0.005), ("a smaller weight", 0.0078125, 0.001),
        ("a large weight", 256.0, 0.5), ("a negative update", 1.0, -0.001), ("a negative weight", -1.0, 0.003),
        ("a larger negative update", 1.0, -0.005), ("a weight of 0", 0.0, 1e-6), ("a tiny update", 1.0, 1e-20),
    ):  # fmt: skip
        yield Case(label, weight, update)


def lost(weight, update):
    import ml_dtypes

    return bool(ml_dtypes.bfloat16(weight + update) == weight)


exercise = Exercise(
    title="Rounded away",
    minutes=3,
    core=False,
    defines="is_lost",
    cases=cases,
    reference=lost,
    given="import ml_dtypes",
    hints=("Add the update, round the sum by ml_dtypes.bfloat16(...), and compare with the old weight.",),
    wrong=[
        Wrong(Changed(("ml_dtypes.bfloat16(weight + update) == weight", "abs(update) < 0.0039")),
              "That limit holds for weights near 1. Near 256 the gaps between bfloat16 numbers are 256 times as large, near "
              "1/128 they are 128 times as small."),
        Wrong(Changed(("ml_dtypes.bfloat16(weight + update) == weight", "abs(update) < 0.0039 * abs(weight)")),
              "The gaps do not grow with every weight: they are equal from 1 to 2, and half as large just below 1. Let "
              "ml_dtypes round the sum."),
        Wrong(Changed(("ml_dtypes.bfloat16(weight + update) == weight", "weight + update == weight")),
              "The sum is not rounded to bfloat16 here: Python adds with 53 bits."),
        Wrong(Changed(("ml_dtypes.bfloat16(weight + update) == weight", "ml_dtypes.bfloat16(update) == 0")),
              "The update alone is not rounded away: bfloat16 also has very small numbers. The *sum* is rounded."),
        Wrong(Changed((" == weight", " != weight")), "This is True where the update is not lost."),
    ],
)  # fmt: skip
