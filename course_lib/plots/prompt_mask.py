"""One row of a batch for fine-tuning: which tokens are read, and which targets are scored."""

from collections.abc import Sequence
from typing import Any

from matplotlib.patches import FancyBboxPatch

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREY, INK, PALE, PAPER, SKY, SMALL, sheet, styled
from course_lib.plots.token_colours import visible

MOST = 60  # tokens of a row
WIDE, LETTER, LEAST, HIGH, GAP = (
    9.4,
    0.088,
    0.3,
    0.27,
    0.05,
)  # inches: picture, a letter, a box at least, a box, between boxes
LEFT = 0.85  # where the boxes begin, behind the words of their row


@styled()
def prompt_mask(tokenizer: Any, idx: Sequence[int], targets: Sequence[int], ignore: int = -1) -> Picture:
    """A row of idx and targets (T,), special tokens by their names. Raises ValueError for more than 60 tokens."""
    if len(idx) != len(targets) or not 0 < len(idx) <= MOST:
        raise ValueError(
            f"prompt_mask() draws one row of at most {MOST} tokens and as many targets; got {len(idx)} and {len(targets)}."
        )
    read = [_said(tokenizer, int(token)) for token in idx]
    wanted = [None if target == ignore else _said(tokenizer, int(target)) for target in targets]
    widths = [max(LEAST, LETTER * max(len(a), len(b or "")) + 0.1) for a, b in zip(read, wanted, strict=True)]
    lines = _broken(widths)
    height = 0.25 + len(lines) * (2 * HIGH + 0.32) + 0.35
    made, axes = sheet(WIDE, height)
    y = height - 0.25
    for line in lines:
        x = LEFT
        axes.text(0.12, y - HIGH / 2, "reads", va="center", fontsize=SMALL, color=GREY)
        axes.text(0.12, y - 1.5 * HIGH - GAP, "must say", va="center", fontsize=SMALL, color=GREY)
        for place in line:
            _box(axes, x, y - HIGH, widths[place], read[place], SKY if wanted[place] else PALE, INK)
            target = wanted[place]
            _box(axes, x, y - 2 * HIGH - GAP, widths[place], target or "", BLUE if target else PAPER, PAPER)
            x += widths[place] + GAP
        y -= 2 * HIGH + 0.32
    scored = sum(target is not None for target in wanted)
    axes.text(LEFT, 0.2, f"blue: {scored} targets are scored    empty: {len(wanted) - scored} are not", fontsize=SMALL,
              va="center")  # fmt: skip
    return picture(made, _alt(read, wanted, scored))


def _said(tokenizer: Any, token: int) -> str:
    """A token as one can print it; a special one as `<|user|>`."""
    return visible(tokenizer.token_bytes(token)) or tokenizer.decode([token])


def _broken(widths: Sequence[float]) -> list[list[int]]:
    """The indices of the boxes, in lines as wide as the picture."""
    lines: list[list[int]] = [[]]
    x = LEFT
    for place, width in enumerate(widths):
        if lines[-1] and x + width > WIDE - 0.1:
            lines.append([])
            x = LEFT
        lines[-1].append(place)
        x += width + GAP
    return lines


def _box(axes, x: float, y: float, width: float, words: str, colour: str, ink: str) -> None:
    axes.add_patch(
        FancyBboxPatch((x, y), width, HIGH, boxstyle="round,pad=0,rounding_size=0.04", facecolor=colour, edgecolor=GREY,
                       linewidth=0.6)
    )  # fmt: skip
    axes.text(x + width / 2, y + HIGH / 2 - 0.01, words, ha="center", va="center", fontsize=SMALL, color=ink)


def _alt(read: Sequence[str], wanted: Sequence[str | None], scored: int) -> str:
    said = f"A row of {len(read)} tokens, {scored} of whose targets are scored"
    if not scored:
        return f"{said}: nothing would be learned from it."
    places = [place for place, target in enumerate(wanted) if target]
    return (
        f"{said}: from '{wanted[places[0]]}', which is to be said after '{read[places[0]]}', to '{wanted[places[-1]]}'. The "
        f"{places[0]} targets before them belong to the prompt, and the {len(read) - 1 - places[-1]} behind them to the padding."
    )
