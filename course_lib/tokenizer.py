"""A byte-level BPE tokenizer (as GPT-2's: Radford et al. 2019, section 2.2), trained and applied by our own code.

Text is split into pre-tokens (pieces.py: about a word each, its leading space included), whose UTF-8 bytes are merged as
learned (bpe.py). So any text, and any bytes at all, come back exactly as they went in. The ids: 0 to 255 are the bytes
themselves, then the merged tokens in the order they were learned, then the special tokens. Special tokens stand for no
text: encoding never yields one unless asked to.

Limits: pre-tokens come from GPT-2's pattern, which suits text with spaces between words. Nothing is normalised. Merges
equal those of HuggingFace `tokenizers` with the same pattern and vocabulary.
"""

import hashlib
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import regex

from course_lib import bpe, paths
from course_lib.pieces import PATTERN, bar, count_pieces, split, split_stream, utf8

END_OF_TEXT = "<|endoftext|>"
FORMAT, VERSION = "course tokenizer", 1
BYTE_ORDERS = {"value": list(range(256)), "gpt2": bpe.BYTE_ORDER}
CACHED_PIECES = 1 << 18  # English has some 10^5 different pre-tokens per 100 MB; more would only fill the memory


class TokenizerError(ValueError):
    """A tokenizer file or a list of ids that cannot be used, and why."""


def split_special(text: str, special_tokens: Sequence[str]) -> list[str]:
    """`text` cut at its special tokens, which are parts of their own; the longer one of two that fit at one position."""
    if not special_tokens:
        return [text] if text else []
    longest_first = sorted(special_tokens, key=len, reverse=True)
    parts = regex.split("(" + "|".join(map(regex.escape, longest_first)) + ")", text)
    return [part for part in parts if part]


