"""The first half of a merge: the most frequent pair of adjacent characters."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one pair", "ab")
    yield Case("the sentence of the lecture", "the fox in the box with the other fox")
    yield Case("two pairs, once each", "zab")
    yield Case("two pairs that begin alike", "acab")
    yield Case("pairs that overlap", "ababzzzz")
    yield Case("a space is a character", "a b a b c")


def best(text):
    found = [text[i : i + 2] for i in range(len(text) - 1)]
    return min(found, key=lambda pair: (-found.count(pair), pair))


exercise = Exercise(
    title="The pair that wins",
    minutes=3,
    core=False,
    defines="best_pair",
    given="from collections import Counter\n\n\ndef pairs(text):\n    return [text[i : i + 2] for i in range(len(text) - 1)]\n",
    cases=cases,
    reference=best,
    hints=(
        "min takes a key: with (-counts[pair], pair) the pair with the largest count is the smallest, and of equals the first "
        "one.",
    ),
    wrong=[
        Wrong("def best_pair(text):\n    return Counter(pairs(text)).most_common(1)[0][0]\n",
              "Of equally frequent pairs take the first in the alphabet; this takes the one that the text has first."),
        Wrong("def best_pair(text):\n    return min(pairs(text), key=lambda pair: (-text.count(pair), pair))\n",
              "text.count skips characters that were counted: in aaa it finds aa once, but it is there twice. Count all pairs."),
        Wrong("""def best_pair(text):
    counts = Counter(pairs(text))
    return max(counts, key=lambda pair: (counts[pair], pair))
""", "Of equally frequent pairs this takes the last in the alphabet. With min and -counts[pair] it is the first."),
        Wrong(Changed(("min(counts", "max(counts")), generic="`max` must be `min`"),
    ],
)  # fmt: skip
