"""A planted fault: a running mean that begins at 0."""

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    yield Case("one loss", [4.0], 0.5)
    yield Case("two equal losses", [4.0, 4.0], 0.5)
    yield Case("a loss that falls", [4.0, 2.0, 1.0], 0.5)
    yield Case("a long memory", [8.0, 6.0, 5.0, 4.5], 0.9)
    yield Case("no memory", [3.0, 1.0, 2.0], 0.0)
    yield Case("no losses", [], 0.9)
    yield Case("200 noisy losses", (3 + random.normal(size=200)).round(2).tolist(), 0.98)


def smoothed(losses, keep, start=0.0, fair=True, wrong_way=False, late=False):
    result, average = [], start
    for step, loss in enumerate(losses, 1):
        average = (1 - keep) * average + keep * loss if wrong_way else keep * average + (1 - keep) * loss
        power = step - 1 if late else step
        result.append(average / (1 - keep**power) if fair and power else average)
    return result


def first_start(losses, keep):
    return smoothed(losses, keep, start=losses[0] if losses else 0.0, fair=False)


def divided_again(losses, keep):
    result, average = [], 0.0
    for step, loss in enumerate(losses, 1):
        average = (keep * average + (1 - keep) * loss) / (1 - keep**step)
        result.append(average)
    return result


def whole_mean(losses, keep):
    return [sum(losses[: i + 1]) / (i + 1) for i in range(len(losses))]


exercise = Exercise(
    title="Find the fault: a curve that begins too low",
    minutes=10,
    core=False,
    defines="smoothed",
    cases=cases,
    reference=smoothed,
    tolerance=1e-9,
    mistakes=[
        Mistake("The first loss counts in full now, for a long time: it is one among many. Divide by 1 - keep**step instead.",
                like=first_start),
        Mistake("The running mean begins at 0, and so the curve does too: the first results are far below every loss.",
                like=lambda losses, keep: smoothed(losses, keep, fair=False)),
        Mistake("After the first loss the weights sum to 1 - keep**1: count the steps from 1.",
                like=lambda losses, keep: smoothed(losses, keep, late=True)),
        Mistake("What is divided goes into the next mean, and is divided there again. Divide only what is shown.",
                like=divided_again),
        Mistake("This is the mean of all losses so far: it forgets nothing, and lags behind.", like=whole_mean),
    ],
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
    right=[
        """def smoothed(losses, keep):
    result, total, weights = [], 0.0, 0.0
    for loss in losses:
        total = keep * total + loss
        weights = keep * weights + 1
        result.append(total / weights)
    return result
""",
        """import numpy as np

def smoothed(losses, keep):
    result = []
    for n in range(1, len(losses) + 1):
        weights = float(keep) ** np.arange(n)[::-1]
        result.append(np.average(losses[:n], weights=weights))
    return result
""",
    ],
    wrong=[
        Wrong("""def smoothed(losses, keep):
    result, average = [], losses[0] if losses else 0.0
    for loss in losses:
        average = keep * average + (1 - keep) * loss
        result.append(average)
    return result
""", "it is one among many"),
        Wrong(Changed(("enumerate(losses, 1)", "enumerate(losses)"), ("average / (1 - keep**step)",
                       "average / (1 - keep**step) if step else average")), "count the steps from 1"),
        Wrong("""def smoothed(losses, keep):
    return [sum(losses[:n]) / n for n in range(1, len(losses) + 1)]
""", "lags behind"),
        Wrong("""def smoothed(losses, keep):
    result, average = [], 0.0
    for step, loss in enumerate(losses, 1):
        average = (keep * average + (1 - keep) * loss) / (1 - keep**step)
        result.append(average)
    return result
""", "is divided there again"),
    ],
)  # fmt: skip
