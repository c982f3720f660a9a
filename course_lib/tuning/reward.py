"""What a text is worth, told by the story judge; and credit: which of its tokens earned that.

    earned = REWARDS["stories"](text)                     of the whole text
    credit = group_credit(rewards, lengths, width)        of each token; or kept_credit, fault_credit
    facts, fault = told(text)                             what `fact_credit` gives credit for

The judge knows the grammar, so its word is exact. Rewards that are worse on purpose stand beside it: a model soon
finds out how to please them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib import stories
from course_lib.stories.corpus import GRAMMAR
from course_lib.stories.reading import Reach, Span, read


def first_fault(text: str) -> int | None:
    """Up to which character some story begins like this text; None if it is a story. An end too soon is a fault there."""
    reach = Reach(fine=True)
    if next(read(GRAMMAR, text, reach=reach), None) is not None:
        return None
    return reach.position


def told(text: str) -> tuple[list[Span], int | None]:
    """The words that a text draws and the facts that it says again, right ones and wrong ones, up to where it cannot be read;
    and that character, None if it is a story but for its facts."""
    reach = Reach(fine=True)
    best = next(read(GRAMMAR, text, free=True, reach=reach), None)
    spans = reach.spans if best is None else best.spans
    facts = [span for span in spans if span.kind in ("fact", "word")]
    return facts, reach.position if best is None else None


def of_stories(text: str | None) -> float:
    """2 for a story that could have been told; 0.5 to 1 for one with wrong facts; 0.05 for each sentence that any other text
    begins before its fault; -0.2 for one without an end. So there is something to gain at every distance from a story."""
    if text is None:
        return -0.2
    verdict = stories.judge(text)
    if verdict.possible:
        return 2.0
    if verdict.well_formed:
        return 0.5 + 0.5 * max(0.0, 1 - verdict.wrong_facts / 8)
    fault = first_fault(text)
    return 0.05 * len(stories.sentences(text[:fault])) if fault else 0.0


def of_possible(text: str | None) -> float:
    """1 for a story that could have been told, 0 for anything else."""
    return float(text is not None and first_fault(text) is None)


def of_length(text: str | None) -> float:
    """A tenth for each word: a reward that says nothing of what they are."""
    return 0.0 if text is None else 0.1 * len(text.split())


def of_a_word(text: str | None) -> float:
    """1 for each "happy"."""
    return float((text or "").lower().count("happy"))


def of_form(text: str | None) -> float:
    """1 for a story in which any name may stand for any other: facts do not count."""
    return float(text is not None and stories.judge(text).well_formed)


REWARDS: dict[str, Callable[[str | None], float]] = {
    "stories": of_stories, "possible": of_possible, "length": of_length, "word": of_a_word, "form": of_form,
}  # fmt: skip


def group_credit(rewards: Sequence[float], lengths: Sequence[int], width: int) -> np.ndarray:
    """Each token of a text gets the text's advantage within its group: (r - mean) / std. (GRPO: Shao et al. 2024, section 4.1)

    -> (B, width), nan behind a text's end. A group that earned the same all over teaches nothing: all zeros."""
    r = np.asarray(rewards, np.float64)
    advantages = (r - r.mean()) / r.std() if r.std() > 1e-9 else np.zeros(len(r))  # (B,)
    return spread(advantages[:, None] * np.ones(width), lengths)


def kept_credit(rewards: Sequence[float], lengths: Sequence[int], width: int) -> np.ndarray:
    """The texts that earned most are examples, each token of theirs counts 1, and the others are thrown away: with these credits
    the loss is that of supervised fine-tuning. (Rejection sampling: Touvron et al. 2023, arXiv 2307.09288, section 3.2.3)

    -> (B, width), nan behind a text's end and in texts that are thrown away; all zeros where all earned the same."""
    r = np.asarray(rewards, np.float64)
    best = r == r.max()  # (B,)
    return spread(np.full((len(r), width), float(not best.all())), np.where(best, lengths, 0))


def fault_credit(faults: Sequence[int | None], lengths: Sequence[int], width: int) -> np.ndarray:
    """Only what a token itself did: -1 for the one at which a text first goes wrong, and a little for it and each before it,
    so that the sum over the batch is 0; nothing for what comes after, which was written on a wrong beginning.

    faults: index of that token in each text, None if there is none. -> (B, width), nan where nothing is to be learned."""
    last = [length if fault is None else fault + 1 for fault, length in zip(faults, lengths, strict=True)]
    wrong = sum(fault is not None for fault in faults)
    credit = np.full((len(last), width), wrong / max(sum(last), 1))
    for row, fault in enumerate(faults):
        if fault is not None:
            credit[row, fault] -= 1.0
    return spread(credit, last)


@dataclass(frozen=True)
class Mention:
    """A fact that a text mentions: of which kind (a name, a place; drawn or said again), in which of its tokens, and whether it
    is right."""

    kind: str
    tokens: range
    right: bool


def fact_credit(
    mentions: Sequence[Sequence[Mention]], faults: Sequence[int | None], lengths: Sequence[int], width: int
) -> np.ndarray:
    """Each mention by itself: 1 if it is right, 0 if not, minus the mean of its kind in the batch; a fault as by `fault_credit`.

    What is free to choose, and so never wrong, earns nothing by being chosen: no plot and no name is preferred.
    mentions, faults: of each text. -> (B, width) with a standard deviation of 1, nan behind a text's fault or end."""
    credit = fault_credit(faults, lengths, width)  # (B, width)
    kinds: dict[str, list[bool]] = {}
    for one in (one for text in mentions for one in text):
        kinds.setdefault(one.kind, []).append(one.right)
    for row, text in enumerate(mentions):
        for one in text:
            credit[row, one.tokens] += one.right - np.mean(kinds[one.kind])
    return credit / max(float(np.nanstd(credit)), 1e-9)


def spread(credit: np.ndarray, lengths: Sequence[int]) -> np.ndarray:
    """credit (B, width) with nan from each row's length on."""
    return np.where(np.arange(credit.shape[1])[None] < np.asarray(lengths)[:, None], credit, math.nan)
