"""Judge texts that claim to be stories: could it have been told, and if not, where does it go wrong?"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from course_lib.stories.grammar import Grammar
from course_lib.stories.reading import Reach, Span, read

SENTENCE_END = re.compile(r"([.!?]\"?)\s+(?=[\"A-Z])")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the grammar says about a text.

    possible: the grammar could have told exactly this. well_formed: it could, if any name could stand for any other, any
    place for any other, and so on. wrong_facts: how many words would have to be exchanged for others of their kind (the
    fewest that do; of a text that is not well formed, in the part that can be read). first_fault: the index of the first
    sentence that could not have been told, None if possible. log_probability: in nats, -inf if not possible.
    """

    possible: bool
    well_formed: bool
    wrong_facts: int
    first_fault: int | None
    log_probability: float


def sentences(text: str) -> list[str]:
    """The text cut after each sentence; `Verdict.first_fault` counts in this list."""
    cuts = [0, *(match.end() for match in SENTENCE_END.finditer(text)), len(text)]
    return [text[start:end].strip() for start, end in pairwise(cuts)]


def log_probability(grammar: Grammar, text: str) -> float:
    """log P(text) in nats, summed over all derivations; -inf if there is none."""
    return _log_sum(reading.nats for reading in read(grammar, text))


def judge(grammar: Grammar, text: str) -> Verdict:
    """The verdict on any text; never raises."""
    reach = Reach()
    log_probability = _log_sum(reading.nats for reading in read(grammar, text, reach=reach))
    if log_probability > -math.inf:
        return Verdict(True, True, 0, None, log_probability)
    fault = sum(end.end(1) <= reach.position for end in SENTENCE_END.finditer(text))
    reach = Reach()
    best = next(read(grammar, text, free=True, reach=reach), None)
    return Verdict(False, best is not None, best.wrong if best else reach.wrong, fault, -math.inf)


def _log_sum(nats: Iterable[float]) -> float:
    """log of the summed probabilities; -inf of none."""
    nats = list(nats)
    least = min(nats, default=math.inf)
    return math.log(math.fsum(math.exp(least - each) for each in nats)) - least if nats else -math.inf


def trace(grammar: Grammar, text: str) -> list[Span]:
    """The spans of a story, in order, with their nats; a ValueError if the grammar cannot tell it."""
    reading = next(read(grammar, text), None)
    if reading is None:
        raise ValueError(
            f"This text is not one of our stories, so it has no trace: {text[:60]!r}... judge(text) says where it fails."
        )
    return reading.spans


def spoil(grammar: Grammar, text: str, random: Random, kind: str | None = None) -> str:
    """The story with one later mention of a fact (of this kind, if given) exchanged for another of its kind.

    Raises ValueError if the text is no story, or mentions no such fact twice.
    """
    exchanges = []
    for span in trace(grammar, text):
        if span.kind == "fact" and kind in (None, span.word.kind):
            said, same_kind = span.word[span.form], grammar.kinds[span.word.kind].words
            others = [other[span.form] for other in same_kind if other[span.form] != said]
            if len(others) == len(same_kind) - 1:  # it names this one alone: no pronoun
                exchanges.append((span, others))
    if not exchanges:
        raise ValueError(f"This story mentions no {kind or 'fact'} a second time: {text[:60]!r}...")
    span, others = random.choice(exchanges)
    return text[: span.start] + random.choice(others) + text[span.end :]
