"""A planted leak: a split that cuts a story in two."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

END = 0


def cases(random):
    def case(label, tokens, count):
        return Case(label, np.array(tokens, np.uint16), END, count)

    yield case("the place lies inside a story", [0, 5, 6, 0, 7, 8, 0], 2)
    yield case("the place is the start of a story", [0, 5, 6, 0, 7, 8, 0], 4)
    yield case("in the first of three stories", [0, 5, 6, 7, 0, 8, 0, 9, 0], 7)
    yield case("the last story is long", [0, 5, 0, 6, 7, 8, 9, 6, 0], 3)
    yield case("everything is held back", [0, 5, 6, 0], 4)
    long = random.integers(1, 50, 400)
    long[np.sort(random.choice(np.arange(1, 399), 30, replace=False))] = END
    long[[0, -1]] = END
    yield case("thirty stories", long, 90)


def split(tokens, end, count):
    cut = np.flatnonzero(tokens[: len(tokens) - count + 1] == end)[-1]
    return tokens[:cut], tokens[cut:]


def check(result, tokens, end, count):
    if not isinstance(result, tuple | list) or len(result) != 2:
        return "Two arrays are asked for: the tokens to train on, and those that are held back."
    return None


exercise = Exercise(
    title="Find the fault: a validation set that leaks",
    minutes=5,
    core=False,
    defines="hold_back",
    given="import numpy as np",
    cases=cases,
    results=("the first part", "the second part"),
    reference=split,
    check=check,
    hints=(
        "Look at the first case: which story does the place lie in, and where does that story begin?",
        "np.flatnonzero(tokens == end) gives all places of the end token. Which is the last that is not behind `place`?",
        "place = np.flatnonzero(tokens[: place + 1] == end)[-1], in one line behind the first.",
    ),
    sibling='''def whole_sentences(text, letters):
    """The end of a text, `letters` long or a little more, that begins behind a full stop."""
    place = len(text) - letters
    return text[text.rfind(". ", 0, place) + 2 :]
''',
    wrong=[
        Wrong("""def hold_back(tokens, end, count):
    place = len(tokens) - count
    return tokens[:place], tokens[place:]
""", "A story is cut in two: its first half is trained on, and its second half is in the test."),
        Wrong("""def hold_back(tokens, end, count):
    place = len(tokens) - count
    while tokens[place] != end:
        place += 1
    return tokens[:place], tokens[place:]
""", "You cut at the next start, so fewer tokens are held back than asked for. Cut at the start before the place."),
        Wrong(Changed(("== end)[-1]", "== end)[-1] + 1")),
              "The end token before a story is its start, and belongs to it: cut before that token, not behind it."),
        Wrong("""def hold_back(tokens, end, count):
    place = len(tokens) - count
    start = np.flatnonzero(tokens[: place + 1] == end)[-1]
    return tokens[:place], tokens[start:]
""", "The tokens between the two places are in both parts now: cut both at the same place."),
        Wrong(Changed(("place + 1", "place")),
              "Where `place` itself is a start, it is the place to cut: `tokens[: place + 1]` holds it.",
              when=lambda seen: seen.label == "the place is the start of a story" and len(seen.got[1]) > len(seen.expected[1])),
    ],
)  # fmt: skip
