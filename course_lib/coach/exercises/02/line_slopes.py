"""The chain rule by hand, for the smallest model: a line and a squared error."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the line of the lecture", 3.0, -1.0, 2.0, 7.0)
    yield Case("the prediction is too high", 4.0, 1.0, 2.0, 7.0)
    yield Case("a negative x", 0.5, 2.0, -3.0, 1.0)
    yield Case("no error", 2.0, 1.0, 3.0, 7.0)
    yield Case("x is 0", 2.0, 1.0, 0.0, 4.0)


exercise = Exercise(
    title="Two slopes by the chain rule",
    minutes=3,
    core=False,
    defines="line_slopes",
    cases=cases,
    reference=lambda w, b, x, target: (2 * (w * x + b - target) * x, 2 * (w * x + b - target)),
    results=("the slope at w", "the slope at b"),
    hints=("The path from w goes: times x, plus b, minus target, square. Its slopes are x, 1, 1 and 2 · error; multiply them.",),
    wrong=[
        Wrong(Changed(("return 2 * error * x", "return 2 * error")),
              "On the path from w stands one operation more: times x, whose slope is x."),
        Wrong(Changed(("2 * error * x, 2 * error", "error * x, error")),
              "The square has the slope 2 · its input, here 2 · error."),
        Wrong("def line_slopes(w, b, x, target):\n    error = w * x + b - target\n    return error * error * x, error * error\n",
              "error * error is the loss itself. The slope of a square is 2 · its input."),
        Wrong(Changed(("2 * error * x, 2 * error", "2 * error * w, 2 * error")),
              "w is multiplied by x, so x is the local slope at w. w itself is the slope at x."),
        Wrong(Changed(("2 * error * x, 2 * error", "2 * error, 2 * error * x")), generic="Parts 1 and 2 of the result"),
    ],
)  # fmt: skip