class Tokenizer:
    """Text to ids and back. Make one with `Tokenizer.train` or `Tokenizer.load`.

    merges:                the learned pairs of symbols (bpe.py), in order
    special_tokens:        their strings; their ids are the last ones
    requested_vocab_size:  what training was asked for; more than `vocab_size` if the text had no more pairs to merge
    byte_order:            which byte has which of the ids 0 to 255: its own ("value"), or its index among GPT-2's visible
                           characters ("gpt2"), as in that model's files. All other ids are the same in both
    """

    def __init__(
        self,
        merges: Iterable[bpe.Pair],
        special_tokens: Sequence[str] = (END_OF_TEXT,),
        requested_vocab_size: int | None = None,
        byte_order: str = "value",
    ) -> None:
        _check_special_tokens(special_tokens)
        if byte_order not in BYTE_ORDERS:
            raise TokenizerError(f"byte_order is {byte_order!r}, but must be one of {', '.join(BYTE_ORDERS)}")
        vocabulary = bpe.Vocabulary()
        self.merges = list(merges)
        self._ranks = {pair: (rank, vocabulary.add(pair)) for rank, pair in enumerate(self.merges)}
        self.special_tokens = tuple(special_tokens)
        self._special_ids = {token: len(vocabulary) + n for n, token in enumerate(self.special_tokens)}
        self.byte_order, self._byte_ids = byte_order, BYTE_ORDERS[byte_order]
        spelling = [vocabulary.spelling[byte] for byte in np.argsort(self._byte_ids)] + vocabulary.spelling[256:]
        self._bytes = spelling + [token.encode() for token in self.special_tokens]
        self.requested_vocab_size = requested_vocab_size or self.vocab_size
        self._cache: dict[str, list[int]] = {}

    def __repr__(self) -> str:
        return f"Tokenizer(vocab_size={self.vocab_size}, special_tokens={self.special_tokens})"

    @classmethod
    def train(
        cls,
        text: str | Iterable[str],
        vocab_size: int,
        special_tokens: Sequence[str] = (END_OF_TEXT,),
        progress: bool = False,
    ) -> "Tokenizer":
        """Learn a vocabulary of `vocab_size` ids (bytes, merges and special tokens together) from text.

        text:      one text, or many; no pre-token spans two of them.
        progress:  show a bar.
        A text too small for so many merges gives a smaller vocabulary, with a warning that says how small.
        Raises ValueError for an empty corpus or a vocabulary below 257, TypeError for anything but text.
        """
        _check_special_tokens(special_tokens)
        smallest = max(257, 256 + len(special_tokens))
        if not isinstance(vocab_size, int) or vocab_size < smallest:
            raise ValueError(
                f"vocab_size is {vocab_size!r}, but a vocabulary holds the 256 bytes and {len(special_tokens)} special "
                f"tokens at least: give a whole number from {smallest} on (this course uses 512 to 4096)"
            )
        pieces = count_pieces(text, progress)
        if not pieces:
            raise ValueError("the corpus is empty: there is no text to learn a vocabulary from")
        merges = _learn(pieces, vocab_size - 256 - len(special_tokens), progress)
        tokenizer = cls(merges, special_tokens, vocab_size)
        if tokenizer.vocab_size < vocab_size:
            warnings.warn(
                f"the vocabulary stops at {tokenizer.vocab_size} of {vocab_size} entries: every pre-token is "
                "one token by now. That is fine; for more, train on more text",
                stacklevel=2,
            )
        return tokenizer

    @property
    def vocab_size(self) -> int:
        """How many ids there are: bytes, merged tokens and special tokens."""
        return len(self._bytes)

    @property
    def end_id(self) -> int:
        """The id of the end of a text: of `<|endoftext|>`, or of the first special token if that has another name."""
        if not self.special_tokens:
            raise TokenizerError("this tokenizer has no special tokens, so no token ends a text: train it with one")
        return self._special_ids.get(END_OF_TEXT, self.vocab_size - len(self.special_tokens))

    def special_id(self, token: str) -> int:
        """The id of a special token. Raises TokenizerError if there is none of that name."""
        if token not in self._special_ids:
            raise TokenizerError(
                f"this tokenizer has no special token {token!r}; it has {', '.join(self.special_tokens)}"
            )
        return self._special_ids[token]

    def encode(self, text: str, allow_special: bool = False) -> list[int]:
        """The ids of `text`. Special tokens written in it are text like any other, or their ids if `allow_special`."""
        if not isinstance(text, str):
            raise TypeError(f"encode takes a str, not {type(text).__name__}; for bytes there is encode_bytes")
        if not allow_special or not self.special_tokens:
            return self._encode_pieces(split(text))
        ids = []
        for part in split_special(text, self.special_tokens):
            ids += [self._special_ids[part]] if part in self._special_ids else self._encode_pieces(split(part))
        return ids

    def encode_bytes(self, data: bytes) -> list[int]:
        """The ids of any bytes, valid UTF-8 or not; `decode_bytes` gives them back."""
        return self._encode_pieces(split(data.decode("utf-8", "surrogateescape")), "surrogateescape")

    def encode_iter(self, chunks: Iterable[str]) -> Iterator[list[int]]:
        """The ids of one long text that comes in chunks, some with each chunk; never holds more than a chunk or two."""
        for pieces in split_stream(chunks):
            yield self._encode_pieces(pieces)

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """The text of `ids`. Half a character shows as U+FFFD; with `errors="strict"` it raises UnicodeDecodeError."""
        return self.decode_bytes(ids).decode("utf-8", errors)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of `ids`, exactly."""
        if hasattr(ids, "__index__") and not hasattr(ids, "__len__"):  # an array has both
            raise TypeError(f"decoding takes a list of ids, not one number: decode([{ids}])")
        return b"".join([self.token_bytes(token) for token in ids])

    def token_bytes(self, token: int) -> bytes:
        """What one id stands for. Raises TokenizerError for an id that this vocabulary does not have."""
        if not hasattr(token, "__index__"):
            raise TypeError(f"an id is a whole number, not {type(token).__name__} {token!r}: give a flat list of ids")
        if not 0 <= token < self.vocab_size:
            raise TokenizerError(
                f"unknown id {token}: this vocabulary has ids 0 to {self.vocab_size - 1}. "
                "Was the text encoded with another tokenizer?"
            )
        return self._bytes[token]

    def _encode_pieces(self, pieces: list[str], errors: str = "strict") -> list[int]:
        # Almost every pre-token was seen before, so its merges are worked out once and then looked up.
        ids: list[int] = []
        cache = self._cache
        for piece in pieces:
            known = cache.get(piece)
            if known is None:
                known = bpe.apply_merges(utf8(piece, errors), self._ranks)
                if self.byte_order != "value":
                    known = [self._byte_ids[symbol] if symbol < 256 else symbol for symbol in known]
                if len(cache) >= CACHED_PIECES:
                    cache.clear()
                if len(piece) < bpe.LONG_PIECE:
                    cache[piece] = known
            ids += known
        return ids

    def to_json(self) -> str:
        """The tokenizer as readable JSON: one merge a line, bytes as GPT-2's visible characters ("Ġ" is a space)."""
        show = [self.visible(token) for token in range(self.vocab_size)]
        show[:256] = bpe.VISIBLE  # merges are pairs of symbols, whose bytes stand in their own order
        content = {
            "pattern": PATTERN,
            "special_tokens": list(self.special_tokens),
            "requested_vocab_size": self.requested_vocab_size,
            "merges": [f"{show[left]} {show[right]}" for left, right in self.merges],
        }
        if self.byte_order != "value":
            content["byte_order"] = self.byte_order
        head = {"format": FORMAT, "version": VERSION, "checksum": _checksum(content)}
        return json.dumps(head | content, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str, source: object = "the text given") -> "Tokenizer":
        """The tokenizer that `to_json` wrote. Raises TokenizerError, naming `source`, for anything else."""
        try:
            content = json.loads(text)
        except ValueError as error:
            raise TokenizerError(f"{source} is damaged or no tokenizer: it is not valid JSON ({error})") from None
        if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
            raise TokenizerError(f"{source} is JSON, but not a tokenizer of this course (no format {FORMAT!r})")
        if (version := content.pop("version", None)) != VERSION:
            raise TokenizerError(
                f"{source} has format version {version}, and this course reads version {VERSION}: "
                "update the course, or train the tokenizer again"
            )
        if content.pop("checksum", None) != _checksum(content):
            raise TokenizerError(f"{source} is damaged: its checksum does not fit. Copy it again, or train a new one")
        if content["pattern"] != PATTERN:
            raise TokenizerError(f"{source} splits text by another pattern: this course knows GPT-2's alone")
        order = content.get("byte_order", "value")
        return cls(read_merges(content["merges"]), content["special_tokens"], content["requested_vocab_size"], order)

    def visible(self, token: int) -> str:
        """What one id stands for in GPT-2's visible characters; a special token as it is written."""
        if token >= self.vocab_size - len(self.special_tokens):
            return self.special_tokens[token - self.vocab_size]
        return "".join(bpe.VISIBLE[byte] for byte in self.token_bytes(token))

    @property
    def checksum(self) -> str:
        """Tells two tokenizers apart: equal exactly if they encode alike and were trained for the same size."""
        return json.loads(self.to_json())["checksum"]

    def save(self, path: str | os.PathLike) -> None:
        """Write the tokenizer to a file, all or nothing."""
        paths.write_whole(Path(path), self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Tokenizer":
        """Read a tokenizer file. Raises FileNotFoundError, or TokenizerError if it is damaged."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no tokenizer file {path}") from None
        except UnicodeDecodeError:
            raise TokenizerError(f"{path} is damaged or no tokenizer: it is not UTF-8 text") from None
        return cls.from_json(text, path)


def replaced() -> list[str]:
    """Which functions of this module and of bpe are somebody's answers now, and the digests of their texts, `answer`.

    What an encoding is kept under must hold this: another's tokenizer may encode in another way.
    """
    modules = (bpe, sys.modules[__name__])
    return [
        f"{name} {part.answer}" for module in modules for name, part in vars(module).items() if hasattr(part, "answer")
    ]


def _learn(pieces: dict[bytes, int], entries: int, progress: bool) -> list[bpe.Pair]:
    from course_lib import native

    try:
        return bpe.learn_merges_compiled(pieces, entries)
    except (native.NoCompiler, native.CompileError):
        with bar(None, progress, "merging", " tokens", total=entries) as shown:
            return bpe.learn_merges(pieces, entries, lambda done: shown.update(done - shown.n))


def _check_special_tokens(tokens: Sequence[str]) -> None:
    strings = not isinstance(tokens, str) and all(isinstance(token, str) and token for token in tokens)
    if not strings or len(set(tokens)) != len(tokens):
        raise ValueError(f"special_tokens is {tokens!r}, but must be a tuple of different, non-empty strings")


def _checksum(content: dict) -> str:
    return "sha256:" + hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_merges(lines: Iterable[str]) -> list[bpe.Pair]:
    """The merges of lines of two visible spellings each. Raises KeyError or ValueError for what no line above made."""
    value = {character: byte for byte, character in enumerate(bpe.VISIBLE)}
    vocabulary, merges = bpe.Vocabulary(), []
    for line in lines:
        left, right = (vocabulary.symbols[bytes(value[character] for character in part)] for part in line.split(" "))
        merges.append((left, right))
        vocabulary.add(merges[-1])
    return merges
