"""The pairs of a corpus whose different pre-tokens are stored once, each with its count."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

JOINED = "Joined, the words make pairs that cross a pre-token boundary. Count inside each word."


def cases(random):
    yield Case("one word, three times", {"ab": 3})
    yield Case("two words with one pair in common", {"abc": 2, "ab": 5})
    yield Case("a pair twice in one word", {"abab": 4})
    yield Case("a pair that overlaps itself", {"aaa": 2})
    yield Case("a word of one character", {"a": 7, "ba": 1})
    yield Case("no word", {})


def counted(words):
    counts = {}
    for word, often in words.items():
        for i in range(len(word) - 1):
            counts[word[i : i + 2]] = counts.get(word[i : i + 2], 0) + often
    return counts


exercise = Exercise(
    title="Count once for all",
    minutes=3,
    core=False,
    defines="count_pairs",
    given="from collections import Counter\n\n\ndef pairs(text):\n    return [text[i : i + 2] for i in range(len(text) - 1)]\n",
    cases=cases,
    reference=counted,
    hints=("Two loops: over words.items(), and over pairs(word). Each pair of a word that occurs 5 times counts 5 times.",),
    wrong=[
        Wrong(Changed(("+ often", "+ 1")), "A word that occurs `often` times brings each of its pairs as often."),
        Wrong(Changed(("counts.get(pair, 0) + often", "often")),
              "A pair can be in several words, or twice in one: add to its count."),
        Wrong(Changed(("in pairs(word)", "in set(pairs(word))"), ("+ often", "+ word.count(pair) * often")),
              "word.count skips characters that were counted: in aaa it finds aa once, but it is there twice."),
        Wrong(Changed(("in pairs(word)", "in set(pairs(word))")), "A pair that is twice in a word counts twice."),
        Wrong("""def count_pairs(words):
    counts, text = {}, "".join(word * often for word, often in words.items())
    for pair in pairs(text):
        counts[pair] = counts.get(pair, 0) + 1
    return counts
""", JOINED),
        Wrong("""def count_pairs(words):
    return dict(Counter(pairs("".join(words))))
""", "How often each word occurs is lost, and joined words make pairs across their boundaries. Count inside each word, "
              "`often` times."),
    ],
)  # fmt: skip
