"""What a text is worth, told by the story judge; and credit: which of its tokens earned that.

    judged = REWARDS["stories"](text)       .reward of the whole text, .fault: the character where it first goes wrong
    credit = group_credit(rewards, lengths, width)

The judge knows the grammar, so its word is exact. Rewards that are worse on purpose stand beside it: a model soon
finds out how to please them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib import stories
from course_lib.stories.corpus import GRAMMAR
from course_lib.stories.reading import Reach, read


@dataclass(frozen=True)
class Judged:
    """reward of the text; fault: index of the first character that could not have been told, None if there is none."""

    reward: float
    fault: int | None = None


def first_fault(text: str) -> int | None:
    """Up to which character some story begins like this text; None if it is a story. An end too soon is a fault there."""
    reach = Reach(fine=True)
    if next(read(GRAMMAR, text, reach=reach), None) is not None:
        return None
    return reach.position


def of_stories(text: str | None) -> Judged:
    """2 for a story that could have been told; 0.5 to 1 for one with wrong facts; 0.05 for each sentence that any other text
    begins before its fault; -0.2 for one without an end. So there is something to gain at every distance from a story."""
    if text is None:
        return Judged(-0.2)
    verdict = stories.judge(text)
    if verdict.possible:
        return Judged(2.0)
    fault = first_fault(text)
    if verdict.well_formed:
        return Judged(0.5 + 0.5 * max(0.0, 1 - verdict.wrong_facts / 8), fault)
    return Judged(0.05 * len(stories.sentences(text[:fault])) if fault else 0.0, fault)


def of_possible(text: str | None) -> Judged:
    """1 for a story that could have been told, 0 for anything else."""
    if text is None:
        return Judged(0.0)
    fault = first_fault(text)
    return Judged(float(fault is None), fault)


def of_length(text: str | None) -> Judged:
    """A tenth for each word: a reward that says nothing of what they are."""
    return Judged(0.0 if text is None else 0.1 * len(text.split()))


def of_a_word(text: str | None) -> Judged:
    """1 for each "happy"."""
    return Judged(float((text or "").lower().count("happy")))


def of_form(text: str | None) -> Judged:
    """1 for a story in which any name may stand for any other: facts do not count."""
    return Judged(float(text is not None and stories.judge(text).well_formed))


REWARDS: dict[str, Callable[[str | None], Judged]] = {
    "stories": of_stories, "possible": of_possible, "length": of_length, "word": of_a_word, "form": of_form,
}  # fmt: skip


def group_credit(rewards: Sequence[float], lengths: Sequence[int], width: int) -> np.ndarray:
    """Each token of a text gets the text's advantage within its group: (r - mean) / std. (GRPO: Shao et al. 2024, section 4.1)

    -> (B, width), nan behind a text's end. A group that earned the same all over teaches nothing: all zeros."""
    r = np.asarray(rewards, np.float64)
    advantages = (r - r.mean()) / r.std() if r.std() > 1e-9 else np.zeros(len(r))  # (B,)
    return spread(advantages[:, None] * np.ones(width), lengths)


def fault_credit(faults: Sequence[int | None], lengths: Sequence[int], width: int) -> np.ndarray:
    """Only what a token itself did: -1 for the one at which a text first goes wrong, and a little for each before it, so that
    the sum over the batch is 0; nothing for what comes after, which was written on a wrong beginning.

    faults: index of that token in each text, None if there is none. -> (B, width), nan where nothing is to be learned."""
    last = [length if fault is None else fault + 1 for fault, length in zip(faults, lengths, strict=True)]
    wrong = sum(fault is not None for fault in faults)
    credit = np.full((len(last), width), wrong / max(sum(last), 1))
    for row, fault in enumerate(faults):
        if fault is not None:
            credit[row, fault] -= 1.0
    return spread(credit, last)


def spread(credit: np.ndarray, lengths: Sequence[int]) -> np.ndarray:
    """credit (B, width) with nan from each row's length on."""
    return np.where(np.arange(credit.shape[1])[None] < np.asarray(lengths)[:, None], credit, math.nan)
