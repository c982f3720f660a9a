"""Text cut into pre-tokens, about a word each, before anything is merged: GPT-2's pattern (Radford et al. 2019, section 2.2).

Joined, the pre-tokens of a text give it back. No merge crosses the boundary of one, so to learn merges it is enough to know how
often each occurs.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import regex

# GPT-2's pattern: contractions; words, numbers and other signs, each with one space before it; runs of white space,
# which leave their last space to the word that follows.
PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

_split = regex.compile(PATTERN).findall


def split(text: str) -> list[str]:
    """The pre-tokens of `text`, in order; joined they give it back."""
    return _split(text)


def split_stream(chunks: Iterable[str]) -> Iterator[list[str]]:
    """The pre-tokens of one long text that comes in chunks, the same as `split` finds in the whole.

    The last two wait for the next chunk: it may lengthen the last one, and with it turn "'" and "l" into "'ll".
    """
    rest = ""
    for chunk in chunks:
        pieces = split(rest + chunk)
        rest = "".join(pieces[-2:])
        yield pieces[:-2]
    yield split(rest)


def count_pieces(text: str | Iterable[str], progress: bool = False) -> dict[bytes, int]:
    """How often each pre-token occurs in one text, or in many: all that learning merges needs to know."""
    if isinstance(text, (bytes, os.PathLike)) or not isinstance(text, Iterable):
        raise TypeError(f"training takes text (a str, or an iterable of str), not {type(text).__name__}")
    counts: Counter[str] = Counter()
    for number, one in enumerate(bar([text] if isinstance(text, str) else text, progress, "reading", " texts")):
        if not isinstance(one, str):
            raise TypeError(f"training takes texts (str), but text number {number} is {type(one).__name__}")
        counts.update(split(one))
    return {utf8(piece): count for piece, count in counts.items()}


def bar(iterable: Iterable | None, progress: bool, label: str, unit: str, **options: Any) -> Any:
    """How far a loop is, or nothing if `progress` is False."""
    from tqdm import tqdm

    return tqdm(iterable, desc=label, unit=unit, disable=not progress, **options)


def utf8(piece: str, errors: str = "strict") -> bytes:
    """The bytes of a pre-token. Raises ValueError for half a character."""
    try:
        return piece.encode("utf-8", errors)
    except UnicodeEncodeError:
        raise ValueError(
            f"the text holds half a character, a lone surrogate ({piece!r}), which UTF-8 cannot write: "
            "it was read with a wrong encoding"
        ) from None
