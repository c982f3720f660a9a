"""The picture that the whole course comes back to: how a GPT turns text into the next token, and learns from its mistakes.

A chapter highlights the part it is about; nothing else in the picture ever moves.
"""

from collections.abc import Sequence

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREY, ORANGE, PALE, PAPER, SMALL, TEXT, sheet, styled

# What can be highlighted, and what it does, in the words of the alt text.
PARTS = {
    "tokenizer": "cuts the text into numbered tokens before anything else happens",
    "embedding": "turns each token into a vector, the start of the residual stream",
    "residual": "carries one vector for each token through all blocks, and every part only adds to it",
    "norm": "brings the stream to one scale before attention, before the MLP and before the head",
    "matmul": "multiplies by a matrix of weights, five times: queries, keys and values; out; up; down; and the head",
    "attention": "lets each token attend to the tokens before it",
    "softmax": "makes scores into probabilities, which sum to one, inside attention and for the next token",
    "gelu": "is the activation between the two matrices of the MLP",
    "mlp": "works on each token alone, after attention, in every block",
    "block": "holds norm, attention, norm and MLP, and is repeated in every layer",
    "head": "scores every token of the vocabulary as the next one",
    "sampling": "draws the next token by its probability and appends it to the text",
    "loss": "says how surprised the model was by the true next token",
    "optimiser": "moves all weights a little so that the loss falls",
}
ABBREVIATED = {"gelu": "GELU", "mlp": "MLP"}
FILL = "#FDF0D2"  # of a highlighted box
STREAM, LOW, HIGH = 1.75, 2.65, 3.6  # heights: the residual stream, the two rows of boxes above it
TALL = 0.66  # of a box

# words, left end, width, height of the middle, and the parts that a box belongs to; in inches, in the order of the arrows
BRANCHES = (
    (("norm", 1.85, 1.0, LOW, {"norm", "block"}),
     ("matmul\nQ, K, V", 1.85, 1.0, HIGH, {"matmul", "attention", "block"}),
     ("scores, mask,\nsoftmax, mix", 3.05, 1.2, HIGH, {"attention", "softmax", "block"}),
     ("matmul\nout", 3.15, 1.0, LOW, {"matmul", "attention", "block"})),
    (("norm", 4.5, 0.95, LOW, {"norm", "block"}),
     ("matmul\nup", 4.5, 0.95, HIGH, {"matmul", "mlp", "block"}),
     ("GELU", 5.65, 0.95, HIGH, {"gelu", "mlp", "block"}),
     ("matmul\ndown", 5.65, 0.95, LOW, {"matmul", "mlp", "block"})),
)  # fmt: skip


@styled()
def model_map(highlight: str | Sequence[str] = (), title: str = "") -> Picture:
    """The picture of the model. highlight: one or more of plots.PARTS. Raises ValueError for another name."""
    chosen = {highlight} if isinstance(highlight, str) else set(highlight)
    if unknown := chosen - PARTS.keys():
        raise ValueError(f"The model has no part named {sorted(unknown)[0]!r}. Choose among: {', '.join(PARTS)}.")
    top = 0.4 if title else 0.0
    made, axes = sheet(9.2, 5.05 + top)
    if title:
        axes.text(0.15, 4.95 + top, title, fontsize=TEXT + 2, va="top")
    _blocks(axes, chosen)
    _stream(axes, chosen)
    _ends(axes, chosen)
    _learning(axes, chosen)
    if not chosen:
        return picture(made, ALL)
    names = {name: ABBREVIATED.get(name, name) for name in PARTS if name in chosen}
    told = " ".join(f"{spoken[0].upper()}{spoken[1:]} {PARTS[name]}." for name, spoken in names.items())
    return picture(made, f"The model with {', '.join(names.values())} highlighted. {told}")


ALL = (
    "The whole model from left to right: text, tokenizer, embedding, then a stream that runs through a number of blocks "
    "(norm, attention, norm, MLP, each adding to the stream), a last norm, the head, softmax and the next token. Below, "
    "while training: the loss compares with the true next token, and the optimiser changes all weights."
)


def _box(axes, words: str, left: float, middle: float, width: float, height: float, on: bool) -> None:
    axes.add_patch(
        FancyBboxPatch((left, middle - height / 2), width, height, boxstyle="round,pad=0,rounding_size=0.08",
                       facecolor=FILL if on else PAPER, edgecolor=ORANGE if on else GREY, linewidth=3.2 if on else 1.2,
                       zorder=3)
    )  # fmt: skip
    axes.text(left + width / 2, middle, words, ha="center", va="center", fontsize=SMALL, zorder=4, linespacing=1.25,
              weight="bold" if on else "normal")  # fmt: skip


def _arrow(axes, start: tuple[float, float], end: tuple[float, float], on: bool = False, dashed: bool = False) -> None:
    axes.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, shrinkA=0, shrinkB=0, zorder=2,
                        color=ORANGE if on else GREY, linewidth=2.4 if on else 1.2, linestyle="--" if dashed else "-")
    )  # fmt: skip


