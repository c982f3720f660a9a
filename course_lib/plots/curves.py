"""The loss of a run, step by step, against what is known: the floor below, the bigram model above."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.plots.picture import Picture, number, picture
from course_lib.plots.style import BLUE, CYCLE, GREEN, GREY, INK, PAPER, PURPLE, SMALL, VERMILLION, figure, styled

Log = Sequence[Mapping[str, Any]]  # records of metrics.jsonl: step, loss, and val_loss where it was measured


RUNS = tuple(INK if colour == GREEN else colour for colour in CYCLE)  # green is the floor's


@styled()
def loss_curve(log: Log, floor: float | None = None, bigram: float | None = None, title: str = "") -> Picture:
    """The training and validation loss of one run, in nats per token.

    log: the records of `metrics.read(run)`. floor: the entropy of the text. bigram: the loss of a bigram model.
    Raises ValueError for an empty log.
    """
    steps, losses = _series(log, "loss")
    at, validation = _series(log, "val_loss", needed=False)
    made = figure(8, 4.2)
    axes = made.add_subplot()
    smooth = smoothed(losses)
    axes.plot(steps, losses, color=BLUE, alpha=0.25, linewidth=1)
    axes.plot(steps, smooth, color=BLUE, label="training")
    if len(at):
        axes.plot(at, validation, color=VERMILLION, marker="o", markersize=5, label="validation")
    last = float(validation[-1] if len(at) else smooth[-1])
    _levels(axes, {"bigram model": (bigram, PURPLE, (0, (5, 3))), "floor": (floor, GREEN, "-")}, last)
    _frame(axes, title or "Loss while training")
    axes.legend(loc="best", frameon=False)
    kind = "Validation loss ends" if len(at) else "It ends"
    words = [
        f"Training loss falls from {number(losses[0])} to {number(smooth[-1])} nats per token in {steps[-1]:,.0f} steps."
    ]
    words.append(f"{kind} at {number(last)}{_against(last, floor, bigram)}.")
    return picture(made, " ".join(words))


@styled()
def compare_losses(
    logs: Mapping[str, Log],
    floor: float | None = None,
    title: str = "",
    xlabel: str = "step",
    ylabel: str = "loss, nats per token",
    top: float | None = None,
) -> Picture:
    """The validation losses (training losses, smoothed, of a run without any) of several runs in one plot, by name.

    top: where the picture ends, for a run that leaps far above the others.
    """
    made = figure(8, 4.2)
    axes = made.add_subplot()
    ends = {}
    for (name, log), color in zip(logs.items(), RUNS, strict=False):
        steps, losses = _series(log, "val_loss", needed=False)
        if not len(steps):
            steps, losses = _series(log, "loss")
            losses = smoothed(losses)
        axes.plot(steps, losses, color=color, label=name)
        ends[name] = float(losses[-1])
    _levels(axes, {"floor": (floor, GREEN, "-")}, min(ends.values()))
    _frame(axes, title or "Loss of several runs", xlabel, ylabel)
    if top is not None:
        axes.set_ylim(-0.04 * top, top)
    axes.legend(loc="best", frameon=False)
    best = min(ends, key=ends.__getitem__)
    listed = ", ".join(f"{name} {number(end)}" for name, end in ends.items())
    return picture(made, f"At the end ({ylabel}): {listed}. The lowest is that of {best}{_against(ends[best], floor)}.")


def smoothed(losses: np.ndarray) -> np.ndarray:
    """The mean over a twentieth of the run around each step, so that the noise of single batches does not hide the way."""
    half = len(losses) // 40
    total = np.concatenate([[0.0], np.cumsum(losses)])
    index = np.arange(len(losses))
    before = np.minimum(half, index)
    after = np.minimum(before, len(losses) - 1 - index)  # narrow at the start, where the loss falls fast
    return (total[index + after + 1] - total[index - before]) / (before + after + 1)


def _series(log: Log, key: str, needed: bool = True) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(log, Sequence):
        raise TypeError(
            f"A loss curve is drawn from a list of records, and {type(log).__name__} is none: give `trained.records` of a "
            "run that has just ended, or `metrics.read(folder)` of an older one."
        )
    rows = [(record["step"], record[key]) for record in log if record.get(key) is not None]
    if needed and not rows:
        raise ValueError("This log holds no loss yet: train for a few steps first, then draw it.")
    steps, values = np.array(rows).T if rows else (np.empty(0), np.empty(0))
    return steps, values


def _levels(axes, levels: dict[str, tuple[float | None, str, Any]], last: float) -> None:
    """Horizontal lines with their names, on the side away from the curve, which ends at `last`: above at the right end, or
    below at the left."""
    for name, (level, color, line) in levels.items():
        if level is not None:
            axes.axhline(level, color=color, linestyle=line, linewidth=1.8)
            x, side, up, edge = (0.99, "right", 4, "bottom") if last < level else (0.01, "left", -4, "top")
            axes.annotate(
                f"{name} {level:.2f}", (x, level), xycoords=("axes fraction", "data"), xytext=(0, up), ha=side, va=edge,
                textcoords="offset points", color=INK, fontsize=SMALL,
                bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
            )  # fmt: skip


def _frame(axes, title: str, xlabel: str = "step", ylabel: str = "loss, nats per token") -> None:
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title, xlim=(0, None))
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, low - 0.06 * (high - low)), high)
    axes.grid(axis="y", color=GREY, alpha=0.2, linewidth=0.8)


def _against(loss: float, floor: float | None, bigram: float | None = None) -> str:
    """Where a loss stands: ', 0.12 above the floor of 1.90 and below the 2.80 of a bigram model'."""
    words = []
    if floor is not None:
        words.append(f"{number(loss - floor)} above the floor of {number(floor)}")
    if bigram is not None:
        words.append(f"{'below' if loss < bigram else 'not yet below'} the {number(bigram)} of a bigram model")
    return ", " + " and ".join(words) if words else ""
