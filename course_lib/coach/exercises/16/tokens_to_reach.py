"""How many tokens a run had read when its validation loss first came near enough to the entropy floor."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def log(*pairs):
        return [{"step": step, "loss": 9.0} | ({} if val is None else {"val_loss": val}) for step, val in pairs]

    yield Case("reached at its only measurement", log((10, 1.5)), 1.0, 0.5, 256)
    yield Case("reached at the second measurement", log((10, 2.5), (20, 1.25)), 1.0, 0.5, 100)
    yield Case(
        "steps between, at which nothing was measured",
        log((10, 3.0), (15, None), (20, 1.25), (25, None)),
        1.0,
        0.5,
        100,
    )
    yield Case("reached, and then worse again", log((10, 1.25), (20, 1.75), (30, 1.125)), 1.0, 0.5, 100)
    yield Case("never reached", log((10, 2.5), (20, 2.25)), 1.0, 0.5, 100)
    yield Case("nothing was measured", log((10, None)), 1.0, 0.5, 100)
    yield Case("an empty log", [], 1.0, 0.5, 100)
    yield Case("a training loss that is lower", [{"step": 5, "loss": 1.0, "val_loss": 2.0},
                                               {"step": 6, "loss": 1.0, "val_loss": 1.0}], 1.0, 0.25, 8)  # fmt: skip
    yield Case(
        "a low training loss before anything was measured", [{"step": 5, "loss": 1.0}, *log((6, 1.0))], 1.0, 0.25, 8
    )
    yield Case("another floor", log((10, 1.25), (20, 1.0)), 0.5, 0.5, 100)
    yield Case("another gap", log((10, 1.25), (20, 1.125)), 1.0, 0.125, 100)
    yield Case("far below the floor", log((10, 3.0), (20, 0.25)), 1.0, 0.5, 100)
    yield Case("a loss of 0", log((10, 0.5), (20, 0.0)), 0.0, 0.0, 100)
    yield Case("good before the first step", log((0, 1.0), (10, 0.5)), 1.0, 0.0, 100)


def found(records, floor, gap, tokens_per_step):
    steps = [one["step"] for one in records if "val_loss" in one and one["val_loss"] <= floor + gap]
    return steps[0] * tokens_per_step if steps else None


exercise = Exercise(
    title="Tokens until good enough",
    minutes=10,
    defines="tokens_to_reach",
    cases=cases,
    reference=found,
    hints=(
        "Loop over the records from the first on, and return at the first that is near enough. What do you return after the "
        "loop?",
        "`\"val_loss\" in record` tells whether it was measured. Near enough: record[\"val_loss\"] <= floor + gap.",
        "for record in records: if \"val_loss\" in record and record[\"val_loss\"] <= floor + gap: return record[\"step\"] * "
        "tokens_per_step. After the loop, return None.",
    ),
    example='''def first_frost(days):
    """The number of the first day whose night was at or below 0 degrees, None if there was none; nights may be missing."""
    for day in days:
        if day.get("night") is not None and day["night"] <= 0:
            return day["number"]
    return None
''',
    wrong=[
        Wrong("""def tokens_to_reach(records, floor, gap, tokens_per_step):
    tokens = None
    for record in records:
        if "val_loss" in record and record["val_loss"] <= floor + gap:
            tokens = record["step"] * tokens_per_step
    return tokens
""", "A later measurement is returned, though an earlier one was near enough. Return the first."),
        Wrong(Changed(("<= floor + gap", "< floor + gap")), "A loss that is exactly `gap` above the floor is near enough."),
        Wrong(Changed(('"val_loss" in record and record["val_loss"]', 'record["loss"]')),
              "You read `loss`, the training loss of one batch. Compare `val_loss`."),
        Wrong(Changed(("floor + gap", "gap")), "`gap` is the distance from the floor: compare with floor + gap."),
        Wrong(Changed((' * tokens_per_step', '')),
              "This is a number of steps. Return tokens: each step reads `tokens_per_step`."),
        Wrong(Changed(('"val_loss" in record and ', '')), "Not every record has a `val_loss`. Skip those that have none.",
              when=lambda seen: seen.error.startswith("KeyError") and "val_loss" in seen.error),
        Wrong("""def tokens_to_reach(records, floor, gap, tokens_per_step):
    for r in records:
        if r.get("val_loss", 99) <= floor + gap:
            return r["step"] * tokens_per_step
    return 0
""", "For a run that was never good enough, return None. 0 would mean that it was good before it began."),
        Wrong("""def tokens_to_reach(records, floor, gap, tokens_per_step):
    for i, r in enumerate(records):
        if r.get("val_loss", 99) <= floor + gap:
            return (i + 1) * tokens_per_step
""", 'You count records. Each of them holds its number of steps, under "step".'),
    ],
)  # fmt: skip
