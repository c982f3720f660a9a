"""The learning rate of a step: a straight rise, then a straight line down."""

import math

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    yield Case("the first of two steps of warm-up", 0, 10, 1.0, 0.1, 2)
    yield Case("the last step of warm-up", 1, 10, 1.0, 0.1, 2)
    yield Case("the first step of the way down", 2, 10, 1.0, 0.1, 2)
    yield Case("half way down", 6, 10, 1.0, 0.1, 2)
    yield Case("a quarter of the way down", 4, 10, 1.0, 0.1, 2)
    yield Case("the last step", 9, 10, 1.0, 0.1, 2)
    yield Case("after the last step", 15, 10, 1.0, 0.1, 2)
    yield Case("no warm-up", 0, 10, 0.5, 0.05, 0)
    yield Case("all steps are warm-up", 4, 5, 0.5, 0.05, 5)
    for step in random.integers(0, 300, 5).tolist():
        yield Case(f"step {step} of 300", step, 300, 1e-2, 1e-3, 30)


def schedule(
    step, steps, peak, lowest, warmup, first=1, whole=False, stops=True, start=0.0, early=0, end=None, fall="line"
):
    if step < warmup:
        return start * lowest + (peak - start * lowest) * (step + first) / warmup
    gone = step / steps if whole else (step - warmup) / max(steps - early - warmup, 1)
    gone = min(gone, 1.0) if stops else gone
    end = lowest if end is None else end
    if fall == "line":
        return peak + (end - peak) * gone
    left = 0.5 * (1 + math.cos(math.pi * gone)) if fall == "cosine" else (1 - gone) ** 2
    return end + (peak - end) * left


def wrong(**changes):
    return lambda *inputs: schedule(*inputs, **changes)


exercise = Exercise(
    title="Warm up, then sink",
    minutes=12,
    defines="warmup_linear",
    target="course_lib.optim.warmup_linear",
    cases=cases,
    tolerance=1e-9,
    mistakes=[
        Mistake("Step 0 would take a step of length 0, and learn nothing. The first step takes the first part of the rise.",
                like=wrong(first=0)),
        Mistake("The way down begins where the warm-up ends: count its steps from there.", like=wrong(whole=True)),
        Mistake("After the last step the rate stays at `lowest`. Yours sinks on, below it.", like=wrong(stops=False)),
        Mistake("The rate sinks along half a cosine. It should follow a straight line.", like=wrong(fall="cosine")),
        Mistake("The rate sinks along a parabola. It should follow a straight line: the same step down each time.",
                like=wrong(fall="parabola")),
        Mistake("The way down ends at `lowest`, not at 0.", like=wrong(end=0.0)),
        Mistake("With warmup = 0 there is no rise, and nothing to divide by it.",
                when=lambda seen: seen.label == "no warm-up" and seen.error.startswith("ZeroDivisionError")),
        Mistake("All steps can be warm-up: then the way down has no length, and nothing may be divided by it.",
                when=lambda seen: seen.label == "all steps are warm-up" and seen.error.startswith("ZeroDivisionError")),
        Mistake("The rise begins at 0, not at `lowest`: step 0 takes peak / warmup.", like=wrong(start=1.0)),
        Mistake("`lowest` would be reached at step `steps`, one behind the last. Yours is there at the last step already.",
                like=wrong(early=1)),
    ],
    hints=(
        "Two cases: still in the warm-up, or after it. After it, first find which part of the way down is behind you, 0 to 1.",
        "The part is (step - warmup) / (steps - warmup), at most 1. At 0 the rate is `peak`, at 1 it is `lowest`.",
        "if step < warmup: return peak * (step + 1) / warmup. Else peak + (lowest - peak) * part, "
        "with part = min((step - warmup) / max(steps - warmup, 1), 1).",
    ),
    sibling='''def fade(sample, samples, loud):
    """The loudness of one sample of a sound that fades along a straight line, and is silent after the last."""
    part = min(sample / max(samples, 1), 1.0)
    return loud * (1 - part)
''',
    right=[
        """def warmup_linear(step, steps, peak, lowest, warmup):
    if warmup > step:
        return (step + 1) * (peak / warmup)
    if step >= steps:
        return lowest
    return (peak * (steps - step) + lowest * (step - warmup)) / (steps - warmup)
""",
        """import numpy as np

def warmup_linear(step, steps, peak, lowest, warmup):
    rise = [peak * (i + 1) / warmup for i in range(warmup)]
    rates = np.concatenate([rise, np.linspace(peak, lowest, steps - warmup + 1)])
    return float(rates[step]) if step < steps else lowest
""",
    ],
    wrong=[
        Wrong(Changed(("(step + 1) / warmup", "step / warmup")), "learn nothing"),
        Wrong(Changed(("(step - warmup) / max(steps - warmup, 1)", "step / steps")), "begins where the warm-up ends"),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak + (lowest - peak) * (step - warmup) / max(steps - warmup, 1)
""", "sinks on, below it"),
        Wrong("""import math

def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    t = min(1, (step - warmup) / max(1, steps - warmup))
    return lowest + (peak - lowest) * (1 + math.cos(t * math.pi)) / 2
""", "along half a cosine"),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    left = 1 - min(1, (step - warmup) / max(1, steps - warmup))
    return lowest + (peak - lowest) * left * left
""", "along a parabola"),
        Wrong(Changed(("(lowest - peak)", "-peak")), "not at 0"),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    rise = min(1, (step + 1) / warmup)
    progress = min(max(step - warmup, 0) / max(steps - warmup, 1), 1)
    return rise * (peak + (lowest - peak) * progress)
""", "With warmup = 0"),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    part = min((step - warmup) / (steps - warmup), 1)
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak + (lowest - peak) * part
""", "All steps can be warm-up"),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return lowest + (peak - lowest) * (step + 1) / warmup
    return peak + (lowest - peak) * min(1, (step - warmup) / max(1, steps - warmup))
""", "The rise begins at 0"),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    t = min(1, (step - warmup) / max(1, steps - 1 - warmup))
    return peak + (lowest - peak) * t
""", "one behind the last"),
    ],
)  # fmt: skip
