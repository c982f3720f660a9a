"""Find the fault: an exponential moving average that begins at 0, without bias correction."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one loss", [4.0], 0.5)
    yield Case("two equal losses", [4.0, 4.0], 0.5)
    yield Case("a loss that falls", [4.0, 2.0, 1.0], 0.5)
    yield Case("keep = 0.9", [8.0, 6.0, 5.0, 4.5], 0.9)
    yield Case("keep = 0", [3.0, 1.0, 2.0], 0.0)
    yield Case("no losses", [], 0.9)
    yield Case("200 noisy losses", (3 + random.normal(size=200)).round(2).tolist(), 0.98)


def exponential_moving_average(losses, keep):
    result, average = [], 0.0
    for step, loss in enumerate(losses, 1):
        average = keep * average + (1 - keep) * loss
        result.append(average / (1 - keep**step))
    return result


FIRST_TOO_MUCH = (
    "The first loss has far too much weight now, for a long time. Begin at 0, and divide by 1 - keep**step instead."
)

exercise = Exercise(
    title="Find the fault: a loss curve that begins too low",
    minutes=10,
    core=False,
    defines="exponential_moving_average",
    cases=cases,
    reference=exponential_moving_average,
    tolerance=1e-9,
    hints=(
        "With one loss of 4 and keep = 0.5 the moving average is 2. Which weight does the loss have in it, and which the 0?",
        "After n losses the weights of all of them sum to 1 - keep**n; the rest, keep**n, is the weight of the 0. AdamW has "
        "the same problem with its moments. How does it correct them?",
        "result.append(average / (1 - keep**step)): divide only what is appended; the moving average itself is not divided.",
    ),
    example='''def mean_grade(grades, weights):
    """The weighted mean of the grades so far (None: not yet); their weights are divided by the sum of the weights."""
    known = [(grade, weight) for grade, weight in zip(grades, weights) if grade is not None]
    return sum(grade * weight for grade, weight in known) / sum(weight for _, weight in known)
''',
    wrong=[
        Wrong("""def exponential_moving_average(losses, keep):
    result, average = [], losses[0] if losses else 0.0
    for loss in losses:
        average = keep * average + (1 - keep) * loss
        result.append(average)
    return result
""", FIRST_TOO_MUCH),
        Wrong("""def exponential_moving_average(losses, keep):
    result, average = [], losses[0]
    for loss in losses:
        average = keep * average + (1 - keep) * loss
        result.append(average)
    return result
""", FIRST_TOO_MUCH, also=True),
        Wrong("""def exponential_moving_average(losses, keep):
    result, average = [], 0.0
    for loss in losses:
        average = keep * average + (1 - keep) * loss
        result.append(average)
    return result
""", "The moving average begins at 0, so the curve does too: the first results are far below every loss."),
        Wrong(Changed(("enumerate(losses, 1)", "enumerate(losses)"), ("average / (1 - keep**step)",
                       "average / (1 - keep**step) if step else average")),
              "After the first loss the weights sum to 1 - keep**1: count the steps from 1."),
        Wrong("""def exponential_moving_average(losses, keep):
    result, average = [], 0.0
    for step, loss in enumerate(losses, 1):
        average = (keep * average + (1 - keep) * loss) / (1 - keep**step)
        result.append(average)
    return result
""", "The corrected average enters the next one, and is divided again there. Divide only what is appended."),
        Wrong("""def exponential_moving_average(losses, keep):
    return [sum(losses[:n]) / n for n in range(1, len(losses) + 1)]
""", "This is the mean of all losses so far, all with equal weight: older losses must have less."),
    ],
)  # fmt: skip
