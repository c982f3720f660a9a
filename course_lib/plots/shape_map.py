"""The shapes along a model: a bar for each step of the forward, as wide as the numbers that it makes for one token."""

from typing import Any

from matplotlib.patches import FancyBboxPatch

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PALE, PAPER, PURPLE, SMALL, TEXT, sheet, styled

ROW, WIDE = 0.31, 9.4  # inches: a step, the picture
CENTRE, HALF = 4.7, 1.75  # of the bars; HALF is the half width of the widest one

# words, shape in letters, shape in numbers, numbers per token, colour
Step = tuple[str, str, tuple[int, ...], int, str]


@styled()
def shape_map(config: Any, batch: int, time: int | None = None, title: str = "") -> Picture:
    """Every step from the ids to the logits. config: a GPTConfig. time: T, the whole context unless given."""
    before, block, after = steps(config, batch, time or config.context)
    top = 0.75 if title else 0.4
    height = top + ROW * (len(before) + len(block) + len(after)) + 0.45
    made, axes = sheet(WIDE, height)
    if title:
        axes.text(0.2, height - 0.15, title, fontsize=TEXT + 1, va="top")
    axes.text(CENTRE, height - top + 0.12, "numbers for one token", ha="center", fontsize=SMALL, color=GREY)
    axes.text(6.65, height - top + 0.12, "shape", fontsize=SMALL, color=GREY)
    widest = max(step[3] for step in (*before, *block, *after))
    y = height - top - ROW
    for group in (before, block, after):
        if group is block:
            y -= 0.16
            axes.add_patch(
                FancyBboxPatch((0.12, y + ROW - 0.06 - len(block) * ROW), WIDE - 0.24, len(block) * ROW + 0.1,
                               boxstyle="round,pad=0,rounding_size=0.08", facecolor=PALE, edgecolor=GREY, linewidth=0.8)
            )  # fmt: skip
            axes.text(WIDE - 0.25, y - ROW * (len(block) - 1) + 0.05, f"block,\n{config.layers} times", ha="right",
                      va="bottom", fontsize=SMALL, weight="bold")  # fmt: skip
        for words, letters, numbers, width, colour in group:
            _row(axes, y, words, f"{letters}  =  {_shape(numbers)}", width, HALF * width / widest, colour)
            y -= ROW
        y -= 0.16 if group is block else 0
    return picture(made, _alt(config, before, block, after))


def steps(config: Any, batch: int, time: int) -> tuple[list[Step], list[Step], list[Step]]:
    """What comes before the blocks, what is in each, and what comes after."""
    config.needs_attention("shape_map")
    c, h, g, d = config.channels, config.heads, config.kv_heads, config.head_size
    f, v = config.hidden, config.vocab_size
    gated = config.activation == "swiglu"
    wide = f * (2 if gated else 1)
    b, t = batch, time
    stream = ("B T C", (b, t, c), c, BLUE)
    before = [("ids", "B T", (b, t), 1, GREY), ("embedding: the stream", *stream)]
    block = [
        ("norm", "B T C", (b, t, c), c, GREEN),
        ("queries of all heads", "B T H D", (b, t, h, d), h * d, GREEN),
        ("keys and values, each", "B T G D" if g != h else "B T H D", (b, t, g, d), g * d, GREEN),
        ("scores and weights, each", "B H T T", (b, h, t, t), h * t, GREEN),
        ("mixed values", "B T H D", (b, t, h, d), h * d, GREEN),
        ("out, added to the stream", *stream),
        ("norm", "B T C", (b, t, c), c, ORANGE),
        ("MLP up", "B T 2F" if gated else "B T F", (b, t, wide), wide, ORANGE),
        ("SwiGLU" if gated else "GELU", "B T F", (b, t, f), f, ORANGE),
        ("MLP down, added to the stream", *stream),
    ]
    after = [("last norm", "B T C", (b, t, c), c, PURPLE), ("head: logits", "B T V", (b, t, v), v, PURPLE)]
    return before, block, after


def _row(axes, y: float, words: str, shape: str, width: int, half: float, colour: str) -> None:
    axes.text(0.25, y + ROW / 2, words, va="center", fontsize=SMALL, weight="bold" if colour == BLUE else "normal")
    axes.fill_between([CENTRE - max(half, 0.012), CENTRE + max(half, 0.012)], y + 0.04, y + ROW - 0.04, color=colour,
                      linewidth=0)  # fmt: skip
    inside = half > 0.4
    axes.text(CENTRE if inside else CENTRE + half + 0.08, y + ROW / 2 - 0.01, f"{width:,}", va="center",
              ha="center" if inside else "left", fontsize=SMALL, color=PAPER if inside and colour == BLUE else INK,
              weight="bold" if inside else "normal")  # fmt: skip
    axes.text(6.65, y + ROW / 2, shape, va="center", fontsize=SMALL)


def _shape(numbers: tuple[int, ...]) -> str:
    return " x ".join(map(str, numbers))


def _alt(config: Any, before: list[Step], block: list[Step], after: list[Step]) -> str:
    name, _, shape, width, _ = max((*before, *block, *after), key=lambda step: step[3])
    inner = max(block, key=lambda step: step[3])
    return (
        f"Shapes along a model of {config.layers} blocks: the stream keeps {config.channels} numbers for each token from the "
        f"embedding to the last norm. Widest of all is {name} with {width:,} numbers for each token (shape {_shape(shape)}); "
        f"inside a block it is {inner[0]} with {inner[3]:,}."
    )
