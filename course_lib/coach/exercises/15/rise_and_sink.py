"""The learning rate of a step: a straight rise, then half a cosine."""

import math

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    yield Case("the first of two steps of warm-up", 0, 10, 1.0, 0.1, 2)
    yield Case("the last step of warm-up", 1, 10, 1.0, 0.1, 2)
    yield Case("the first step of the cosine", 2, 10, 1.0, 0.1, 2)
    yield Case("half way down", 6, 10, 1.0, 0.1, 2)
    yield Case("a quarter of the way down", 4, 10, 1.0, 0.1, 2)
    yield Case("the last step", 9, 10, 1.0, 0.1, 2)
    yield Case("after the last step", 15, 10, 1.0, 0.1, 2)
    yield Case("no warm-up", 0, 10, 0.5, 0.05, 0)
    yield Case("all steps are warm-up", 4, 5, 0.5, 0.05, 5)
    for step in random.integers(0, 300, 5).tolist():
        yield Case(f"step {step} of 300", step, 300, 1e-2, 1e-3, 30)


def schedule(step, steps, peak, floor, warmup, first=1, whole=False, half=0.5, stops=True, straight=False, lowest=None, start=0.0,
             early=0, quarter=False):  # fmt: skip
    if step < warmup:
        return start * floor + (peak - start * floor) * (step + first) / warmup
    gone = step / steps if whole else (step - warmup) / max(steps - early - warmup, 1)
    gone = min(gone, 1.0) if stops else gone
    lowest = floor if lowest is None else lowest
    return lowest + (peak - lowest) * (
        1 - gone if straight else math.cos(math.pi / 2 * gone) if quarter else half * (1 + math.cos(math.pi * gone))
    )


def wrong(**changes):
    return lambda *inputs: schedule(*inputs, **changes)


