"""Speculative decoding: a cheap model drafts the next tokens, the model verifies them in one pass.

The texts have the model's own distribution. A draft x from q is accepted with probability min(1, p(x) / q(x)), where p is the
model's. At the first that is not, the next token is drawn from what q had too little of, max(p - q, 0), renormalised. So a token
x comes with probability

    min(q(x), p(x)) + P(rejected) max(p(x) - q(x), 0) / Z = min(q(x), p(x)) + max(p(x) - q(x), 0) = p(x),

for Z, the sum of max(p - q, 0), is P(rejected) = 1 - sum of min(q, p). (Leviathan et al. 2023, "Fast Inference from Transformers
via Speculative Decoding", appendix A.1; Chen et al. 2023)

It is faster where one pass over several tokens takes little longer than over one, and the draft is good and cheap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from course_lib import sampling
from course_lib.generation import Choice
from course_lib.model import GPT
from course_lib.serving.drafts import Draft
from course_lib.serving.paged_model import ROWS, Addition, PagedModel
from course_lib.tokenizer import Tokenizer


def draw(probabilities: np.ndarray, u: float) -> int:
    """A token, drawn from probabilities (V,), whatever their sum, with the number u in [0, 1)."""
    return int(sampling.draw(probabilities[None], np.array([u]))[0])


def accept(target: np.ndarray, draft: np.ndarray, drafted: list[int], uniform: np.ndarray) -> list[int]:
    """The tokens that K drafted ones become: those that are accepted, then one more that is the model's own; 1 to K + 1.

    target: the model's probabilities (K + 1, V) for each drafted token and the one after them all. draft (K, V): those that the
    drafted (K,) were drawn from. uniform (K + 1): numbers in [0, 1); the i-th decides on token i, the last one draws.
    """
    for i, token in enumerate(drafted):
        if uniform[i] * draft[i, token] >= target[i, token]:
            return [*drafted[:i], draw(np.maximum(target[i] - draft[i], 0.0), uniform[-1])]
    return [*drafted, draw(target[-1], uniform[-1])]


@dataclass
class Tally:
    """How many passes the model made, what was drafted, and what of that was accepted."""

    passes: int = 0
    drafted: int = 0
    accepted: int = 0


def speculate(
    model: GPT, tokenizer: Tokenizer, draft: Draft, prompt: list[int], tokens: int, choice: Choice, seed: int = 0,
    count: int = 4, tally: Tally | None = None,
) -> Iterator[list[int]]:  # fmt: skip
    """The tokens after a prompt (ids, without the end token before them), several at a time, up to the end token.

    At most `tokens` of them, and as many as the model's context has room for. count: tokens that are drafted for a pass. The
    texts are distributed as those of generation.generate; for a seed they are others, since other random numbers decide.
    """
    context, known = model.config.context, min(tokenizer.vocab_size, model.config.vocab_size)
    paged = PagedModel(model, -(-context // ROWS))
    random, tally = np.random.default_rng(seed), tally or Tally()
    table: list[int] = []
    ids, computed = [tokenizer.end_id, *prompt], 0
    stop = min(len(ids) + tokens, context)
    while len(ids) < stop:
        drafted, chances = draft.propose(ids, min(count, stop - len(ids) - 1), choice, random)  # (K,), (K, V)
        added = [*ids[computed:], *drafted]
        paged.make_room(table, computed, len(added))
        (logits,) = paged.logits([Addition(table, added, computed, every=True)])  # (len(added), V)
        target = choice.probabilities(logits[len(added) - len(drafted) - 1 :, :known])  # (K + 1, V)
        fresh = accept(target, chances, drafted, random.random(len(drafted) + 1))
        tally.passes += 1
        tally.drafted += len(drafted)
        tally.accepted += len(fresh) - 1
        if tokenizer.end_id in fresh:
            yield fresh[: fresh.index(tokenizer.end_id) + 1]
            return
        computed = len(ids) + len(fresh) - 1  # the rows of rejected tokens are written over
        ids += fresh
        yield fresh
