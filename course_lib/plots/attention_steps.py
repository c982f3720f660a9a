"""One head of attention, query after query: its scores with the keys, their softmax, and the weighted sum of the values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.plots.attention import attention_map
from course_lib.plots.player import Drawing, Player
from course_lib.plots.style import BLUE, ORANGE, PALE, SKY

MOST_TOKENS, MOST_NUMBERS = 6, 4  # whose numbers can still be read
LEFT, COLUMN, BAR = 130, 128, 44  # pixels
DOWN = {"query": 16, "token": 50, "key": 80, "score": 112, "weight": 180, "value": 224, "term": 256, "sum": 300}


@dataclass(frozen=True)
class Query:
    """What the three steps of one query show. scores: q · k / √D with -inf where masked; weights: (T,); output: (D,)."""

    position: int
    scores: np.ndarray
    weights: np.ndarray
    output: np.ndarray


def attention_steps(q, k, v, tokens: Sequence[str]) -> Player:
    """Three steps for each query: scores, weights, weighted sum. q, k, v: (T, D) of one head; causal. tokens: T strings.

    Raises ValueError for shapes that do not fit, or more numbers than can be read. The still picture is the `attention_map`.
    """
    q, k, v = (np.asarray(part, dtype=np.float64) for part in (q, k, v))
    count, size = len(tokens), q.shape[-1]
    if not q.shape == k.shape == v.shape == (count, size) or count > MOST_TOKENS or size > MOST_NUMBERS:
        raise ValueError(
            f"attention_steps() shows queries, keys and values of one shape (T, D), T at most {MOST_TOKENS} and D at most "
            f"{MOST_NUMBERS}, and T tokens; got {q.shape}, {k.shape}, {v.shape} and {count} tokens."
        )
    queries = [_query(i, q, k, v) for i in range(count)]
    drawing = Drawing(LEFT + count * COLUMN + 10, DOWN["sum"] + 24)
    labels = {
        "key": "key k",
        "score": f"score q · k / √{size}",
        "weight": "weight",
        "value": "value v",
        "term": "weight · v",
    }
    for line, words in labels.items():
        drawing.text(6, DOWN[line], words, "left")
    for j, token in enumerate(tokens):
        x = LEFT + (j + 0.5) * COLUMN
        drawing.text(x, DOWN["token"], token, "strong")
        drawing.text(x, DOWN["key"], vector(k[j]))
        drawing.text(x, DOWN["value"], vector(v[j]))
    for query in queries:
        _draw(drawing, query, q, k, v, tokens)
    still = attention_map(np.stack([query.weights for query in queries]), tokens)
    said = [sentence for query in queries for sentence in _sentences(query, v, tokens)]
    steps = [query for query in queries for _ in range(3)]
    return drawing.player("One head of attention, query after query", said, steps, still)


def _query(i: int, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> Query:
    scores = k @ q[i] / np.sqrt(q.shape[1])  # (T,)
    scores[i + 1 :] = -np.inf
    exps = np.exp(scores - scores.max())
    weights = exps / exps.sum()
    return Query(i, scores, weights, weights @ v)


def _draw(drawing: Drawing, query: Query, q: np.ndarray, k: np.ndarray, v: np.ndarray, tokens: Sequence[str]) -> None:
    i, width = query.position, len(tokens) * COLUMN
    scored, weighed, summed = (range(3 * i + first, 3 * i + 3) for first in range(3))  # the steps in which each is seen
    drawing.text(6, DOWN["query"], f"query of {tokens[i]}: q = {vector(q[i])}", "left strong", scored)
    for j in range(len(tokens)):
        left, x = LEFT + j * COLUMN, LEFT + (j + 0.5) * COLUMN
        masked = j > i
        kind = "small" if masked else ""
        drawing.box(left + 4, DOWN["score"] - 14, COLUMN - 8, 28, PALE if masked else SKY, steps=scored)
        score = f"{short(k[j] @ q[i])} / √{q.shape[1]} = {query.scores[j]:.2f}"
        drawing.text(x, DOWN["score"], "masked" if masked else score, kind, scored)
        tall = BAR * query.weights[j]
        drawing.box(left + 16, DOWN["weight"] + 8 - tall, 24, tall, BLUE, edge=BLUE, steps=weighed)
        drawing.text(x + 14, DOWN["weight"], f"{query.weights[j]:.2f}", kind, weighed)
        drawing.text(x, DOWN["term"], vector(query.weights[j] * v[j]), kind, summed)
    drawing.box(LEFT + 4, DOWN["sum"] - 16, width - 8, 32, ORANGE, steps=summed)
    words = f"sum: {vector(query.output)}, which {tokens[i]} now carries"
    drawing.text(LEFT + width / 2, DOWN["sum"], words, "strong", summed)


def _sentences(query: Query, v: np.ndarray, tokens: Sequence[str]) -> list[str]:
    i = query.position
    scores = ", ".join(
        f"{token} {score:.2f}" for token, score in zip(tokens[: i + 1], query.scores[: i + 1], strict=True)
    )
    hidden = f" Masked, because later: {', '.join(tokens[i + 1 :])}." if i + 1 < len(tokens) else ""
    weights = ", ".join(f"{token} {weight:.2f}" for token, weight in zip(tokens, query.weights, strict=True))
    terms = " + ".join(f"{query.weights[j]:.2f} · {vector(v[j])}" for j in range(i + 1))
    return [
        f"The query of {tokens[i]} has the scores: {scores}.{hidden}",
        f"Softmax makes weights of the scores of {tokens[i]}: {weights}.",
        f"The weighted sum of the values: {terms} = {vector(query.output)}, which {tokens[i]} now carries.",
    ]


def vector(numbers: np.ndarray) -> str:
    return f"[{', '.join(short(number) for number in numbers)}]"


def short(number: float) -> str:
    return f"{round(float(number), 2) + 0.0:g}"  # no negative zero
