"""Learning merges: count all pairs, take the most frequent, replace it everywhere, again and again."""

from course_lib import bpe
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

GIVEN = """from course_lib.bpe import VISIBLE, merge
_RANKS = {byte: number for number, byte in enumerate(sorted(range(256), key=VISIBLE.__getitem__))}
def rank(symbol):
    return _RANKS.get(symbol, symbol)
"""


def cases(random):
    yield Case("one pair", {b"ab": 1}, 1)
    yield Case("one pre-token is more frequent than two others", {b"abx": 1, b"aby": 1, b"cd": 3}, 1)
    yield Case("a merge on top of a merge", {b"abc": 2}, 2)
    yield Case("two pairs are equally frequent", {b"cd": 2, b"ab": 2}, 1)
    yield Case("equally frequent, with the same left symbol", {b"ac": 1, b"ab": 1}, 2)
    yield Case("equally frequent, and one begins with a space", {b" a": 1, b"ab": 1}, 1)
    yield Case("equally frequent, and one ends with a space", {b"a ": 1, b"ab": 1}, 1)
    yield Case("three equal bytes in a row", {b"aaa": 1}, 2)
    yield Case("the end of one pre-token and the beginning of the next", {b"ab": 3, b"cb": 1, b"d": 9}, 2)
    yield Case("no pair is left before all entries are learned", {b"ab": 1, b"c": 4}, 5)
    yield Case("no pair at all", {b"a": 3}, 2)
    yield Case("no entries", {b"ab": 3}, 0)
    yield Case("long runs of one byte", {b"a" * 5: 2, b"a" * 7: 5, b"a" * 13: 4}, 5)
    words = {
        bytes(random.integers(97, 101, random.integers(1, 8)).tolist()): int(random.integers(1, 9)) for _ in range(60)
    }
    yield Case("sixty random pre-tokens", words, 25)


exercise = Exercise(
    title="Learn the merges",
    minutes=20,
    defines="learn_merges",
    target="course_lib.bpe.learn_merges_compiled",
    reference=bpe.learn_merges,
    given=GIVEN,
    cases=cases,
    hints=(
        "One iteration: count every pair in every word, choose one, replace it in every word. When does the loop end?",
        "For each pair of zip(word, word[1:]): counts[pair] = counts.get(pair, 0) + how often the word occurs. The best "
        "pair has the largest count; of equal counts, the smallest (rank(left), rank(right)).",
        "best = min(counts, key=lambda pair: (-counts[pair], rank(pair[0]), rank(pair[1]))), then "
        "merge(word, best, 256 + number) for each word, where number counts the merges from 0. Stop if counts is empty.",
    ),
    example='''def most_frequent(pieces, rounds):
    """The same loop on single letters: count all, take the most frequent, remove it everywhere."""
    words, taken = list(pieces.items()), []
    for _ in range(rounds):
        counts = {}
        for word, often in words:
            for letter in word:
                counts[letter] = counts.get(letter, 0) + often
        if not counts:
            break
        best = min(counts, key=lambda letter: (-counts[letter], letter))
        taken.append(best)
        words = [(word.replace(best, ""), often) for word, often in words]
    return taken
''',
    wrong=[
        Wrong(Changed(("0) + often", "0) + 1")),
              "Each pre-token counts once here. A pair counts as often as its pre-token occurs."),
        Wrong(Changed(("min(counts, key=lambda pair: (-counts[pair], rank(pair[0]), rank(pair[1])))",
                       "max(counts, key=counts.get)")),
              "Of equally frequent pairs you take the one that was counted first. Take the one with the smallest (rank(left), "
              "rank(right))."),
        Wrong(Changed(("min(counts, key=lambda pair: (-counts[pair], rank(pair[0]), rank(pair[1])))",
                       "sorted(counts, key=lambda pair: (counts[pair], pair))[-1]")),
              "Of equally frequent pairs you take the largest. Take the one with the smallest (rank(left), rank(right))."),
        Wrong(Changed(("rank(pair[0]), rank(pair[1])", "pair")),
              "Of equally frequent pairs you take the one with the smallest numbers. Compare `rank(left)`, then "
              "`rank(right)`: a space is byte 32, but comes after the letters in this alphabet."),
        Wrong(Changed(("rank(pair[1])", "pair[1]")),
              "Of equally frequent pairs with one left symbol you take the smallest right number. Compare `rank(right)`."),
        Wrong(Changed(("if not counts:", "if not counts or max(counts.values()) == 1:")),
              "You stop when the best pair occurs only once. Continue as long as there is any pair."),
        Wrong(Changed(("[(list(piece), often) for piece, often in pieces.items()]",
                       "[([byte for piece, often in pieces.items() for _ in range(often) for byte in piece], 1)]")),
              "Pairs are counted across a pre-token boundary. No merge crosses one: count within each pre-token."),
        Wrong("""from collections import Counter

def learn_merges(pieces, entries):
    counts = Counter()
    for piece, often in pieces.items():
        for pair in zip(piece, piece[1:]):
            counts[pair] += often
    ordered = sorted(counts, key=lambda pair: (-counts[pair], rank(pair[0]), rank(pair[1])))
    return ordered[:entries]
""", "The pairs are counted once, at the beginning. Each merge changes the words: count again after it."),
        Wrong("""from collections import Counter

def learn_merges(pieces, entries):
    words = [(list(piece), often) for piece, often in pieces.items()]
    learned = []
    while len(learned) < entries:
        counts = Counter()
        for word, often in words:
            for pair in zip(word, word[1:]):
                if pair[0] < 256 and pair[1] < 256:
                    counts[pair] += often
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], rank(pair[0]), rank(pair[1])))
        words = [(merge(word, best, 256 + len(learned)), often) for word, often in words]
        learned.append(best)
    return learned
""", "Only pairs of single bytes are merged. A merged symbol forms new pairs like any other."),
        Wrong("""from collections import Counter

def learn_merges(pieces, entries):
    words = {piece: list(piece) for piece in pieces}
    learned = []
    while len(learned) < entries:
        counts = Counter()
        for piece, word in words.items():
            for pair in zip(word, word[1:]):
                counts[pair] += pieces[piece]
        best = min(counts, key=lambda pair: (-counts[pair], rank(pair[0]), rank(pair[1])))
        symbol = 256 + len(learned)
        learned.append(best)
        words = {piece: merge(word, best, symbol) for piece, word in words.items()}
    return learned
""", "When every pre-token is a single symbol, no pair is left. Stop then.",
              when=lambda seen: ("empty" in seen.error and seen.label.startswith("no pair"))),
        Wrong(Changed(("256 + len(merges))", "256)")),
              "Every merge makes the same symbol, 256. The first makes 256, the next 257: 256 + the number of merges before."),
    ],
)  # fmt: skip
