"""Requests and their answers as batches in which the answers alone are scored.

    corpus = examples.prepare(tokenizer, context=256)       a data.Corpus, as training has it

One example fills a row, padded at its end: prompts are read, answers are learned. What an answer costs at least is known
(stories/requests.py), so the validation loss has a floor here too.
"""

from collections.abc import Iterable

import numpy as np
from tqdm import tqdm

from course_lib import data
from course_lib.data import texts, windows
from course_lib.data.windows import Training, Validation, spread
from course_lib.data.writers import HELD_OUT
from course_lib.stories import requests
from course_lib.tokenizer import Tokenizer
from course_lib.tuning import chat

SEED = 1  # of the requests; the stories of pretraining are those of seed 0
VALIDATION = 256  # requests 0 to 255; those to train on follow
NAME = "requests"


class Examples(Training):
    """Rows of one example each, in another order each epoch: `batch(step, size) -> idx, targets`, int32 (B, T)."""

    def __init__(self, rows: list[tuple[list[int], int]], context: int, seed: int, padding: int) -> None:
        """rows: ids of prompt and answer, and where the answer begins. padding: an id to fill rows up with."""
        tokens = np.concatenate([ids for ids, _ in rows] + [np.full(context + 1, padding)]).astype(np.uint32)
        lengths = np.array([len(ids) for ids, _ in rows])
        super().__init__(tokens, context, seed, np.cumsum(lengths) - lengths)
        self.lengths = lengths[: len(self.starts)]
        self.answers = np.array([answer for _, answer in rows])[: len(self.starts)]

    def rows(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """These examples -> idx, targets: int32 (B, T)."""
        both = windows.cut(self.tokens, self.starts[chosen], self.context)
        idx, targets = (part.copy() for part in both)  # one row: one memory
        column = np.arange(self.context)[None]  # (1, T); the target in column t is token t + 1
        first, end = (self.answers[chosen] - 1)[:, None], (self.lengths[chosen] - 1)[:, None]  # (B, 1)
        targets[(column < first) | (column >= end)] = data.IGNORE
        idx[column > end] = self.tokens[-1]
        return idx, targets

    def batch(self, step: int, batch_size: int) -> tuple[np.ndarray, np.ndarray]:
        """The batch of one step. The same arguments give the same batch, always."""
        number = step * batch_size + np.arange(batch_size)
        epochs, inside = np.divmod(number, len(self.starts))
        return self.rows(np.concatenate([self._order(e)[inside[epochs == e]] for e in np.unique(epochs).tolist()]))


def encode(tokenizer: Tokenizer, wanted: Iterable[requests.Request], context: int) -> tuple[list, list[float], int]:
    """Examples that fit into a window: (ids, where the answer begins) each; their nats; and how many were too long."""
    rows, nats, longer = [], [], 0
    for one in wanted:
        prompt, answer = chat.prompt_ids(tokenizer, one.prompt), chat.answer_ids(tokenizer, one.answer)
        if len(prompt) + len(answer) > context + 1:
            longer += 1
            continue
        rows.append(([*prompt, *answer], len(prompt)))
        nats.append(one.nats)
    return rows, nats, longer


def prepare(tokenizer: Tokenizer, context: int, count: int = 20_000, seed: int = 0, bar: bool = False) -> data.Corpus:
    """`count` requests to train on and VALIDATION others, encoded by a tokenizer that has turns. Raises ValueError.

    seed: of the order of the examples; the requests are always the same.
    """
    written = requests.write(SEED, VALIDATION + count)
    held_out = [next(written) for _ in range(VALIDATION)]
    validation, nats, _ = encode(tokenizer, held_out, context)
    seen = {(one.prompt, one.answer) for one in held_out}
    shown = tqdm(written, "requests", count, unit=" requests", disable=not bar)
    others = (one for one in shown if (one.prompt, one.answer) not in seen)
    rows, _, longer = encode(tokenizer, others, context)
    if not validation or len(rows) < count // 10:
        raise ValueError(
            f"Of {count:,} requests with their answers only {len(rows):,} fit into a window of {context} tokens. Fine-tune a "
            "model with a longer context, or one whose tokenizer has a larger vocabulary."
        )
    train = Examples(rows, context, seed, tokenizer.end_id)
    idx, targets = Examples(validation, context, seed, tokenizer.end_id).rows(np.arange(len(validation)))
    notes = (
        [f"{longer:,} of {count:,} requests are longer than a window with their answers, and left out."]
        if longer
        else []
    )
    return data.Corpus(NAME, tokenizer, train, Validation(idx, targets, np.array(nats)), context, len(rows), notes)


def from_text(tokenizer: Tokenizer, text: str, context: int, seed: int = 0) -> data.Corpus:
    """A file or folder of UTF-8 text as windows, encoded by a tokenizer that is there already. Raises TextError."""
    ids = [np.array([tokenizer.end_id], np.uint32)]
    for path in texts.files(text):
        ids += [np.array(part, np.uint32) for part in tokenizer.encode_iter(texts.chunks(path))]
        ids.append(ids[0])
    tokens = np.concatenate(ids)  # (n,)
    split = int((1 - HELD_OUT) * len(tokens))
    if split <= context + 1:
        raise texts.TextError(f"{text} has {len(tokens):,} tokens, too few for windows of {context}: give more text.")
    train, validation = Training(tokens[:split], context, seed), spread(tokens[split:], context, VALIDATION)
    return data.Corpus(text, tokenizer, train, validation, context)
