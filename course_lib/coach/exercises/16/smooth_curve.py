"""A planted fault: a running mean that begins at 0."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one loss", [4.0], 0.5)
    yield Case("two equal losses", [4.0, 4.0], 0.5)
    yield Case("a loss that falls", [4.0, 2.0, 1.0], 0.5)
    yield Case("a long memory", [8.0, 6.0, 5.0, 4.5], 0.9)
    yield Case("no memory", [3.0, 1.0, 2.0], 0.0)
    yield Case("no losses", [], 0.9)
    yield Case("200 noisy losses", (3 + random.normal(size=200)).round(2).tolist(), 0.98)


def smoothed(losses, keep):
    result, average = [], 0.0
    for step, loss in enumerate(losses, 1):
        average = keep * average + (1 - keep) * loss
        result.append(average / (1 - keep**step))
    return result


exercise = Exercise(
    title="Find the fault: a loss curve that begins too low",
    minutes=10,
    core=False,
    defines="smoothed",
    cases=cases,
    reference=smoothed,
    tolerance=1e-9,
    hints=(
        "With one loss of 4 and keep = 0.5 the running mean is 2. Which weight has the loss in it, and which has the 0?",
        "After n losses the weights of all of them sum to 1 - keep**n; the rest, keep**n, is the weight of the 0. AdamW has the "
        "same problem with its moments. What does it do?",
        "result.append(average / (1 - keep**step)): only what is shown is divided, the running mean itself goes on as it is.",
    ),
    sibling='''def mean_grade(grades, weights):
    """The mean of the grades that are there (None: not yet); the weights of those are made to sum to 1."""
    there = [(grade, weight) for grade, weight in zip(grades, weights) if grade is not None]
    return sum(grade * weight for grade, weight in there) / sum(weight for _, weight in there)
''',
    wrong=[
        Wrong("""def smoothed(losses, keep):
    result, average = [], losses[0] if losses else 0.0
    for loss in losses:
        average = keep * average + (1 - keep) * loss
        result.append(average)
    return result
""", "The first loss counts in full now, for a long time: it is one among many. Divide by 1 - keep**step instead."),
        Wrong("""def smoothed(losses, keep):
    result, average = [], 0.0
    for loss in losses:
        average = keep * average + (1 - keep) * loss
        result.append(average)
    return result
""", "The running mean begins at 0, and so the curve does too: the first results are far below every loss."),
        Wrong(Changed(("enumerate(losses, 1)", "enumerate(losses)"), ("average / (1 - keep**step)",
                       "average / (1 - keep**step) if step else average")),
              "After the first loss the weights sum to 1 - keep**1: count the steps from 1."),
        Wrong("""def smoothed(losses, keep):
    result, average = [], 0.0
    for step, loss in enumerate(losses, 1):
        average = (keep * average + (1 - keep) * loss) / (1 - keep**step)
        result.append(average)
    return result
""", "What is divided goes into the next mean, and is divided there again. Divide only what is shown."),
        Wrong("""def smoothed(losses, keep):
    return [sum(losses[:n]) / n for n in range(1, len(losses) + 1)]
""", "This is the mean of all losses so far: it forgets nothing, and lags behind."),
    ],
)  # fmt: skip
