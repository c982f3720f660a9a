"""Find the fault: a split in the middle of a story leaks training data into the validation set."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

END = 0


def cases(random):
    def case(label, tokens, count, end=END):
        return Case(label, np.array(tokens, np.uint16), end, count)

    yield case("the split falls inside a story", [0, 5, 6, 0, 7, 8, 0], 2)
    yield case("the split falls on the start of a story", [0, 5, 6, 0, 7, 8, 0], 4)
    yield case("in the first of three stories", [0, 5, 6, 7, 0, 8, 0, 9, 0], 7)
    yield case("the last story is long", [0, 5, 0, 6, 7, 8, 9, 6, 0], 3)
    yield case("everything is held out", [0, 5, 6, 0], 4)
    yield case("stories between sevens", [7, 5, 0, 7, 8, 0, 9, 7], 2, 7)
    long = random.integers(1, 50, 400)
    long[np.sort(random.choice(np.arange(1, 399), 30, replace=False))] = END
    long[[0, -1]] = END
    yield case("thirty stories", long, 90)


def split(tokens, end, count):
    cut = np.flatnonzero(tokens[: len(tokens) - count + 1] == end)[-1]
    return tokens[:cut], tokens[cut:]


def check(result, tokens, end, count):
    if not isinstance(result, tuple | list) or len(result) != 2:
        return "Return two arrays: the training set and the validation set."
    return None


exercise = Exercise(
    title="Find the fault: a validation set that leaks",
    minutes=5,
    core=False,
    defines="hold_out",
    given="import numpy as np",
    cases=cases,
    results=("the training set", "the validation set"),
    reference=split,
    check=check,
    hints=(
        "In the first case, inside which story is the split, and where does that story begin?",
        "np.flatnonzero(tokens == end) gives all indices of the end token. Which is the last that is not after `index`?",
        "index = np.flatnonzero(tokens[: index + 1] == end)[-1], in one line after the first.",
    ),
    example='''def whole_sentences(text, length):
    """The end of a text, `length` characters long or a little more, that begins after a full stop."""
    start = len(text) - length
    return text[text.rfind(". ", 0, start) + 2 :] if ". " in text[: max(start, 0)] else text
''',
    wrong=[
        Wrong("""def hold_out(tokens, end, count):
    index = len(tokens) - count
    return tokens[:index], tokens[index:]
""", "A story is split in two: its beginning is in the training set, and its end in the validation set."),
        Wrong("""def hold_out(tokens, end, count):
    index = len(tokens) - count
    while tokens[index] != end:
        index += 1
    return tokens[:index], tokens[index:]
""",
              "You split at the next start of a story, so fewer than `count` tokens are held out. Split at the last start that "
              "is not after `index`."),
        Wrong(Changed(("== end)[-1]", "== end)[-1] + 1")),
              "The end token in front of a story belongs to it: split before that token, not after it."),
        Wrong("""def hold_out(tokens, end, count):
    index = len(tokens) - count
    start = np.flatnonzero(tokens[: index + 1] == end)[-1]
    return tokens[:index], tokens[start:]
""", "Some tokens are in both parts now: split both at the same index."),
        Wrong(Changed(("index + 1", "index")),
              "If a story starts at `index` itself, split there: `tokens[: index + 1]` includes it.",
              when=lambda seen: len(seen.got[1]) > len(seen.expected[1]) and seen.inputs[0][len(seen.inputs[0]) - seen.inputs[2]]
                  == seen.inputs[1], once="the only split on the start of a story"),
    ],
)  # fmt: skip
