"""Three faults of a training run, diagnosed from its losses."""

import math

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def falling(end, steps, noise=0.0):
        clean = [end + (6.9 - end) * math.exp(-6 * step / steps) for step in range(steps)]
        return [round(loss + noise * number, 3) for loss, number in zip(clean, random.normal(size=steps), strict=True)]

    yield Case("healthy, in four steps", [6.9, 4.0, 2.0, 1.5], 6.9, 0.3)
    yield Case("one step, at the loss of guessing", [6.9], 6.9, 0.3)
    yield Case("below the floor at the end", [6.9, 3.0, 0.2], 6.9, 0.3)
    yield Case("a spike far above guessing", [6.9, 9.5, 4.0, 2.0], 6.9, 0.3)
    yield Case("not a number", [6.9, 4.0, math.nan, math.nan], 6.9, 0.3)
    yield Case("infinite", [6.9, math.inf, 4.0, 3.0], 6.9, 0.3)
    yield Case("minus infinity", [6.9, -math.inf, 4.0, 3.0], 6.9, 0.3)
    yield Case("exploded first, below the floor later", [8.5, 2.0, 0.1], 6.9, 0.3)
    yield Case("one lucky batch below the floor", [*falling(1.2, 39), 0.2], 6.9, 0.3)
    yield Case("below the floor once, long ago", [6.9, 0.1, *falling(1.5, 38)], 6.9, 0.3)
    yield Case("a little below guessing", [6.9, 6.8, 6.7, 6.6, 6.5], 6.9, 0.3)
    yield Case("15 steps, of which a tenth is one", [*falling(1.0, 14), 0.2], 6.9, 0.3)
    yield Case("a small vocabulary", [2.1, 1.9, 1.2, 0.9], 2.08, 0.5)
    yield Case("a small vocabulary, and nothing is learned", [2.1, 2.0, 1.9, 1.8], 2.08, 0.5)
    yield Case("a small vocabulary, exploded", [2.1, 3.5, 1.2, 0.9], 2.08, 0.5)
    yield Case("a high floor", [6.9, 3.0, 0.4], 6.9, 0.5)
    yield Case("exactly 1 above guessing", [2.0, 3.0, 1.25, 1.0], 2.0, 0.5)
    yield Case("the end is exactly the floor", [2.0, 1.25, 0.5], 2.0, 0.5)
    yield Case("the end is exactly 0.5 below guessing", [2.0, 1.75, 1.5], 2.0, 0.5)
    yield Case("the end is a little more than 0.5 below guessing", [2.0, 1.75, 1.25], 2.0, 0.5)
    yield Case("20 steps, of which a tenth is two", [*falling(1.2, 18), 0.6, 0.1], 6.9, 0.3)
    yield Case("300 healthy steps", falling(1.4, 300, 0.1), 6.93, 0.26)
    yield Case("300 steps that read their targets", falling(0.02, 300, 0.01), 6.93, 0.26)
    yield Case(
        "300 steps that fluctuate around guessing", [6.93 + 0.4 * x for x in random.uniform(-1, 1, 300)], 6.93, 0.26
    )


def diagnosis(losses, guessing, floor):
    if any(loss > guessing + 1 or not math.isfinite(loss) for loss in losses):
        return "exploded"
    tail = losses[-max(len(losses) // 10, 1) :]
    end = sum(tail) / len(tail)
    return "saw the answers" if end < floor else "learns nothing" if end > guessing - 0.5 else "healthy"


exercise = Exercise(
    title="Three faulty runs",
    minutes=10,
    core=False,
    defines="diagnose_curves",
    given="import math",
    cases=cases,
    reference=diagnosis,
    hints=(
        "Three questions, one after the other: was any loss too large? is the end too low? is the end too high?",
        "`losses[-n:]` are the last n. With 5 losses, len(losses) // 10 is 0: take at least one. nan is never larger than "
        "anything.",
        "if any(not math.isfinite(x) or x > guessing + 1 for x in losses): ...; tail = losses[-max(len(losses) // 10, 1):]; "
        "end = sum(tail) / len(tail); then compare end with floor and with guessing - 0.5.",
    ),
    example='''def weather(readings, boiling, freezing):
    """A diagnosis for a day of temperatures: the first that fits."""
    if any(not math.isfinite(reading) or reading > boiling for reading in readings):
        return "thermometer broken"
    evening = sum(readings[-2:]) / len(readings[-2:])
    return "frost tonight" if evening < freezing else "mild"
''',
    wrong=[
        Wrong(Changed(("not math.isfinite(loss) or ", "")),
              "nan is neither larger nor smaller than any number: `nan > limit` is False. Use math.isfinite."),
        Wrong(Changed(("end = sum(tail) / len(tail)", "end = losses[-1]")),
              "One batch can be lucky. Use the mean of the last tenth, not the last loss alone."),
        Wrong(Changed(("if end < floor", "if min(losses) < floor")),
              "Only the end shows whether a run saw the answers (data leakage). You use the smallest loss of all."),
        Wrong(Changed(("-max(len(losses) // 10, 1)", "-(len(losses) // 10)")),
              "`losses[-0:]` is the whole list, not its last loss. With fewer than ten losses, take one."),
        Wrong(Changed(("-max(len(losses) // 10, 1)", "-len(losses) // 10")),
              "-15 // 10 is -2: it rounds down, so you take two of 15 losses. Take max(len(losses) // 10, 1) of them."),
        Wrong(Changed(("end = sum(tail) / len(tail)", "end = sum(losses) / len(losses)")),
              "You use the mean of all losses. Use the mean of the last tenth."),
        Wrong("""def diagnose_curves(losses, guessing, floor):
    tail = losses[-max(len(losses) // 10, 1):]
    end = sum(tail) / len(tail)
    if end < floor:
        return "saw the answers"
    if any(not math.isfinite(loss) or loss > guessing + 1 for loss in losses):
        return "exploded"
    return "learns nothing" if end > guessing - 0.5 else "healthy"
""", "The first word that fits counts: a run that exploded has exploded, whatever came later."),
        Wrong(Changed(("guessing + 1", "guessing")),
              "A loss less than 1 above guessing is not an explosion: compare with guessing + 1."),
        Wrong(Changed(("guessing - 0.5", "guessing")),
              "A run that ends less than half a nat below guessing learns nothing: compare with guessing - 0.5."),
    ],
)  # fmt: skip
