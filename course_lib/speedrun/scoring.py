"""How good an entry is: nats per story, between the bigram model and the floor.

Nats per token would favour whoever cuts stories into more tokens; a story is the same for all. With its end token, an entry
gives it P(story) = product of P(token | the tokens before). The bytes of each token are known before the first story is
shown, P is normalised here, and a token's P must not depend on later ones: then the probabilities of all texts sum to at most
1, however a tokenizer cuts them, and no entry is below the floor but by luck.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from course_lib import data
from course_lib.data import bigram

STORIES = 512  # judged; the standard error of the score is 0.006 early in a training, and falls with the distance to the floor
BATCH = 8  # stories
FIRST_SEED = 1 << 32  # of stories for judging: no corpus has such a seed
SAME = 1e-3  # nats: a score that was computed twice may differ so much by rounding
REFERENCE = {"vocab_size": 2048, "context": 192}  # the tokens of the bigram model, the same for every entry


class EntryError(ValueError):
    """An entry that does not count: what it did, and what is asked for."""


class Entry(Protocol):
    """A trained entry that can be asked. end_id: of the end token. spelling: the bytes of each token."""

    end_id: int
    spelling: list[bytes]

    def encode(self, texts: list[str]) -> list[list[int]]: ...

    def scores(self, idx: np.ndarray) -> np.ndarray:
        """idx int32 (B, T) -> float (B, T, V)."""


@dataclass(frozen=True)
class Score:
    """Means over the judged stories, in nats per story."""

    nats: float
    floor: float
    bigram: float

    @property
    def fraction(self) -> float:
        """Of the way from the bigram model to the floor."""
        return (self.bigram - self.nats) / (self.bigram - self.floor)

    def __str__(self) -> str:
        return (
            f"{self.fraction:.2%} of the way from the bigram model to the floor ({self.nats:.2f} nats per story; the bigram "
            f"model has {self.bigram:.2f}, the floor is {self.floor:.2f})"
        )


def held_out(seed: int, count: int = STORIES) -> list[tuple[str, float]]:
    """Stories that no entry has seen, freshly written, each with its log-probability in nats."""
    from course_lib import stories

    return list(stories.write_with_log_probability(FIRST_SEED + seed, count))


def score(entry: Entry, told: Sequence[tuple[str, float]], corpus: data.Corpus) -> Score:
    """The score on stories with their log-probabilities; `corpus` is what the bigram model counts. Raises EntryError."""
    texts = [text for text, _ in told]
    floor = -float(np.mean([log_probability for _, log_probability in told]))
    return Score(entry_nats(entry, texts), floor, bigram_nats(corpus, texts))


def bigram_nats(corpus: data.Corpus, texts: Sequence[str]) -> float:
    """What the bigram model (data/bigram.py) needs for a story, in nats, counted over the tokens of the corpus."""
    tokenizer = corpus.tokenizer
    idx, targets = windows([tokenizer.encode(text) for text in texts], tokenizer.end_id)
    validation = data.Validation(idx, targets)
    return bigram.bigram_loss(corpus.train.tokens, validation, tokenizer.vocab_size) * validation.scored / len(texts)


def windows(ids: Sequence[Sequence[int]], end: int) -> tuple[np.ndarray, np.ndarray]:
    """A story a row, between end tokens -> idx, targets int32 (R, T); targets that do not count are data.IGNORE."""
    longest = max(map(len, ids)) + 1
    idx = np.full((len(ids), longest), end, np.int32)
    targets = np.full((len(ids), longest), data.IGNORE, np.int32)
    for row, story in enumerate(ids):
        idx[row, 1 : len(story) + 1] = story
        targets[row, : len(story) + 1] = [*story, end]
    return idx, targets


def entry_nats(entry: Entry, texts: Sequence[str]) -> float:
    """What an entry needs for a story, in nats: the mean of -log P(story). Raises EntryError."""
    if not 0 <= entry.end_id < len(entry.spelling):
        raise EntryError(f"Its end_id is {entry.end_id}; its tokens go from 0 to {len(entry.spelling) - 1}.")
    rng = np.random.default_rng()  # not seeded: nobody should know where the judge looks
    ids = _checked_ids(entry, list(texts))
    total = 0.0
    for at in range(0, len(ids), BATCH):
        idx, targets = windows(ids[at : at + BATCH], entry.end_id)  # (B, T)
        nats = _surprise(entry, idx, targets)  # (B, T)
        _check_causal(entry, idx, targets, nats, rng)
        total += nats.sum()
    if not np.isfinite(total):
        raise EntryError("It gives a token of a story the probability 0, so its loss is infinite. Leave each a little.")
    return float(total) / len(texts)


def _checked_ids(entry: Entry, texts: list[str]) -> list[list[int]]:
    ids = entry.encode(texts)
    for text, story in zip(texts, ids, strict=True):
        strange = [token for token in story if not 0 <= token < len(entry.spelling) or token == entry.end_id]
        if strange:
            raise EntryError(
                f"Its tokenizer puts {strange[0]} into a story: ids go from 0 to {len(entry.spelling) - 1}, and the end token, "
                f"{entry.end_id}, stands only behind a story."
            )
        spelled = b"".join(entry.spelling[token] for token in story)
        if spelled != text.encode():
            raise EntryError(
                f"Its tokenizer does not keep the text: the tokens of {text[:40]!r}... spell {spelled[:40]!r}..."
            )
    return ids


def _surprise(entry: Entry, idx: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """-log P of each target, float64 (B, T); 0 where none counts."""
    scores, size = entry.scores(idx), len(entry.spelling)
    if scores.shape != (*idx.shape, size):
        raise EntryError(
            f"Its model gave scores of shape {scores.shape} for ids of shape {idx.shape}; expected (B, T, V), which is "
            f"{(*idx.shape, size)} with its tokenizer."
        )
    scores = scores.astype(np.float64)
    if np.isnan(scores).any() or (scores == np.inf).any() or (scores == -np.inf).all(axis=-1).any():
        raise EntryError("Its scores are not all numbers (NaN, or infinite): most often the training diverged.")
    highest = scores.max(axis=-1)  # (B, T)
    with np.errstate(divide="ignore"):
        normaliser = highest + np.log(np.exp(scores - highest[..., None]).sum(axis=-1))  # logsumexp, (B, T)
    chosen = np.take_along_axis(scores, np.maximum(targets, 0)[..., None], axis=-1)[..., 0]  # (B, T)
    return np.where(targets == data.IGNORE, 0.0, normaliser - chosen)


def _check_causal(
    entry: Entry, idx: np.ndarray, targets: np.ndarray, nats: np.ndarray, rng: np.random.Generator
) -> None:
    """Ask again with other tokens from some place on, another place in each row: what stands before must stay as it was."""
    lengths = (targets != data.IGNORE).sum(axis=1)  # (B,)
    cuts = rng.integers(1, np.maximum(lengths, 2))  # (B,) index of the first token that is changed
    after = np.arange(idx.shape[1]) >= cuts[:, None]  # (B, T)
    changed = np.where(after, rng.integers(0, len(entry.spelling), idx.shape), idx).astype(np.int32)
    again = _surprise(entry, changed, targets)
    with np.errstate(invalid="ignore"):
        differs = ~after & ~np.isclose(nats, again, rtol=0, atol=SAME) & (nats != again)
    if differs.any():
        row, place = np.argwhere(differs)[0]
        raise EntryError(
            f"It looks ahead, or does not answer the same twice: the probability of token {place + 1} of a story changed from "
            f"{np.exp(-nats[row, place]):.3g} to {np.exp(-again[row, place]):.3g} when only later ones were changed. Is there "
            "attention without its mask, or dropout that is still on?"
        )
