"""The judge's findings on many samples as four numbers, one of them a standard error."""

import math

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one possible story", [True], [0])
    yield Case("one of two is well-formed", [True, False], [0, 0])
    yield Case("a wrong fact", [True, True], [0, 3])
    yield Case("faults in a story that is not well-formed", [True, False, True, False], [1, 5, 0, 0])
    yield Case("none is well-formed", [False, False], [2, 0])
    well = (random.random(300) < 0.85).tolist()
    yield Case("300 samples", well, random.poisson(0.7, 300).tolist())


def summary(well_formed, wrong_facts):
    n, form = len(well_formed), sum(well_formed)
    facts = [wrong for well, wrong in zip(well_formed, wrong_facts, strict=True) if well]
    p = form / n
    return p, facts.count(0) / n, sum(facts) / form if form else math.nan, (p * (1 - p) / n) ** 0.5


exercise = Exercise(
    title="What the judge says of many",
    minutes=15,
    defines="sample_metrics",
    given="import math",
    cases=cases,
    results=("the fraction well-formed", "the fraction possible", "the mean of wrong facts", "the standard error"),
    reference=summary,
    hints=(
        "First pick out the wrong facts of the well-formed samples: three of the four numbers follow from this list.",
        "The fraction of possible ones: how many zeros are in it, divided by the number of *all* samples. The mean: its sum "
        "divided by its length, or math.nan if it is empty.",
        "n = len(well_formed); facts = [f for w, f in zip(well_formed, wrong_facts) if w]; p = len(facts) / n; the error: "
        "math.sqrt(p * (1 - p) / n).",
    ),
    example='''def coin(throws):
    """The fraction of heads in a list of True and False, and its standard error."""
    p = sum(throws) / len(throws)
    return p, (p * (1 - p) / len(throws)) ** 0.5
''',
    wrong=[
        Wrong(Changed(("sum(facts) / len(facts) if facts else math.nan", "sum(wrong_facts) / n")),
              "The mean of the wrong facts is taken over all samples. Only well-formed ones count."),
        Wrong(Changed(("facts.count(0)", "wrong_facts.count(0)")),
              "A story that is not well-formed is not possible either, whatever its wrong facts."),
        Wrong(Changed(("math.sqrt(share * (1 - share) / n)", "share * (1 - share) / n")),
              "The standard error is the root of p (1 - p) / n."),
        Wrong(Changed(("math.sqrt(share * (1 - share) / n)", "math.sqrt(possible * (1 - possible) / n)")),
              "This is the standard error of the fraction of possible ones. Return that of p, the fraction of well-formed "
              "ones."),
        Wrong(Changed((" if facts else math.nan", "")),
              "If no sample is well-formed, their number is 0, and you must not divide by it: the mean is math.nan.",
              when=lambda seen: seen.label == "none is well-formed" and seen.error.startswith("ZeroDivisionError")),
        Wrong("""def sample_metrics(well_formed, wrong_facts):
    n = len(well_formed)
    p = sum(well_formed) / n
    good = [f for f, w in zip(wrong_facts, well_formed) if w]
    return p, good.count(0) / n, sum(good) / max(len(good), 1), (p * (1 - p) / n) ** 0.5
""", "If no sample is well-formed, there is no mean: return math.nan, not 0."),
        Wrong("""def sample_metrics(well_formed, wrong_facts):
    n = len(well_formed)
    p = sum(well_formed) / n
    good = [f for f, w in zip(wrong_facts, well_formed) if w]
    return p, good.count(0) / len(good) if good else 0, sum(good) / len(good) if good else math.nan, (p * (1 - p) / n) ** 0.5
""", "The fraction of possible ones is a fraction of *all* samples, not of the well-formed ones."),
        Wrong("""def sample_metrics(well_formed, wrong_facts):
    n = len(well_formed)
    p = sum(well_formed) / n
    good = [f for f, w in zip(wrong_facts, well_formed) if w]
    return p, good.count(0) / n, sum(good) / len(good) if good else math.nan, math.sqrt(p * (1 - p)) / n
""", "n belongs inside the root: the root of p (1 - p) / n."),
    ],
)  # fmt: skip
