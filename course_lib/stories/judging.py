"""Judge texts that claim to be stories: could it have been told, and if not, where does it go wrong?"""

import math
import re
from dataclasses import dataclass
from random import Random

from course_lib.stories.grammar import Grammar
from course_lib.stories.reading import Piece, Reach, read

SENTENCE_END = re.compile(r"(?<=[.!?])[\"']?\s+(?=[\"A-Z])")
PLAIN_FORMS = ("", "a", "Plain", "A")  # forms that name the thing itself, not pronouns


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the grammar says about a text.

    possible: the grammar could have told exactly this. well_formed: it could, if facts were free to change from one
    mention to the next. wrong_facts: how many mentions contradict the story (the fewest that explain it; of a text
    that is not well formed, those in the part that can be read). first_fault: the index of the first sentence that
    could not have been told, None if possible. log_probability: in nats, -inf if not possible.
    """

    possible: bool
    well_formed: bool
    wrong_facts: int
    first_fault: int | None
    log_probability: float


def sentences(text: str) -> list[str]:
    """The text cut after each sentence; `Verdict.first_fault` counts in this list."""
    cuts = [0, *(match.end() for match in SENTENCE_END.finditer(text)), len(text)]
    return [text[start:end].strip() for start, end in zip(cuts, cuts[1:], strict=False)]


def log_probability(grammar: Grammar, text: str) -> float:
    """log P(text) in nats, summed over all derivations; -inf if there is none."""
    nats = [reading.nats for reading in read(grammar, text)]
    if len(nats) < 2:
        return -nats[0] if nats else -math.inf
    least = min(nats)
    return math.log(sum(math.exp(least - each) for each in nats)) - least


def judge(grammar: Grammar, text: str) -> Verdict:
    """The verdict on any text; never raises."""
    reach = Reach()
    told = [reading.nats for reading in read(grammar, text, reach=reach)]
    if told:
        return Verdict(True, True, 0, None, log_probability(grammar, text))
    fault = sum(match.end() <= reach.position for match in SENTENCE_END.finditer(text))
    reach = Reach()
    best = next(read(grammar, text, free=True, reach=reach), None)
    return Verdict(False, best is not None, best.wrong if best else reach.wrong, fault, -math.inf)


def trace(grammar: Grammar, text: str) -> list[Piece]:
    """The pieces of a story, in order, with their nats; a ValueError if the grammar cannot tell it."""
    reading = next(read(grammar, text), None)
    if reading is None:
        raise ValueError(
            f"This text is not one of our stories, so it has no trace: {text[:60]!r}... judge(text) says where it fails."
        )
    return reading.pieces


def spoil(grammar: Grammar, text: str, random: Random, kind: str | None = None) -> str:
    """The story with one later mention of a fact (of this kind, if given) exchanged for another of its kind.

    Raises ValueError if the text is no story, or mentions no such fact twice.
    """
    mentions = [
        piece
        for piece in trace(grammar, text)
        if piece.kind == "fact" and piece.form in PLAIN_FORMS and kind in (None, piece.word.kind)
    ]
    if not mentions:
        raise ValueError(f"This story mentions no {kind or 'fact'} a second time: {text[:60]!r}...")
    start, end, *_, entry, form = random.choice(mentions)
    others = [other[form] for other in grammar.kinds[entry.kind].words if other[form] != entry[form]]
    return text[:start] + random.choice(others) + text[end:]