def _blocks(axes, chosen: set[str]) -> None:
    on = "block" in chosen
    axes.add_patch(
        FancyBboxPatch((1.68, 1.2), 5.09, 3.72, boxstyle="round,pad=0,rounding_size=0.15", facecolor=PALE,
                       edgecolor=ORANGE if on else GREY, linewidth=3.2 if on else 0.8, zorder=0)
    )  # fmt: skip
    axes.text(
        1.85, 4.72, "block, repeated in each layer", va="center", fontsize=SMALL, weight="bold" if on else "normal"
    )
    for name, label, left, right in (("attention", "attention", 1.85, 4.25), ("mlp", "MLP", 4.5, 6.6)):
        on = name in chosen
        axes.text(
            (left + right) / 2, 4.26, label, ha="center", va="center", fontsize=TEXT, weight="bold" if on else "normal"
        )
        axes.plot([left, right], [4.1, 4.1], color=ORANGE if on else GREY, linewidth=1.4)
    for boxes in BRANCHES:
        for words, left, width, middle, parts in boxes:
            _box(axes, words, left, middle, width, TALL, bool(parts & chosen))
        (_, x, wide, *_), (_, _, first, *_), (_, second, *_), (_, back, narrow, *_) = boxes
        x, back, half, on = x + wide / 2, back + narrow / 2, TALL / 2, "residual" in chosen
        _arrow(axes, (x, STREAM), (x, LOW - half))  # the branch leaves the stream
        _arrow(axes, (x, LOW + half), (x, HIGH - half))
        _arrow(axes, (boxes[1][1] + first, HIGH), (second, HIGH))
        _arrow(axes, (back, HIGH - half), (back, LOW + half))
        _arrow(axes, (back, LOW - half), (back, STREAM + 0.16), on)  # and is added to it
        axes.text(back, STREAM, "+", ha="center", va="center", fontsize=TEXT + 3, zorder=6, weight="bold",
                  bbox={"boxstyle": "circle,pad=0.12", "facecolor": FILL if on else PAPER,
                        "edgecolor": ORANGE if on else BLUE, "linewidth": 2})  # fmt: skip


def _stream(axes, chosen: set[str]) -> None:
    on = "residual" in chosen
    axes.add_patch(
        FancyArrowPatch((1.25, STREAM), (7.08, STREAM), arrowstyle="-|>", mutation_scale=18, shrinkA=0, shrinkB=0,
                        color=ORANGE if on else BLUE, linewidth=6 if on else 4, zorder=5)
    )  # fmt: skip
    axes.text(4.25, STREAM - 0.33, "residual stream: one vector for each token", ha="center", va="center", fontsize=SMALL,
              weight="bold" if on else "normal")  # fmt: skip


def _ends(axes, chosen: set[str]) -> None:
    axes.text(0.7, HIGH, "“Once upon a”", fontsize=TEXT, ha="center", va="center", style="italic")
    _arrow(axes, (0.7, HIGH - 0.15), (0.7, LOW + TALL / 2))
    _box(axes, "tokenizer", 0.15, LOW, 1.1, TALL, "tokenizer" in chosen)
    _arrow(axes, (0.7, LOW - TALL / 2), (0.7, STREAM + TALL / 2))
    _box(axes, "embedding", 0.15, STREAM, 1.1, TALL, "embedding" in chosen)
    _box(axes, "norm", 7.1, STREAM, 1.0, TALL, "norm" in chosen)
    _arrow(axes, (7.6, STREAM + TALL / 2), (7.6, LOW - TALL / 2))
    _box(axes, "matmul\nhead", 7.1, LOW, 1.0, TALL, bool({"head", "matmul"} & chosen))
    _arrow(axes, (7.6, LOW + TALL / 2), (7.6, HIGH - TALL / 2))
    _box(axes, "softmax", 7.1, HIGH, 1.0, TALL, "softmax" in chosen)
    on = "sampling" in chosen
    _arrow(axes, (7.6, HIGH + TALL / 2), (7.6, HIGH + TALL / 2 + 0.22), on)
    for row, (word, probability) in enumerate((("time", 0.7), ("hill", 0.2), ("day", 0.1))):
        y = 4.68 - 0.2 * row
        axes.text(7.53, y, word, ha="right", va="center", fontsize=SMALL, weight="bold" if on and not row else "normal")
        axes.barh(y, probability * 1.4, height=0.14, left=7.6, color=ORANGE if on else BLUE)
    axes.text(7.1, 4.9, "next token", va="center", fontsize=TEXT, weight="bold" if on else "normal")


def _learning(axes, chosen: set[str]) -> None:
    y, on = 0.45, "loss" in chosen
    axes.plot([8.1, 8.6], [HIGH, HIGH], color=ORANGE if on else GREY, linewidth=2.4 if on else 1.2)
    _arrow(axes, (8.6, HIGH), (8.6, y + 0.29), on)
    _box(axes, "loss: how surprising\nwas the true next token?", 6.92, y, 2.1, 0.58, on)
    on = "optimiser" in chosen
    _arrow(axes, (6.92, y), (5.9, y), on, dashed=True)
    axes.text(6.4, y + 0.15, "gradients", ha="center", va="center", fontsize=SMALL)
    _box(axes, "optimiser: change\nevery weight a little", 4.0, y, 1.9, 0.58, on)
    axes.plot([4.0, 0.7], [y, y], color=ORANGE if on else GREY, linewidth=2.4 if on else 1.2, linestyle="--")
    _arrow(axes, (0.7, y), (0.7, STREAM - TALL / 2), on, dashed=True)
    axes.text(2.35, y + 0.15, "while training", ha="center", va="center", fontsize=SMALL)