def degrees(step, steps, peak, floor, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    gone = min((step - warmup) / max(steps - warmup, 1), 1.0)
    return floor + 0.5 * (peak - floor) * (1 + math.cos(180 * gone))


exercise = Exercise(
    title="Rise and sink",
    minutes=15,
    defines="warmup_cosine",
    target="course_lib.optim.warmup_cosine",
    given="import math",
    cases=cases,
    tolerance=1e-9,
    mistakes=[
        Mistake("Step 0 would take a step of length 0, and learn nothing. The first step takes the first part of the rise.",
                like=wrong(first=0)),
        Mistake("The way down begins where the warm-up ends: count its steps from there.", like=wrong(whole=True)),
        Mistake("1 + cos goes from 2 to 0. Half of it is the share that you need.", like=wrong(half=1.0)),
        Mistake("After the last step the rate stays at `floor`. Yours goes on along the cosine, up again.",
                like=wrong(stops=False)),
        Mistake("The rate sinks along a straight line. It should follow half a cosine.", like=wrong(straight=True)),
        Mistake("The way down ends at `floor`, not at 0.", like=wrong(lowest=0.0)),
        Mistake("math.cos counts in radians: half a turn is math.pi, not 180.", like=degrees),
        Mistake("With warmup = 0 there is no rise, and nothing to divide by it.",
                when=lambda seen: seen.label == "no warm-up" and seen.error.startswith("ZeroDivisionError")),
        Mistake("All steps can be warm-up: then the way down has no length, and nothing may be divided by it.",
                when=lambda seen: seen.label == "all steps are warm-up" and seen.error.startswith("ZeroDivisionError")),
        Mistake("The rise begins at 0, not at `floor`: step 0 takes peak / warmup.", like=wrong(start=1.0)),
        Mistake("`floor` would be reached at step `steps`, one behind the last. Yours is there at the last step already.",
                like=wrong(early=1)),
        Mistake("A quarter of a turn goes from 1 to 0, but falls steeply at the end. Asked for is half a cosine: (1 + cos(pi * "
                "share)) / 2.", like=wrong(quarter=True)),
    ],
    hints=(
        "Two cases: still in the warm-up, or after it. After it, first find which share of the way down is behind you, 0 to 1.",
        "The share is (step - warmup) / (steps - warmup), at most 1. (1 + cos(pi * share)) / 2 goes from 1 to 0.",
        "if step < warmup: return peak * (step + 1) / warmup. Else floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2, "
        "with share = min((step - warmup) / max(steps - warmup, 1), 1).",
    ),
    sibling='''def fade(sample, samples, loud):
    """The loudness of one sample of a sound that fades along a straight line, and is silent after the last."""
    share = min(sample / max(samples, 1), 1.0)
    return loud * (1 - share)
''',
    right=[
        """def warmup_cosine(step, steps, peak, floor, warmup):
    if warmup > step:
        return (step + 1) * (peak / warmup)
    if step >= steps:
        return floor
    angle = math.pi * (step - warmup) / (steps - warmup)
    return (peak + floor) / 2 + (peak - floor) / 2 * math.cos(angle)
""",
        """import numpy as np

def warmup_cosine(step, steps, peak, floor, warmup):
    rise = [peak * (i + 1) / warmup for i in range(warmup)]
    if step < len(rise):
        return rise[step]
    left = max(steps - step, 0) / (steps - warmup) if steps > warmup else step == warmup
    return floor + (peak - floor) * np.sin(np.pi / 2 * left) ** 2
""",
    ],
    wrong=[
        Wrong(Changed(("(step + 1) / warmup", "step / warmup")), "learn nothing"),
        Wrong(Changed(("(step - warmup) / max(steps - warmup, 1)", "step / steps")), "begins where the warm-up ends"),
        Wrong(Changed(("0.5 * (peak", "(peak")), "Half of it is the share"),
        Wrong("""def warmup_cosine(step, steps, peak, floor, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = (step - warmup) / max(steps - warmup, 1)
    return floor + 0.5 * (peak - floor) * (1 + math.cos(math.pi * progress))
""", "stays at `floor`"),
        Wrong(Changed(("0.5 * (peak - floor) * (1 + math.cos(math.pi * progress))", "(peak - floor) * (1 - progress)")),
              "along a straight line"),
        Wrong(Changed(("floor + 0.5 * (peak - floor)", "0.5 * peak")), "not at 0"),
        Wrong(Changed(("math.pi", "180")), "counts in radians"),
        Wrong("""def warmup_cosine(step, steps, peak, floor, warmup):
    rise = min(1, (step + 1) / warmup)
    progress = min(max(step - warmup, 0) / max(steps - warmup, 1), 1)
    return rise * (floor + 0.5 * (peak - floor) * (1 + math.cos(math.pi * progress)))
""", "With warmup = 0"),
        Wrong("""def warmup_cosine(step, steps, peak, floor, warmup):
    share = min((step - warmup) / (steps - warmup), 1)
    if step < warmup:
        return peak * (step + 1) / warmup
    return floor + 0.5 * (peak - floor) * (1 + math.cos(math.pi * share))
""", "All steps can be warm-up"),
        Wrong("""def warmup_cosine(step, steps, peak, floor, warmup):
    if step < warmup:
        return floor + (peak - floor) * (step + 1) / warmup
    t = min(1, (step - warmup) / max(1, steps - warmup))
    return floor + (peak - floor) * (1 + math.cos(t * math.pi)) / 2
""", "The rise begins at 0"),
        Wrong("""def warmup_cosine(step, steps, peak, floor, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    t = min(1, (step - warmup) / max(1, steps - 1 - warmup))
    return floor + (peak - floor) * (1 + math.cos(t * math.pi)) / 2
""", "one behind the last"),
        Wrong("""def warmup_cosine(step, steps, peak, floor, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    t = min(1, (step - warmup) / max(1, steps - warmup))
    return floor + (peak - floor) * math.cos(t * math.pi / 2)
""", "A quarter of a turn"),
    ],
)  # fmt: skip
