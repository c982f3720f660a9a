"""The prompt mask: which targets of a row are scored."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

IGNORE = -1


def cases(random):
    yield Case("a prompt of 2, an answer of 2", [7, 5, 8, 0], 2, 3)
    yield Case("padding behind the answer", [7, 5, 8, 0], 2, 6)
    yield Case("an answer that is its end token alone", [7, 5, 9, 0], 3, 5)
    yield Case("a prompt of one token", [7, 5, 8, 0], 1, 4)
    yield Case("the row is full", [0, 7, 5, 9, 6, 8, 0], 3, 6)
    ids = random.integers(1, 90, 40).tolist()
    yield Case("a prompt of 25, an answer of 15", ids, 25, 64)


def right(ids, start, context):
    return np.array([ids[t + 1] if start <= t + 1 < len(ids) else IGNORE for t in range(context)])


exercise = Exercise(
    title="The prompt mask",
    minutes=5,
    core=False,
    defines="answer_targets",
    given="import numpy as np\nIGNORE = -1",
    cases=cases,
    reference=right,
    hints=(
        "In which column is the first token of the answer the target? The token before it stands there.",
        "The target in column t is ids[t + 1]. So ids[start] is the target in column start - 1, and the last one in column "
        "len(ids) - 2.",
        "targets[start - 1 : len(ids) - 1] = ids[start:].",
    ),
    example='''def next_but_one(ids, start):
    """Targets two tokens ahead, from token `start` on: the target in column t is ids[t + 2]; all others are IGNORE."""
    targets = np.full(len(ids), IGNORE)
    targets[start - 2 : len(ids) - 2] = ids[start:]
    return targets
''',
    wrong=[
        Wrong("""def answer_targets(ids, start, context):
    targets = np.full(context, IGNORE)
    targets[start : len(ids)] = ids[start:]
    return targets
""",
              "The two sides of the assignment differ in length. The len(ids) - start tokens of the answer belong in the columns "
              "from start - 1 to len(ids) - 2: the target in column t is ids[t + 1].",
              when=lambda seen: seen.error.startswith("ValueError") and "could not broadcast" in seen.error),
        Wrong("""def answer_targets(ids, start, context):
    targets = np.full(context + 1, IGNORE)
    targets[start : len(ids)] = ids[start:]
    return targets[:context]
""", "Each token stands one column too far to the right: the target in column t is the token that comes next, ids[t + 1]."),
        Wrong("""def answer_targets(ids, start, context):
    targets = np.full(context, IGNORE)
    targets[start : len(ids) - 1] = ids[start + 1 :]
    return targets
""", "The first token of the answer is not learned. It is the target in column start - 1, where the prompt's last token stands."),
        Wrong("""def answer_targets(ids, start, context):
    targets = np.full(context, IGNORE)
    targets[: len(ids) - 1] = ids[1:]
    return targets
""", "The prompt is learned too. In the columns before start - 1 the target is IGNORE."),
        Wrong("""def answer_targets(ids, start, context):
    targets = np.full(context, IGNORE)
    targets[start - 1 : len(ids) - 2] = ids[start:-1]
    return targets
""", "The last token, which ends the answer, is not learned. Then a model does not know when to stop."),
        Wrong(Changed(("np.full(context, IGNORE)", "np.zeros(context, int)")),
              "Targets that are not scored are IGNORE, -1. Yours are 0, which is a token."),
        Wrong("""def answer_targets(ids, start, context):
    targets = np.full(len(ids) - 1, IGNORE)
    targets[start - 1 :] = ids[start:]
    return targets
""", "The row has `context` targets, whatever the length of the conversation: IGNORE fills it up."),
    ],
)  # fmt: skip
