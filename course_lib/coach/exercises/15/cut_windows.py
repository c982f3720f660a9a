"""Windows of T tokens, and the targets one token later."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def case(label, tokens, starts, context):
        return Case(label, np.array(tokens, np.uint16), np.array(starts), context)

    yield case("one window from the beginning", [5, 6, 7, 8], [0], 2)
    yield case("one window from the middle", [5, 6, 7, 8], [1], 2)
    yield case("two windows that overlap", [5, 6, 7, 8, 9], [2, 1], 2)
    yield case("windows of one token", [5, 6, 7], [1, 0], 1)
    yield case("the same window twice", [5, 6, 7, 8, 9], [0, 0], 2)
    yield case("one window is the whole text", [9, 8, 7, 6], [0], 3)
    yield Case("64 windows of 32 tokens", random.integers(0, 60000, 3000).astype(np.uint16),
               random.integers(0, 2968, 64), 32)  # fmt: skip


def check(result, tokens, starts, context):
    if not isinstance(result, tuple | list) or len(result) != 2:
        return "Return two arrays: `idx` and `targets`."
    for name, array in zip(("idx", "targets"), result, strict=True):
        if not isinstance(array, np.ndarray):
            return f"`{name}` is a {type(array).__name__}; it must be a NumPy array."
        if array.dtype != np.int32:
            return f"`{name}` has the dtype {array.dtype}. The devices need int32: use astype(np.int32)."
    return None


exercise = Exercise(
    title="Cut the windows",
    minutes=10,
    defines="cut",
    target="course_lib.data.windows.cut",
    given="import numpy as np\nfrom course_lib.data.windows import Batch",
    cases=cases,
    results=("idx", "targets"),
    check=check,
    hints=(
        "One window needs context + 1 tokens. Which of them does the model read, and which are targets?",
        "For one start s: row = tokens[s : s + context + 1]; row[:-1] is the input, row[1:] the targets. Now all rows at once.",
        "tokens[starts[:, None] + np.arange(context + 1)] is (B, T + 1). idx is without its last column, targets without its "
        "first; both np.int32.",
    ),
    example='''def pairs_apart(numbers, starts, distance):
    """From each start: the number there, and the one `distance` later. Two arrays (B,)."""
    indices = starts[:, None] + np.array([0, distance])  # (B, 2)
    return numbers[indices][:, 0], numbers[indices][:, 1]
''',
    wrong=[
        Wrong(Changed(("np.ascontiguousarray(rows[:, 1:])", "np.ascontiguousarray(rows[:, :-1])")),
              "The targets are the window itself: such a model learns to repeat its input. A target is one token later."),
        Wrong("""def cut(tokens, starts, context):
    rows = tokens[starts[:, None] + np.arange(context + 1)].astype(np.int32)
    return rows[:, 1:], rows[:, :-1]
""", "The targets are one token *before* the inputs. A target is the token that comes next."),
        Wrong("""def cut(tokens, starts, context):
    idx = tokens[starts[:, None] + np.arange(context)].astype(np.int32)
    return idx, np.roll(idx, -1, axis=1)
""", "The last target of a window is the token after the window, not the window's first one."),
        Wrong("""def cut(tokens, starts, context):
    rows = np.array([tokens[i * context : (i + 1) * context + 1] for i in range(len(starts))], np.int32)
    return rows[:, :-1], rows[:, 1:]
""", "The windows do not begin at `starts`: yours follow each other from the beginning of the text."),
        Wrong(Changed((".astype(np.int32)", "")), generic="The devices need int32"),
        Wrong(Changed(("return np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, 1:])", "return rows")),
              generic="expected a tuple"),
        Wrong("""def cut(tokens, starts, context):
    idx = np.stack([tokens[s * context : (s + 1) * context] for s in starts]).astype(np.int32)
    targets = np.stack([tokens[s * context + 1 : (s + 1) * context + 1] for s in starts]).astype(np.int32)
    return idx, targets
""", "`starts` are taken for the numbers of windows, start * context. They are indices of tokens: a window begins at its start."),
    ],
)  # fmt: skip
