"""Grade what a model writes against the grammar that wrote its corpus, and against the corpus itself.

    grade = grade_samples(model, tokenizer, count=300, temperature=0.7)
    print(grade)                                    shares, wrong facts, the longest run copied from the training set

A sample begins with nothing but the end token, as a story does in training. One that does not end within the model's
context counts as not well-formed. Shares of n samples have a standard error of up to 1 / (2 sqrt(n)): 3 % for 300.
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
    texts: list[str | None] = field(default_factory=list, repr=False)

    def __str__(self) -> str:
        lines = [
            f"{self.count} samples at temperature {self.temperature}",
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
) -> Grade:
    """Let the model write `count` stories and judge each; compare with the texts of `training`, if given."""
    texts = generate_many(model, tokenizer, count, tokens=model.config.context, temperature=temperature, seed=seed)
    return grade_texts(texts, temperature, training)


def grade_texts(texts: Sequence[str | None], temperature: float, training: Sequence[str] | None = None) -> Grade:
    """The grade of texts that were written at `temperature`; None stands for one that did not end."""
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
        texts=list(texts),
    )
    if training is not None:
        known = set(training)
        grade.copied, grade.whole = longest_copied(ended, training), sum(text in known for text in ended)
    return grade


def longest_copied(texts: Sequence[str], training: Sequence[str]) -> int:
    """Words of the longest run in `texts` that stands in one of `training` as well, line breaks aside."""
    number: dict[str, int] = {}
    theirs, ours = ([[number.setdefault(w, len(number)) for w in text.split()] for text in group]
                    for group in (training, texts))  # fmt: skip
    low, high = 0, max((len(text) for text in ours), default=0)
    while low < high:  # a run of n words holds one of n - 1, so the longest is found by halving
        middle = (low + high + 1) // 2
        if np.isin(_runs(ours, middle), _runs(theirs, middle)).any():
            low = middle
        else:
            high = middle - 1
    return low


def _runs(texts: list[list[int]], length: int) -> np.ndarray:
    """A 64-bit hash of each run of `length` words that lies within one text (two differ in the hash as good as always)."""
    lengths = np.array([len(text) for text in texts])
    flat = np.concatenate([np.asarray(text, np.uint64) for text in texts]) if len(texts) else np.empty(0, np.uint64)
    starts = np.concatenate([np.arange(max(n - length + 1, 0)) + at
                             for n, at in zip(lengths, np.cumsum(lengths) - lengths, strict=True)])  # fmt: skip
    hashes = np.zeros(len(starts), np.uint64)
    for offset in range(length):
        hashes = (hashes ^ flat[starts + offset]) * np.uint64(0x9E3779B97F4A7C15)  # wraps, as a hash should
        hashes ^= hashes >> np.uint64(29)
    return hashes


def training_texts(corpus: data.Corpus) -> list[str]:
    """The documents of a corpus that its runs train on."""
    if corpus.train.starts is None:
        raise ValueError(f"The corpus {corpus.name} is one long text, and has no documents to compare with.")
    ids = np.asarray(corpus.train.tokens)
    ends = np.flatnonzero(ids == corpus.tokenizer.end_id)
    return [corpus.tokenizer.decode(ids[a + 1 : b].tolist()) for a, b in itertools.pairwise(ends)]
