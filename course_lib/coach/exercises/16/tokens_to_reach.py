"""How much a run had read when it first came near enough to its floor."""

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


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
    yield Case("reached, and lost again", log((10, 1.25), (20, 1.75), (30, 1.125)), 1.0, 0.5, 100)
    yield Case("never reached", log((10, 2.5), (20, 2.25)), 1.0, 0.5, 100)
    yield Case("nothing was measured", log((10, None)), 1.0, 0.5, 100)
    yield Case("an empty log", [], 1.0, 0.5, 100)
    yield Case("a training loss that is lower", [{"step": 5, "loss": 1.0, "val_loss": 2.0},
                                               {"step": 6, "loss": 1.0, "val_loss": 1.0}], 1.0, 0.25, 8)  # fmt: skip


def found(records, floor, gap, tokens_per_step, last=False, strict=False, key="val_loss", own_floor=True, tokens=True):
    limit = floor + gap if own_floor else gap
    steps = [one["step"] for one in records if key in one and (one[key] < limit if strict else one[key] <= limit)]
    return None if not steps else steps[-1 if last else 0] * (tokens_per_step if tokens else 1)


def wrong(**changes):
    return lambda *inputs: found(*inputs, **changes)


exercise = Exercise(
    title="Tokens until good enough",
    minutes=10,
    defines="tokens_to_reach",
    cases=cases,
    reference=found,
    mistakes=[
        Mistake("You give the last measurement that is near enough. The first one says how long it took.", like=wrong(last=True)),
        Mistake("A loss that is exactly `gap` above the floor is near enough.", like=wrong(strict=True)),
        Mistake("You read `loss`, of the batch that is just trained on. Compare `val_loss`.", like=wrong(key="loss")),
        Mistake("`gap` is counted from the floor: compare with floor + gap.", like=wrong(own_floor=False)),
        Mistake("These are steps. Tokens are asked for: each step reads `tokens_per_step`.", like=wrong(tokens=False)),
        Mistake("Not every record has a `val_loss`. Skip those that have none.",
                when=lambda seen: seen.error.startswith("KeyError") and "val_loss" in seen.error),
        Mistake("A run that was never good enough gives None. 0 would mean that it was good before it began.",
                like=lambda *inputs: found(*inputs) or 0),
        Mistake("You count records. The number of steps stands in each of them, under \"step\".",
                like=lambda records, floor, gap, each: next(
                    ((i + 1) * each for i, r in enumerate(records) if r.get("val_loss", 99.0) <= floor + gap), None)),
    ],
    hints=(
        "Go through the records from the first on, and return at the first that is near enough. What is left to say at the end?",
        "`\"val_loss\" in record` tells whether it was measured. Near enough: record[\"val_loss\"] <= floor + gap.",
        "for record in records: if \"val_loss\" in record and record[\"val_loss\"] <= floor + gap: return record[\"step\"] * "
        "tokens_per_step. After the loop, return None.",
    ),
    sibling='''def first_frost(days):
    """The number of the first day whose night was at or below 0 degrees, None if there was none; nights may be missing."""
    for day in days:
        if day.get("night") is not None and day["night"] <= 0:
            return day["number"]
    return None
''',
    right=[
        """def tokens_to_reach(records, floor, gap, tokens_per_step):
    steps = (r["step"] for r in records if r.get("val_loss", float("inf")) - floor <= gap)
    first = next(steps, None)
    return None if first is None else first * tokens_per_step
""",
        """def tokens_to_reach(records, floor, gap, tokens_per_step):
    answer = None
    for record in reversed(records):
        if "val_loss" in record and not record["val_loss"] > floor + gap:
            answer = tokens_per_step * record["step"]
    return answer
""",
    ],
    wrong=[
        Wrong("""def tokens_to_reach(records, floor, gap, tokens_per_step):
    tokens = None
    for record in records:
        if "val_loss" in record and record["val_loss"] <= floor + gap:
            tokens = record["step"] * tokens_per_step
    return tokens
""", "The first one says how long"),
        Wrong(Changed(("<= floor + gap", "< floor + gap")), "is near enough"),
        Wrong(Changed(('"val_loss" in record and record["val_loss"]', 'record["loss"]')), "Compare `val_loss`"),
        Wrong(Changed(("floor + gap", "gap")), "compare with floor + gap"),
        Wrong(Changed((' * tokens_per_step', '')), "These are steps"),
        Wrong(Changed(('"val_loss" in record and ', '')), "Skip those that have none"),
        Wrong("""def tokens_to_reach(records, floor, gap, tokens_per_step):
    for r in records:
        if r.get("val_loss", 99) <= floor + gap:
            return r["step"] * tokens_per_step
    return 0
""", "gives None"),
        Wrong("""def tokens_to_reach(records, floor, gap, tokens_per_step):
    for i, r in enumerate(records):
        if r.get("val_loss", 99) <= floor + gap:
            return (i + 1) * tokens_per_step
""", "You count records"),
    ],
)  # fmt: skip
