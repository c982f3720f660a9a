"""An estimate before the run: six operations for each weight and token."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("an hour exactly", 1_000_000, 6_000_000, 1e10)
    yield Case("twelve million weights", 12_000_000, 8_000_000, 1e11)
    yield Case("a large model on a GPU", 124_000_000, 10_000_000_000, 5e14)


exercise = Exercise(
    title="How long at least?",
    minutes=2,
    core=False,
    defines="least_hours",
    cases=cases,
    reference=lambda weights, tokens, throughput: 6 * weights * tokens / throughput / 3600,
    hints=(
        "Operations in all: 6 * weights * tokens. Divided by the operations per second these are seconds; 3600 of them are an "
        "hour.",
    ),
    wrong=[
        Wrong(Changed(("6 * weights", "2 * weights")),
              "Two operations for each weight are the forward pass alone. The backward pass takes four more."),
        Wrong(Changed((" / 3600", "")), "These are seconds. An hour has 3600 of them."),
        Wrong(Changed(("6 * weights", "weights")),
              "Each weight takes about six operations for a token: two in the forward pass, four in the backward pass."),
    ],
)  # fmt: skip
