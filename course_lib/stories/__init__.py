"""Short stories from a probabilistic grammar, every one with an exactly known probability.

    for text in stories.write(seed=0, count=3): print(text)
    stories.log_probability(text)     nats; -inf for what the grammar cannot tell
    stories.judge(text)               .possible, .well_formed, .wrong_facts, .first_fault
    stories.trace(text)               the nats, span by span

A story has about 112 words (90 to 140) in four paragraphs, with single newlines between them and never a blank line;
all of them together use some 1,900 words. One text has one derivation, so the mean of -log_probability over many
stories, 47 nats, is the entropy that no language model can beat: the floor of the loss, for whole stories with their
end token and a context that begins with the story.
"""

from collections.abc import Iterator
from random import Random

from course_lib.stories import judging, telling
from course_lib.stories.corpus import GRAMMAR
from course_lib.stories.judging import Verdict, sentences
from course_lib.stories.reading import Span

__all__ = [
    "GRAMMAR", "Span", "Verdict", "is_possible", "judge", "log_probability", "sentences", "spoil", "trace", "write",
    "write_with_log_probability",
]  # fmt: skip


def write(seed: int, count: int, first: int = 0) -> Iterator[str]:
    """Stories first, ..., first + count - 1 of this seed. Story i depends on the seed and on i only."""
    return (text for text, _ in telling.tell_numbered(GRAMMAR, seed, count, first))


def write_with_log_probability(seed: int, count: int, first: int = 0) -> Iterator[tuple[str, float]]:
    """The same stories, each with its log-probability in nats, without reading it back."""
    return telling.tell_numbered(GRAMMAR, seed, count, first)


def log_probability(text: str) -> float:
    """log P(text) in nats; -inf for a text that the grammar cannot tell."""
    return judging.log_probability(GRAMMAR, text)


def is_possible(text: str) -> bool:
    """Could this text have been told, every fact of it right?"""
    return log_probability(text) > float("-inf")


def judge(text: str) -> Verdict:
    """What is right and wrong with a text that claims to be a story. See `Verdict`."""
    return judging.judge(GRAMMAR, text)


def trace(text: str) -> list[Span]:
    """Where a story's nats are: its spans in order, that is template choices, free words, facts, determined text."""
    return judging.trace(GRAMMAR, text)


def spoil(text: str, random: Random, kind: str | None = None) -> str:
    """The story with one fact contradicted: a later mention is exchanged for another name, thing, colour, ..."""
    return judging.spoil(GRAMMAR, text, random, kind)
