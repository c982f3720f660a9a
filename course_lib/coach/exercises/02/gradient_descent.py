"""Steps against the gradient, for one parameter."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one step, where the slope is 2 w - 6", (2.0, 6.0), 1.0, 0.25, 1)
    yield Case("three steps, slope 2 w - 6", (2.0, 6.0), 1.0, 0.25, 3)
    yield Case("from above, short steps, slope 4 w + 2", (4.0, -2.0), 5.0, 0.1, 4)
    yield Case("steps that are too long, slope 2 w", (2.0, 0.0), 1.0, 1.5, 3)
    yield Case("a long way near the minimum", (2.0, 6.0), 1.0, 0.25, 40)
    yield Case("no step", (2.0, 6.0), 4.0, 0.25, 0)


def descend(gradient, w, rate, steps):
    for _ in range(steps):
        w = w - rate * gradient(w)
    return w


exercise = Exercise(
    title="Downhill, step by step",
    minutes=3,
    core=False,
    defines="gradient_descent",
    cases=cases,
    reference=descend,
    call=lambda answer, line, w, rate, steps: answer(lambda w: line[0] * w - line[1], w, rate, steps),
    hints=("Repeat `steps` times: w becomes w - rate * gradient(w). The gradient is asked for anew at each step.",),
    wrong=[
        Wrong(Changed(("w - rate", "w + rate")), "Along the gradient the loss rises. A step goes against it: subtract."),
        Wrong("def gradient_descent(gradient, w, rate, steps):\n    return w - rate * steps * gradient(w)\n",
              "The gradient changes with w. After each step, compute it at the new w."),
        Wrong("""def gradient_descent(gradient, w, rate, steps):
    for _ in range(steps):
        w = w - rate * gradient(w)
        return w
    return w
""", "Only one step is taken: the `return` stands inside the loop, or each step starts at the first w again."),
        Wrong(Changed(("rate * gradient(w)", "gradient(w)")),
              "The gradient is not the step: multiply it by rate, which makes it short."),
        Wrong(Changed(("gradient(w)", "gradient")), "`gradient` is a function. The slope at w is gradient(w).",
              when=lambda seen: "'function'" in seen.error and "gradient(w)" not in seen.text),
    ],
)  # fmt: skip
