"""The learning rate of a step: a straight rise, then a straight line down."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


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


exercise = Exercise(
    title="Warm up, then decay",
    minutes=12,
    defines="warmup_linear",
    target="course_lib.optim.warmup_linear",
    cases=cases,
    tolerance=1e-9,
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
    wrong=[
        Wrong(Changed(("(step + 1) / warmup", "step / warmup")),
              "Step 0 would take a step of length 0, and learn nothing. The first step takes the first part of the rise."),
        Wrong(Changed(("(step - warmup) / max(steps - warmup, 1)", "step / steps")),
              "The way down begins where the warm-up ends: count its steps from there."),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak + (lowest - peak) * (step - warmup) / max(steps - warmup, 1)
""", "After the last step the rate stays at `lowest`. Yours sinks on, below it."),
        Wrong("""import math

def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    t = min(1, (step - warmup) / max(1, steps - warmup))
    return lowest + (peak - lowest) * (1 + math.cos(t * math.pi)) / 2
""", "The rate sinks along half a cosine. It should follow a straight line."),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    left = 1 - min(1, (step - warmup) / max(1, steps - warmup))
    return lowest + (peak - lowest) * left * left
""", "The rate sinks along a parabola. It should follow a straight line: the same step down each time."),
        Wrong(Changed(("(lowest - peak)", "-peak")), "The way down ends at `lowest`, not at 0."),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    rise = min(1, (step + 1) / warmup)
    progress = min(max(step - warmup, 0) / max(steps - warmup, 1), 1)
    return rise * (peak + (lowest - peak) * progress)
""", "With warmup = 0 there is no rise, and nothing to divide by it.",
              when=lambda seen: seen.label == "no warm-up" and seen.error.startswith("ZeroDivisionError")),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    part = min((step - warmup) / (steps - warmup), 1)
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak + (lowest - peak) * part
""", "All steps can be warm-up: then the way down has no length, and nothing may be divided by it.",
              when=lambda seen: seen.label == "all steps are warm-up" and seen.error.startswith("ZeroDivisionError")),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return lowest + (peak - lowest) * (step + 1) / warmup
    return peak + (lowest - peak) * min(1, (step - warmup) / max(1, steps - warmup))
""", "The rise begins at 0, not at `lowest`: step 0 takes peak / warmup."),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    t = min(1, (step - warmup) / max(1, steps - 1 - warmup))
    return peak + (lowest - peak) * t
""", "`lowest` would be reached at step `steps`, one behind the last. Yours is there at the last step already."),
    ],
)  # fmt: skip
