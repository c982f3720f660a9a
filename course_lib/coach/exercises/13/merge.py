"""One merge in one word, from left to right, no symbol used twice."""

from course_lib.coach.exercise import Case, Changed, Exercise, Refused, Wrong


def cases(random):
    yield Case("the pair alone", [1, 2], (1, 2), 9)
    yield Case("the pair between others", [5, 1, 2, 6], (1, 2), 9)
    yield Case("three equal symbols in a row", [7, 7, 7], (7, 7), 9)
    yield Case("the pair occurs twice, and half of it at the end", [1, 2, 1, 2, 1], (1, 2), 9)
    yield Case("the two symbols in the other order", [2, 1], (1, 2), 9)
    yield Case("the left symbol repeated", [1, 1, 2], (1, 2), 9)
    yield Case("four equal symbols", [7, 7, 7, 7], (7, 7), 9)
    yield Case("the new symbol equals the old ones", [1, 1, 1, 1], (1, 1), 1)
    yield Case("one symbol", [1], (1, 2), 9)
    yield Case("an empty word", [], (1, 2), 9)
    yield Case("nothing to merge", [3, 4], (1, 2), 9)
    yield Case("a long word of three symbols", random.integers(97, 100, 200).tolist(), (97, 98), 256)


def merged(answer, word, pair, symbol):
    before, result = list(word), answer(word, pair, symbol)
    if result is word and word == before:  # if it was changed, that is said
        raise Refused("You return the list that was given. Return a new one, also where nothing is merged.")
    return result


exercise = Exercise(
    title="One merge",
    minutes=10,
    defines="merge",
    target="course_lib.bpe.merge",
    given="from course_lib.bpe import Pair",
    cases=cases,
    call=merged,
    hints=(
        "Loop over the word with an index i that you advance yourself. A `for` loop always advances by one.",
        "At index i: if word[i] and word[i + 1] are the pair, append the symbol and advance by two. Otherwise append word[i] "
        "and advance by one.",
        "`while i < len(word):` and the condition `if i + 1 < len(word) and (word[i], word[i + 1]) == pair:`. Return the new "
        "list.",
    ),
    example='''def without_doubles(word):
    """The same loop: two equal neighbours become one, and the loop goes on after both."""
    kept, i = [], 0
    while i < len(word):
        kept.append(word[i])
        i += 2 if i + 1 < len(word) and word[i] == word[i + 1] else 1
    return kept
''',
    wrong=[
        Wrong("""def merge(word, pair, symbol):
    word = list(word)
    for i in range(len(word) - 1):
        if word[i] == pair[0] and word[i + 1] == pair[1]:
            return word[:i] + [symbol] + word[i + 2:]
    return word
""", "Only the first pair is replaced. Go on after it, to the end of the word."),
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
""", "A symbol is used for two pairs. Once a pair is replaced, advance by two."),
        Wrong(Changed(("while i <= last", "while i < last")),
              "The last symbol is lost if no pair ends there: it has no right neighbour, but belongs to the word."),
        Wrong("""def merge(word, pair, symbol):
    merged = []
    for i in range(len(word)):
        if i < len(word) - 1 and (word[i], word[i + 1]) == pair:
            merged.append(symbol)
        else:
            merged.append(word[i])
    return merged
""", "The left symbol of the pair is replaced, and the right one stays. The new symbol replaces both."),
        Wrong("""def merge(word, pair, symbol):
    merged = []
    for i in range(len(word) - 1):
        merged.append(symbol if (word[i], word[i + 1]) == pair else word[i])
    return merged
""", "After a merge you go on at the right symbol of the pair, and the last symbol of the word is never reached."),
        Wrong("""def merge(word, pair, symbol):
    merged, i = [], len(word) - 1
    while i >= 0:
        if i > 0 and (word[i - 1], word[i]) == pair:
            merged.append(symbol)
            i -= 2
        else:
            merged.append(word[i])
            i -= 1
    return merged[::-1]
""", "You begin at the right end. Of three equal symbols in a row, the first two are the pair."),
        Wrong("""def merge(word, pair, symbol):
    for i in range(len(word) - 1):
        if (word[i], word[i + 1]) == pair:
            return merge(word[:i] + [symbol] + word[i + 2:], pair, symbol)
    return list(word)
""", "After a merge you begin at the left again, so the new symbol can be merged once more. Go on behind it."),
        Wrong("""def merge(word, pair, symbol):
    for i in range(len(word) - 1):
        if i < len(word) - 1 and (word[i], word[i + 1]) == pair:
            word[i:i + 2] = [symbol]
    return word
""", generic="changed by your code"),
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
""", generic="IndexError"),
    ],
)  # fmt: skip
