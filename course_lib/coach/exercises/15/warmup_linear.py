"""The learning rate of a step: linear warm-up, then linear decay."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the first of two steps of warm-up", 0, 10, 1.0, 0.1, 2)
    yield Case("the last step of warm-up", 1, 10, 1.0, 0.1, 2)
    yield Case("the first step of the decay", 2, 10, 1.0, 0.1, 2)
    yield Case("half of the decay", 6, 10, 1.0, 0.1, 2)
    yield Case("a quarter of the decay", 4, 10, 1.0, 0.1, 2)
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
        "Two cases: still in the warm-up, or after it. After it, first compute which fraction of the decay is done, 0 to 1.",
        "The fraction is (step - warmup) / (steps - warmup), at most 1. At 0 the rate is `peak`, at 1 it is `lowest`.",
        "if step < warmup: return peak * (step + 1) / warmup. Otherwise peak + (lowest - peak) * fraction, with fraction = "
        "min((step - warmup) / max(steps - warmup, 1), 1).",
    ),
    example='''def fade(sample, samples, loud):
    """The loudness of one sample of a sound that fades out linearly, and is silent after the last."""
    fraction = min(sample / max(samples, 1), 1.0)
    return loud * (1 - fraction)
''',
    wrong=[
        Wrong(Changed(("(step + 1) / warmup", "step / warmup")),
              "In step 0 the rate would be 0, and nothing would be learned. The first step takes the first part of the rise.",
              when=lambda seen: seen.got == (lambda step, _, peak, lowest, warmup: peak * step / warmup)(*seen.inputs)
                  if seen.inputs[0] < seen.inputs[4] else None),
        Wrong(Changed(("(step - warmup) / max(steps - warmup, 1)", "step / steps")),
              "The decay begins where the warm-up ends: count its steps from there."),
        Wrong(Changed(("max(steps - warmup, 1)", "max(steps, 1)")),
              "The decay has steps - warmup steps, not all of them: yours is not done at step `steps`."),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak + (lowest - peak) * (step - warmup) / max(steps - warmup, 1)
""", "After the last step the rate stays at `lowest`. Yours decays further, below it."),
        Wrong("""import math

def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    t = min(1, (step - warmup) / max(1, steps - warmup))
    return lowest + (peak - lowest) * (1 + math.cos(t * math.pi)) / 2
""", "This is cosine decay. The decay must be linear."),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    left = 1 - min(1, (step - warmup) / max(1, steps - warmup))
    return lowest + (peak - lowest) * left * left
""", "The rate decays along a parabola. The decay must be linear: the same amount at each step."),
        Wrong(Changed(("(lowest - peak)", "-peak")), "The decay ends at `lowest`, not at 0."),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    return max(lowest, peak * (steps - step) / max(steps - warmup, 1))
""", "Your decay goes to 0 and stops at `lowest` on its way. It must be one line from `peak` to `lowest`, reached at the end."),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    rise = min(1, (step + 1) / warmup)
    progress = min(max(step - warmup, 0) / max(steps - warmup, 1), 1)
    return rise * (peak + (lowest - peak) * progress)
""", "With warmup = 0 there is no rise: do not divide by it.",
              when=lambda seen: seen.label == "no warm-up" and seen.error.startswith("ZeroDivisionError")),
        Wrong("""def warmup_linear(step, steps, peak, lowest, warmup):
    part = min((step - warmup) / (steps - warmup), 1)
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak + (lowest - peak) * part
""", "All steps can be warm-up: then the decay has no steps, and you must not divide by their number.",
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
""", "`lowest` would be reached at step `steps`, one after the last. Yours reaches it at the last step."),
    ],
)  # fmt: skip
