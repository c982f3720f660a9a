"""Which records of a log are kept when a run that was killed resumes from its checkpoint."""

import json

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def log(*records):
        return "".join(json.dumps(record) + "\n" for record in records)

    one, two, three = ({"step": step, "loss": loss} for step, loss in ((10, 3.5), (20, 2.5), (30, 1.5)))
    yield Case("all records are kept", log(one, two), 20)
    yield Case("steps after the checkpoint", log(one, two, three), 20)
    yield Case("the last line is incomplete", log(one, two) + '{"step": 30, "lo', 40)
    yield Case("the checkpoint lies between two lines", log(one, two, three), 25)
    yield Case("a checkpoint before the first line", log(one, two), 5)
    yield Case("an empty log", "", 10)
    yield Case("only an incomplete line", '{"st', 10)
    yield Case("an empty line at the end", log(one) + "\n", 10)
    yield Case("the disk was full: zeros after the last line", log(one, two) + "\0\0\0\0", 20)
    yield Case("records after an incomplete line", log(one) + '{"step": 1' + log(two, three), 30)
    yield Case("a record with more keys", log(one, {**two, "val_loss": 2.25, "lr": 1e-3}), 20)


def kept(text, step):
    found = []
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            break
        if record["step"] <= step:
            found.append(record)
    return found


exercise = Exercise(
    title="A log that survives",
    minutes=15,
    defines="resume_records",
    given="import json",
    cases=cases,
    reference=kept,
    hints=(
        "Loop over text.splitlines() from the first line on. What ends the loop, and what leaves a record out?",
        "try: record = json.loads(line), and except ValueError: break. Then one comparison of record[\"step\"].",
        "kept = []; for line in text.splitlines(): try/except as before; if record[\"step\"] <= step: kept.append(record). "
        "Return kept.",
    ),
    example='''def whole_numbers(text):
    """The numbers of a text, one for each line, up to the first line that is not a number."""
    found = []
    for line in text.splitlines():
        try:
            found.append(int(line))
        except ValueError:
            break
    return found
''',
    wrong=[
        Wrong(Changed(('if record["step"] <= step:', "if record:")),
              "The steps after the checkpoint will be run again: leave out their old records."),
        Wrong(Changed(("<= step", "< step")), "The checkpoint's own step is complete: keep its record."),
        Wrong(Changed(("break", "continue")),
              "You continue after a line that cannot be read. What follows it cannot be trusted: stop there."),
        Wrong("""def resume_records(text, step):
    return [r for r in map(json.loads, text.splitlines()) if r["step"] <= step]
""", "json.loads raises json.JSONDecodeError, a ValueError, at an incomplete line. Catch it, and stop there.",
              when=lambda seen: "JSONDecodeError" in seen.error),
        Wrong("""def resume_records(text, step):
    found = []
    for line in text.splitlines()[:-1]:
        try:
            record = json.loads(line)
        except ValueError:
            break
        if record["step"] <= step:
            found.append(record)
    return found
""", generic="lacks its last entry"),
    ],
)  # fmt: skip
