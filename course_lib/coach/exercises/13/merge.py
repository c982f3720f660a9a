"""One merge in one word, from the left, no symbol used twice."""

from course_lib import bpe
from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    yield Case("the pair alone", [1, 2], (1, 2), 9)
    yield Case("the pair between others", [5, 1, 2, 6], (1, 2), 9)
    yield Case("three equal symbols in a row", [7, 7, 7], (7, 7), 9)
    yield Case("the pair comes twice, and half of it at the end", [1, 2, 1, 2, 1], (1, 2), 9)
    yield Case("the two stand in the other order", [2, 1], (1, 2), 9)
    yield Case("the left one repeated", [1, 1, 2], (1, 2), 9)
    yield Case("four equal symbols", [7, 7, 7, 7], (7, 7), 9)
    yield Case("the new symbol makes a pair of the old kind", [1, 1, 1, 1], (1, 1), 1)
    yield Case("one symbol", [1], (1, 2), 9)
    yield Case("an empty word", [], (1, 2), 9)
    yield Case("a long word of three symbols", random.integers(97, 100, 200).tolist(), (97, 98), 256)


def first_only(word, pair, symbol):
    for i in range(len(word) - 1):
        if (word[i], word[i + 1]) == pair:
            return [*word[:i], symbol, *word[i + 2 :]]
    return list(word)


def overlapping(word, pair, symbol):
    merged, used = [], False
    for i, value in enumerate(word):
        if i + 1 < len(word) and (value, word[i + 1]) == pair:
            merged.append(symbol)
            used = True
        else:
            if not used:
                merged.append(value)
            used = False
    return merged


def last_lost(word, pair, symbol):
    merged, i = [], 0
    while i < len(word) - 1:
        found = (word[i], word[i + 1]) == pair
        merged.append(symbol if found else word[i])
        i += 2 if found else 1
    return merged


def right_lost_never(word, pair, symbol):
    return [symbol if i + 1 < len(word) and (v, word[i + 1]) == pair else v for i, v in enumerate(word)]


def from_the_right(word, pair, symbol):
    return bpe.merge(list(word)[::-1], pair[::-1], symbol)[::-1]


exercise = Exercise(
    title="One merge",
    minutes=10,
    defines="merge",
    target="course_lib.bpe.merge",
    given="from course_lib.bpe import Pair",
    cases=cases,
    mistakes=[
        Mistake("Only the first pair is replaced. Go on behind it to the end of the word.", like=first_only),
        Mistake("A symbol is used for two pairs. Once a pair is replaced, go on two places to the right.", like=overlapping),
        Mistake("The last symbol gets lost if no pair ends there: it has no right neighbour, and still belongs to the word.",
                like=last_lost),
        Mistake("The left one of the pair is replaced, and the right one stays. The new symbol stands for both.",
                like=right_lost_never),
        Mistake("You begin at the right end. Of three equal symbols in a row, the first two are the pair.",
                like=from_the_right),
    ],
    hints=(
        "Walk along the word with a place i that you move yourself. A `for` loop always moves by one.",
        "At place i: if word[i] and word[i + 1] are the pair, note the symbol and go two places on. Else note word[i] and go "
        "one on.",
        "`while i < len(word):` and the question `if i + 1 < len(word) and (word[i], word[i + 1]) == pair:`. Return the new "
        "list.",
    ),
    sibling='''def without_doubles(word):
    """The same walk: two equal neighbours become one, and the walk goes on behind both."""
    kept, i = [], 0
    while i < len(word):
        kept.append(word[i])
        i += 2 if i + 1 < len(word) and word[i] == word[i + 1] else 1
    return kept
''',
    right=[
        """def merge(word, pair, symbol):
    merged = []
    skip = False
    for i, value in enumerate(word):
        if skip:
            skip = False
        elif tuple(word[i:i + 2]) == tuple(pair):
            merged.append(symbol)
            skip = True
        else:
            merged.append(value)
    return merged
""",
        """def merge(word, pair, symbol):
    word = list(word)
    i = 0
    while i < len(word) - 1:
        if word[i] == pair[0] and word[i + 1] == pair[1]:
            word[i:i + 2] = [symbol]
        i += 1
    return word
""",
        """def merge(word, pair, symbol):
    if len(word) < 2:
        return list(word)
    if (word[0], word[1]) == pair:
        return [symbol] + merge(word[2:], pair, symbol)
    return [word[0]] + merge(word[1:], pair, symbol)
""",
    ],
    wrong=[
        Wrong("""def merge(word, pair, symbol):
    word = list(word)
    for i in range(len(word) - 1):
        if word[i] == pair[0] and word[i + 1] == pair[1]:
            return word[:i] + [symbol] + word[i + 2:]
    return word
""", "Only the first pair is replaced"),
        Wrong("""def merge(word, pair, symbol):
    merged, after = [], False
    for i in range(len(word)):
        if i < len(word) - 1 and word[i] == pair[0] and word[i + 1] == pair[1]:
            merged.append(symbol)
            after = True
        elif after:
            after = False
        else:
            merged.append(word[i])
    return merged
""", "A symbol is used for two pairs"),
        Wrong(Changed(("while i <= last", "while i < last")), "The last symbol gets lost"),
        Wrong("""def merge(word, pair, symbol):
    merged = []
    for i in range(len(word)):
        if i < len(word) - 1 and (word[i], word[i + 1]) == pair:
            merged.append(symbol)
        else:
            merged.append(word[i])
    return merged
""", "the right one stays"),
        Wrong("""def merge(word, pair, symbol):
    for i in range(len(word) - 1):
        if i < len(word) - 1 and (word[i], word[i + 1]) == pair:
            word[i:i + 2] = [symbol]
    return word
""", "changed by your code"),
        Wrong("""def merge(word, pair, symbol):
    merged, i = [], 0
    while i < len(word):
        if (word[i], word[i + 1]) == pair:
            merged.append(symbol)
            i += 2
        else:
            merged.append(word[i])
            i += 1
    return merged
""", "IndexError"),
    ],
)  # fmt: skip
