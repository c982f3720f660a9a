"""Encode one pre-token: the merge that was learned first is applied first."""

from course_lib import bpe
from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong

A, B, C, D = b"abcd"
FROM_THE_LEFT = (
    "You merge the first known pair from the left. The pair with the smallest rank is merged first, wherever it stands."
)


def ranks_of(merges):
    vocabulary = bpe.Vocabulary()
    return {pair: (rank, vocabulary.add(pair)) for rank, pair in enumerate(merges)}


def cases(random):
    yield Case("one pair", b"ab", ranks_of([(A, B)]))
    yield Case("nothing to merge", b"ba", ranks_of([(A, B)]))
    yield Case("a merge on top of a merge", b"abc", ranks_of([(A, B), (256, C)]))
    yield Case("the pair on the right was learned first", b"abc", ranks_of([(B, C), (A, B)]))
    yield Case("the ranks are not in order", b"abc", dict(reversed(ranks_of([(B, C), (A, B)]).items())))
    yield Case("a longer token that the merges never make", b"abc", ranks_of([(B, C), (A, B), (257, C)]))
    yield Case("the same pair twice", b"abcab", ranks_of([(A, B)]))
    yield Case("three equal bytes", b"aaa", ranks_of([(A, A)]))
    yield Case("a merge of two merged symbols", b"abcd", ranks_of([(C, D), (A, B), (257, 256)]))
    yield Case("symbols that are not numbered in order", b"abcab", {(A, B): (0, 300), (300, C): (1, 290)})
    yield Case("the lower rank has the larger symbol", b"abc", {(B, C): (0, 300), (A, B): (1, 290)})
    yield Case("one byte", b"a", ranks_of([(A, B)]))
    yield Case("an empty pre-token", b"", ranks_of([(A, B)]))
    yield Case("no merges at all", b"abc", {})
    words = {
        bytes(random.integers(97, 101, random.integers(2, 9)).tolist()): int(random.integers(1, 9)) for _ in range(80)
    }
    ranks = ranks_of(bpe.learn_merges(words, 60))
    for length in (9, 40, 300):
        yield Case(f"a random pre-token of {length} bytes", bytes(random.integers(97, 101, length).tolist()), ranks)


exercise = Exercise(
    title="Encode a pre-token",
    test_out=True,
    minutes=15,
    defines="apply_merges",
    target="course_lib.bpe.apply_merges",
    given="from itertools import pairwise\nfrom course_lib.bpe import merge",
    cases=cases,
    hints=(
        "Begin with word = list(piece): the bytes as integers. Which of its pairs are in `ranks`, and which of those was "
        "learned first?",
        "In a loop: collect the pairs of the word that are in `ranks`. None? Done. Else merge the one with the smallest rank.",
        "best = min((pair for pair in pairwise(word) if pair in ranks), key=lambda pair: ranks[pair][0], default=None), then "
        "word = merge(word, best, ranks[best][1]), until best is None.",
    ),
    example='''def simplify(text, rules):
    """The same loop with rules for text: as long as one matches, apply the first of the list that does."""
    while True:
        matching = [rule for rule in rules if rule[0] in text]
        if not matching:
            return text
        old, new = matching[0]  # the first in the list, wherever it matches
        text = text.replace(old, new, 1)
''',
    wrong=[
        Wrong("""def apply_merges(piece, ranks):
    word = list(piece)
    changed = True
    while changed:
        changed = False
        for i in range(len(word) - 1):
            pair = (word[i], word[i + 1])
            if pair in ranks:
                word[i:i + 2] = [ranks[pair][1]]
                changed = True
                break
    return word
""", FROM_THE_LEFT),
        Wrong("""def apply_merges(piece, ranks):
    names = {i: bytes([i]) for i in range(256)}
    for (a, b), (rank, symbol) in ranks.items():
        names[symbol] = names[a] + names[b]
    ids = {text: i for i, text in names.items()}
    out = []
    while piece:
        for n in range(len(piece), 0, -1):
            if piece[:n] in ids:
                out.append(ids[piece[:n]])
                piece = piece[n:]
                break
    return out
""",
              "You take the longest token that matches. BPE applies the merges in the order of learning, and may never make "
              "that token."),
        Wrong(Changed(("min(found", "max(found")),
              "You merge the pair that was learned last. The pair with the smallest rank is merged first."),
        Wrong("""def apply_merges(piece, ranks):
    word = list(piece)
    pairs = [pair for pair in zip(word, word[1:]) if pair in ranks]
    if pairs:
        best = min(pairs, key=lambda pair: ranks[pair][0])
        word = merge(word, best, ranks[best][1])
    return word
""", "You stop after one merge. Check all pairs again: the new symbol has made new ones."),
        Wrong("""def apply_merges(piece, ranks):
    word = list(piece)
    for pair, (rank, symbol) in ranks.items():
        word = merge(word, pair, symbol)
    return word
""", "You apply the merges in the order of the dict. They were learned in the order of their ranks, ranks[pair][0]."),
        Wrong(Changed(("ranks[best][1]", "ranks[best][0]")),
              "The word gets the rank of the merge. ranks[pair] is (rank, symbol): the symbol goes into the word."),
        Wrong("def apply_merges(piece, ranks):\n    return list(piece)",
              "Nothing was merged: this returns the bytes themselves."),
        Wrong("""def apply_merges(piece, ranks):
    word = list(piece)
    while len(word) > 1:
        best = min(zip(word, word[1:]), key=lambda pair: ranks[pair][0])
        word = merge(word, best, ranks[best][1])
    return word
""", "A pair without an entry in `ranks` cannot be merged. Check `pair in ranks` first.",
              when=lambda seen: seen.error.startswith("KeyError") and "(" in seen.error
                  and not any(str(entry) in seen.error for entry in seen.inputs[1].values())),
        Mistake("At the end no pair of the word is in `ranks`, and min() has nothing to choose from. Return the word then.",
                when=lambda seen: "empty" in seen.error and "min()" in seen.error),
        Wrong(Changed(("min(found, key=lambda pair: ranks[pair][0])", "found[0]")), FROM_THE_LEFT, also=True),
        Wrong("""def apply_merges(piece, ranks):
    word = list(piece)
    while True:
        pairs = [p for p in pairwise(word) if p in ranks]
        if not pairs: return word
        best = min(pairs, key=lambda p: ranks[p][0])
        word = merge(word, best, ranks[best][0] + 256)
""", "You number the new symbols yourself. ranks[pair] is (rank, symbol): take the symbol from there."),
        Wrong("""def apply_merges(piece, ranks):
    word = list(piece)
    while True:
        pairs = [p for p in pairwise(word) if p in ranks]
        if not pairs: return bytes(word)
        best = min(pairs, key=lambda p: ranks[p][0])
        word = merge(word, best, ranks[best][1])
""", "Symbols may be larger than 255, so they do not fit into bytes: keep the word as a list, and return that.",
              when=lambda seen: "bytes must be in range" in seen.error),
        Wrong("""def apply_merges(piece, ranks):
    word = list(piece)
    for pair in sorted(set(pairwise(word)) & set(ranks), key=lambda pair: ranks[pair][0]):
        word = merge(word, pair, ranks[pair][1])
    return word
""", "Only the pairs of the bytes are merged. A merge makes new pairs: look again after each, until none is a merge."),
    ],
)  # fmt: skip
