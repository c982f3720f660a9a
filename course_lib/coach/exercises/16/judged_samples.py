"""What the judge's findings on many samples come to, and how far they can be trusted."""

import math

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    yield Case("one possible story", [True], [0])
    yield Case("one of two is well-formed", [True, False], [0, 0])
    yield Case("a wrong fact", [True, True], [0, 3])
    yield Case("faults in a story that is not well-formed", [True, False, True, False], [1, 5, 0, 0])
    yield Case("none is well-formed", [False, False], [2, 0])
    well = (random.random(300) < 0.85).tolist()
    yield Case("300 samples", well, random.poisson(0.7, 300).tolist())


def summary(
    well_formed,
    wrong_facts,
    over_all=False,
    any_form=False,
    root=True,
    of_possible=False,
    none=math.nan,
    of_good=False,
    late=False,
):
    n, form = len(well_formed), sum(well_formed)
    facts = [wrong for well, wrong in zip(well_formed, wrong_facts, strict=True) if well]
    share = form / n
    possible = (wrong_facts if any_form else facts).count(0) / n
    possible = facts.count(0) / max(form, 1) if of_good else possible
    base = possible if of_possible else share
    variance = base * (1 - base) / n
    mean = sum(wrong_facts) / n if over_all else sum(facts) / form if form else none
    return share, possible, mean, (variance * n) ** 0.5 / n if late else variance**0.5 if root else variance


def wrong(**changes):
    return lambda *inputs: summary(*inputs, **changes)


exercise = Exercise(
    title="What the judge says of many",
    minutes=15,
    defines="judged_samples",
    given="import math",
    cases=cases,
    results=("the share well-formed", "the share possible", "the mean of wrong facts", "the standard error"),
    reference=summary,
    mistakes=[
        Mistake("The mean of the wrong facts goes over all samples. Only well-formed ones count.", like=wrong(over_all=True)),
        Mistake("A story that is not well-formed is not possible either, whatever its wrong facts.", like=wrong(any_form=True)),
        Mistake("The standard error is the root of p (1 - p) / n.", like=wrong(root=False)),
        Mistake("The standard error is asked for the share of well-formed ones.", like=wrong(of_possible=True)),
        Mistake("Where no sample is well-formed there is nothing to divide by: the mean is math.nan.",
                when=lambda seen: seen.label == "none is well-formed" and seen.error.startswith("ZeroDivisionError")),
        Mistake("Where no sample is well-formed there is no mean: math.nan, not 0.", like=wrong(none=0.0)),
        Mistake("The share of possible ones is a share of *all* samples, not of the well-formed ones.",
                like=wrong(of_good=True)),
        Mistake("n stands inside the root: the root of p (1 - p) / n.", like=wrong(late=True)),
    ],
    hints=(
        "First pick out the wrong facts of the well-formed samples: three of the four numbers follow from this list.",
        "possible: how many zeros are in it, divided by *all* samples. The mean: its sum divided by its length.",
        "facts = [f for w, f in zip(well_formed, wrong_facts) if w]; p = len(facts) / n; the error: math.sqrt(p * (1 - p) / n).",
    ),
    sibling='''def coin(throws):
    """The share of heads in a list of True and False, and its standard error."""
    share = sum(throws) / len(throws)
    return share, (share * (1 - share) / len(throws)) ** 0.5
''',
    right=[
        """import numpy as np

def judged_samples(well_formed, wrong_facts):
    well, facts = np.array(well_formed, bool), np.array(wrong_facts)
    mean = facts[well].mean() if well.any() else np.nan
    return well.mean(), (well & (facts == 0)).mean(), mean, well.std() / np.sqrt(len(well))
""",
        """def judged_samples(well_formed, wrong_facts):
    n = form = possible = total = 0
    for well, facts in zip(well_formed, wrong_facts):
        n += 1
        if well:
            form += 1
            total += facts
            possible += facts == 0
    error = math.sqrt(form * (n - form) / n) / n
    return [form / n, possible / n, total / form if form else float("nan"), error]
""",
    ],
    wrong=[
        Wrong(Changed(("sum(facts) / len(facts) if facts else math.nan", "sum(wrong_facts) / n")), "Only well-formed ones count"),
        Wrong(Changed(("facts.count(0)", "wrong_facts.count(0)")), "not possible either"),
        Wrong(Changed(("math.sqrt(share * (1 - share) / n)", "share * (1 - share) / n")), "is the root of"),
        Wrong(Changed(("math.sqrt(share * (1 - share) / n)", "math.sqrt(possible * (1 - possible) / n)")),
              "asked for the share of well-formed ones"),
        Wrong(Changed((" if facts else math.nan", "")), "there is nothing to divide by"),
        Wrong("""def judged_samples(well_formed, wrong_facts):
    n = len(well_formed)
    p = sum(well_formed) / n
    good = [f for f, w in zip(wrong_facts, well_formed) if w]
    return p, good.count(0) / n, sum(good) / max(len(good), 1), (p * (1 - p) / n) ** 0.5
""", "math.nan, not 0"),
        Wrong("""def judged_samples(well_formed, wrong_facts):
    n = len(well_formed)
    p = sum(well_formed) / n
    good = [f for f, w in zip(wrong_facts, well_formed) if w]
    return p, good.count(0) / len(good) if good else 0, sum(good) / len(good) if good else math.nan, (p * (1 - p) / n) ** 0.5
""", "is a share of *all* samples"),
        Wrong("""def judged_samples(well_formed, wrong_facts):
    n = len(well_formed)
    p = sum(well_formed) / n
    good = [f for f, w in zip(wrong_facts, well_formed) if w]
    return p, good.count(0) / n, sum(good) / len(good) if good else math.nan, math.sqrt(p * (1 - p)) / n
""", "n stands inside the root"),
    ],
)  # fmt: skip
