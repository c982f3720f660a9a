"""A memory that is a matrix, step after step: what is written under each key, and what is read there afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.plots.attention_steps import short, vector
from course_lib.plots.picture import Picture, number, picture
from course_lib.plots.player import Drawing, Player
from course_lib.plots.style import GREY, INK, ORANGE, PALE, PAPER, SKY, SMALL, TEXT, VERMILLION, sheet, styled

MOST_FACTS, MOST_NUMBERS = 8, 4  # whose numbers can still be read
CELL, ROW, LEFT, TOP = 58, 34, 72, 130  # pixels of a number of the state, and around
RULES = {"adds": "adds: S + k vᵀ", "corrects": "corrects: S + k (v - Sᵀ k)ᵀ"}


@dataclass(frozen=True)
class Write:
    """The states after one write. states: rule -> (D, E); written: rule -> (E,); reads: rule -> {name: (read, stored)}."""

    name: str
    states: dict[str, np.ndarray]
    written: dict[str, np.ndarray]
    reads: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]]

    def worst(self, rule: str) -> float:
        """The largest difference between what is read and what was stored last."""
        return max((float(np.abs(got - want).max()) for got, want in self.reads[rule].values()), default=0.0)


def state_steps(names: Sequence[str], keys, values) -> Player:
    """A step for each pair that is written, by two rules side by side: values are added, or what is read there is corrected.

    names: T of the keys; a name that comes again is overwritten. keys: (T, D), values: (T, E). Raises ValueError for shapes that
    do not fit, or more numbers than can be read. The steps of the player are `Write`s; the first one is the empty state.
    """
    k, v = (np.asarray(part, dtype=np.float64) for part in (keys, values))
    fits = k.ndim == v.ndim == 2 and len(k) == len(v) == len(names)
    if not fits or len(names) > MOST_FACTS or max(k.shape[1], v.shape[1]) > MOST_NUMBERS:
        raise ValueError(
            f"state_steps() shows T names, keys (T, D) and values (T, E), T at most {MOST_FACTS}, D and E at most "
            f"{MOST_NUMBERS}; got {len(names)} names, {k.shape} and {v.shape}."
        )
    steps = _steps(names, k, v)
    wide = v.shape[1] * CELL + LEFT + 150
    drawing = Drawing(2 * wide, TOP + k.shape[1] * ROW + 34 + 26 * len(set(names)))
    for side, rule in enumerate(RULES):
        drawing.text(side * wide + 8, 16, RULES[rule], "left strong")
        for now, step in enumerate(steps):
            _panel(drawing, side * wide, rule, now, step, k[now - 1] if now else None, steps[max(now - 1, 0)])
    said = ["The memory is empty: a matrix of zeros."] + [
        _said(step, step.name in names[:t]) for t, step in enumerate(steps[1:])
    ]
    return drawing.player("A memory that is a matrix", said, steps, _still(steps))


def _steps(names: Sequence[str], k: np.ndarray, v: np.ndarray) -> list[Write]:
    states = {rule: np.zeros((k.shape[1], v.shape[1])) for rule in RULES}  # (D, E)
    steps, stored = [Write("", dict(states), {}, {rule: {} for rule in RULES})], {}
    for name, key, value in zip(names, k, v, strict=True):
        written = {"adds": value, "corrects": value - states["corrects"].T @ key}  # (E,)
        states = {rule: states[rule] + np.outer(key, written[rule]) for rule in RULES}  # (D, E)
        stored[name] = (key, value)
        reads = {rule: {one: (states[rule].T @ at, right) for one, (at, right) in stored.items()} for rule in RULES}
        steps.append(Write(name, states, written, reads))
    return steps


def _panel(
    drawing: Drawing, left: float, rule: str, now: int, step: Write, key: np.ndarray | None, before: Write
) -> None:
    """One rule after one write: the key down the side, what is written along the top, the state, and what is read."""
    state, old = step.states[rule], before.states[rule]
    if key is not None:
        drawing.text(left + 8, 42, f"k of {step.name}: {vector(key)}", "left", [now])
        drawing.text(left + 8, 66, f"written under it: {vector(step.written[rule])}", "left", [now])
        for e, value in enumerate(step.written[rule]):
            drawing.text(left + LEFT + (e + 0.5) * CELL, TOP - 14, short(value), "strong", [now])
    for d in range(state.shape[0]):
        y = TOP + d * ROW
        if key is not None:
            drawing.text(left + LEFT - 26, y + ROW / 2, short(key[d]), "strong", [now])
        for e in range(state.shape[1]):
            changed = not np.isclose(state[d, e], old[d, e])
            drawing.box(left + LEFT + e * CELL, y, CELL - 4, ROW - 4, _colour(state[d, e]), ORANGE if changed else GREY,
                        3 if changed else 0.8, [now])  # fmt: skip
            drawing.text(left + LEFT + (e + 0.5) * CELL - 2, y + ROW / 2 - 2, short(state[d, e]), "", [now])
    y = TOP + state.shape[0] * ROW + 22
    for name, (got, want) in step.reads[rule].items():
        wrong = not np.allclose(got, want)
        words = f"read {name}: {vector(got)}" + (f", not {vector(want)}" if wrong else "")
        drawing.text(left + 8, y, words, "left strong" if wrong else "left", [now])
        y += 26


def _said(step: Write, again: bool) -> str:
    parts = []
    for rule in RULES:
        wrong = [name for name, (got, want) in step.reads[rule].items() if not np.allclose(got, want)]
        parts.append(f"that {rule}, {'all are read right' if not wrong else 'wrong is now: ' + ', '.join(wrong)}")
    return f"{step.name} is {'overwritten' if again else 'written'}. In the memory {parts[0]}; in the one {parts[1]}."


def _colour(value: float) -> str:
    return PALE if abs(value) < 1e-9 else SKY if value > 0 else VERMILLION


@styled()
def _still(steps: list[Write]) -> Picture:
    """Both states after the last write, and what is read there."""
    last = steps[-1]
    rows, columns = last.states["adds"].shape
    wide = max(columns * 0.62 + 0.6, 4.0)
    made, axes = sheet(2 * wide + 0.3, 0.9 + rows * 0.4 + 0.3 * len(last.reads["adds"]))
    for side, rule in enumerate(RULES):
        left, top = 0.2 + side * wide, 0.55 + rows * 0.4 + 0.3 * len(last.reads[rule])
        axes.text(left, top + 0.12, RULES[rule], fontsize=TEXT, color=INK)
        for d in range(rows):
            for e in range(columns):
                axes.text(left + 0.35 + e * 0.62, top - 0.25 - d * 0.4, short(last.states[rule][d, e]), ha="center", va="center",
                          fontsize=SMALL, color=INK, bbox={"boxstyle": "square,pad=0.4", "edgecolor": GREY,
                          "facecolor": PAPER if last.states[rule][d, e] else PALE})  # fmt: skip
        for line, (name, (got, want)) in enumerate(last.reads[rule].items()):
            wrong = not np.allclose(got, want)
            words = f"read {name}: {vector(got)}" + (f", not {vector(want)}" if wrong else "")
            axes.text(
                left, top - 0.35 - rows * 0.4 - line * 0.3, words, fontsize=SMALL, color=VERMILLION if wrong else INK
            )
    return picture(
        made,
        f"A memory of {rows} x {columns} numbers after {len(steps) - 1} writes. Where values are added, what is read is off by "
        f"up to {number(last.worst('adds'))}; where each write corrects what is read under its key, by up to "
        f"{number(last.worst('corrects'))}.",
    )
