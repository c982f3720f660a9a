"""Grade what a model writes against the grammar that wrote its corpus, and against the corpus itself.

    grade = grade_samples(model, tokenizer, count=300, temperature=0.7)
    print(grade)                                    fractions, wrong facts, the longest run copied from the training set

A sample begins with nothing but the end token, as a story does in training. One that does not end within the model's
context counts as not well-formed. Fractions of n samples have a standard error of up to 1 / (2 sqrt(n)): 3 % for 300.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from course_lib import data, stories
from course_lib.generation import generate_many
from course_lib.model import GPT
from course_lib.tokenizer import Tokenizer


@dataclass
class Grade:
    """What `count` samples are worth.

    well_formed: share that could be told if facts were free. possible: share that could be told, facts and all.
    wrong_facts: mean per story, over the well-formed ones (nan if there is none). ended: share that came to an end.
    copied: words of the longest run that also stands in the training set; whole: how many samples stand there entire.
    """

    temperature: float
    count: int
    well_formed: float
    possible: float
    wrong_facts: float
    ended: float
    copied: int | None = None
    whole: int | None = None
    top_p: float | None = None
    texts: list[str | None] = field(default_factory=list, repr=False)

    def __str__(self) -> str:
        cut = "" if self.top_p is None else f", top-p {self.top_p}"
        lines = [
            f"{self.count} samples at temperature {self.temperature}{cut}",
            f"  well-formed      {self.well_formed:.0%}",
            f"  wrong facts      {self.wrong_facts:.2f} per well-formed story",
            f"  wholly possible  {self.possible:.0%}",
        ]
        if self.copied is not None:
            lines.append(
                f"  longest run copied from the training set: {self.copied} words; whole stories: {self.whole}"
            )
        return "\n".join(lines)


def grade_samples(
    model: GPT,
    tokenizer: Tokenizer,
    count: int = 300,
    temperature: float = 0.7,
    seed: int = 0,
    training: Sequence[str] | None = None,
    top_p: float | None = None,
) -> Grade:
    """Let the model write `count` stories and judge each; compare with the texts of `training`, if given."""
    texts = generate_many(
        model, tokenizer, count, tokens=model.config.context, temperature=temperature, top_p=top_p, seed=seed
    )
    return grade_texts(texts, temperature, training, top_p)


def grade_texts(
    texts: Sequence[str | None], temperature: float, training: Sequence[str] | None = None, top_p: float | None = None
) -> Grade:
    """The grade of texts that were written with these settings; None stands for one that did not end."""
    ended = [text for text in texts if text is not None]
    verdicts = [stories.judge(text) for text in ended]
    formed = [verdict for verdict in verdicts if verdict.well_formed]
    grade = Grade(
        temperature,
        len(texts),
        len(formed) / len(texts),
        sum(verdict.possible for verdict in verdicts) / len(texts),
        float(np.mean([verdict.wrong_facts for verdict in formed])) if formed else float("nan"),
        len(ended) / len(texts),
        top_p=top_p,
        texts=list(texts),
    )
    if training is not None:
        known = set(training)
        grade.copied, grade.whole = longest_copied(ended, training), sum(text in known for text in ended)
    return grade


def longest_copied(texts: Sequence[str], training: Sequence[str]) -> int:
    """Words of the longest run in `texts` that stands in one of `training` as well, line breaks aside."""
    number: dict[str, int] = {}
    ours, theirs = _numbered(texts, number, end=0), _numbered(training, number, end=1)
    length = 8 if _among(_runs(ours, 8), _runs(theirs, 8)).any() else 0  # most places drop out at once
    groups = [(words, np.arange(len(words) - length + 1), _runs(words, length)) for words in (ours, theirs)]
    while True:  # of each group: its words, the places where a run begins that may be shared, the hashes of these runs
        a, b = (hashes for _, _, hashes in groups)
        shared = _among(a, b), _among(b, a)
        if not shared[0].any():
            return length - 1
        groups = [_longer(words, places[kept], hashes[kept], length)
                  for (words, places, hashes), kept in zip(groups, shared, strict=True)]  # fmt: skip
        length += 1


def _numbered(texts: Sequence[str], number: dict[str, int], end: int) -> np.ndarray:
    """The words of all texts as numbers, uint64, with `end` after each text: ours and theirs differ, so no run crosses it."""
    return np.array([n for text in texts for n in [*(number.setdefault(w, len(number) + 2) for w in text.split()), end]],
                    np.uint64)  # fmt: skip


def _mix(hashes: np.ndarray, words: np.ndarray) -> np.ndarray:
    """The hash of a run and one word more; two runs share one of 2^64 values as good as never."""
    mixed = (hashes ^ words) * np.uint64(0x9E3779B97F4A7C15)  # wraps around, as a hash should
    return mixed ^ (mixed >> np.uint64(29))


def _runs(words: np.ndarray, length: int) -> np.ndarray:
    """The hash of the run of `length` words at each place."""
    hashes = np.zeros(max(len(words) - length + 1, 0), np.uint64)
    for offset in range(length):
        hashes = _mix(hashes, words[offset : offset + len(hashes)])
    return hashes


def _longer(words: np.ndarray, places: np.ndarray, hashes: np.ndarray, length: int) -> tuple:
    """The same places with runs of one word more, where there is one."""
    fits = places + length < len(words)
    return words, places[fits], _mix(hashes[fits], words[places[fits] + length])


def _among(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether each of `values` is one of `others`."""
    known = np.unique(others)
    if not len(known):
        return np.zeros(len(values), bool)
    return known[np.minimum(np.searchsorted(known, values), len(known) - 1)] == values


def training_texts(corpus: data.Corpus) -> list[str]:
    """The documents of a corpus that its runs train on."""
    if corpus.train.starts is None:
        raise ValueError(f"The corpus {corpus.name} is one long text, and has no documents to compare with.")
    ids = np.asarray(corpus.train.tokens)
    ends = np.flatnonzero(ids == corpus.tokenizer.end_id)
    return [corpus.tokenizer.decode(ids[a + 1 : b].tolist()) for a, b in itertools.pairwise(ends)]
