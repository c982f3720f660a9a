"""Open challenge: the same vocabulary, and fewer tokens than the merges need (8,013; the least is 8,003)."""

from collections import Counter
from functools import cache

from course_lib import bpe
from course_lib.coach.exercise import Case, Exercise, Goal, Wrong

MERGES = 120


@cache
def trial():
    """Pre-tokens of stories with their counts, and the vocabulary that was learned from them."""
    from course_lib import stories, tokenizer

    pieces = tokenizer.count_pieces(stories.write(3, 25))
    vocabulary = bpe.Vocabulary()
    for pair in bpe.learn_merges(pieces, MERGES):
        vocabulary.add(pair)
    return Counter(pieces), frozenset(vocabulary.spelling)


def tokens_needed(answer):
    pieces, vocabulary = trial()
    return sum(often * len(answer(piece, set(vocabulary))) for piece, often in pieces.items())


def cases(random):
    yield Case("two bytes, one token", b"ab", [b"ab"])
    yield Case("only single bytes are tokens", b"abc", [])
    yield Case("the longest first token is a trap", b"abcde", [b"ab", b"abc", b"cde"])
    yield Case("bytes above 127", "é é".encode(), ["é".encode()])
    yield Case("one byte", b"a", [])
    yield Case("an empty pre-token", b"", [b"ab"])
    yield Case("the whole pre-token is a token", b" house", [b"ho", b" house", b"use"])
    syllables = {bytes(random.integers(97, 100, random.integers(2, 5)).tolist()) for _ in range(30)}
    yield Case("a long pre-token", bytes(random.integers(97, 100, 120).tolist()), sorted(syllables))


def call(answer, piece, tokens):
    return answer(piece, {*bpe.BYTES, *tokens})


def check(tokens, piece, longer):
    if not isinstance(tokens, list | tuple) or not all(isinstance(token, bytes) for token in tokens):
        return "The result must be a list of bytes: the tokens in order."
    for token in tokens:
        if len(token) != 1 and token not in longer:
            return f"{token!r} is no token of this vocabulary."
    joined = b"".join(tokens)
    if joined != piece:
        at = next(
            (i for i, (a, b) in enumerate(zip(joined, piece, strict=False)) if a != b), min(len(joined), len(piece))
        )
        return f"Joined, your tokens give {joined!r}, and the pre-token is {piece!r}: they differ from byte {at} on."
    return None


exercise = Exercise(
    title="Challenge: fewer tokens",
    minutes=20,
    core=False,
    challenge=True,
    defines="fewest_tokens",
    cases=cases,
    call=call,
    compared=False,
    check=check,
    goals=[Goal("tokens for all words of 25 stories", tokens_needed)],
    hints=(
        "Begin with any right answer: the longest token that matches at the beginning, then the longest that matches after it.",
        "Can a shorter first token be better? Suppose that you knew the best split of every prefix of the pre-token.",
        "best[end] is the shortest list of tokens for piece[:end]; best[0] is []. For each end try every start before it: if "
        "piece[start:end] is a token, best[start] + [piece[start:end]] is a candidate.",
    ),
    example='''def fewest_coins(amount, coins):
    """The same idea with money: the best way to each smaller amount first. With coins 1, 3, 4, six is 3 + 3, not 4 + 1 + 1."""
    best = [[]]
    for total in range(1, amount + 1):
        best.append(min((best[total - coin] + [coin] for coin in coins if coin <= total), key=len))
    return best[amount]
''',
    wrong=[
        Wrong("def fewest_tokens(piece, vocabulary):\n    return list(piece)", generic="a list of bytes"),
        Wrong("def fewest_tokens(piece, vocabulary):\n    return [piece]", generic="is no token of this vocabulary"),
        Wrong("""def fewest_tokens(piece, vocabulary):
    tokens = []
    for token in sorted(vocabulary, key=lambda t: (-len(t), t)):
        while token in piece:
            piece = piece.replace(token, b"", 1)
            tokens.append(token)
    return tokens
""", generic="they differ from byte 2 on"),
        Wrong("""def fewest_tokens(piece, vocabulary):
    tokens = []
    for size in range(len(piece), 0, -1):
        if piece[:size] in vocabulary:
            tokens.append(piece[:size])
            piece = piece[size:]
    return tokens
""", generic="they differ from byte 1 on"),
    ],
)  # fmt: skip
