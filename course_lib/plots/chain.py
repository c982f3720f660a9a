"""The chain rule as a picture: values travel to the right in the forward pass, gradients to the left in the backward pass."""

from collections.abc import Sequence

from matplotlib.patches import FancyBboxPatch

from course_lib.plots.picture import Picture, picture
from course_lib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PAPER, SMALL, TEXT, VERMILLION, sheet, styled

BOX, GAP, TALL = 1.15, 1.25, 0.72  # inches


@styled()
def chain(values: Sequence[tuple[str, float]], steps: Sequence[tuple[str, float]], title: str = "") -> Picture:
    """values: (name, value) from the input to the result. steps: between two of them, (what is done, its slope there)."""
    if len(steps) != len(values) - 1 or not steps:
        raise ValueError(f"A chain of {len(values)} values has {len(values) - 1} steps between them; got {len(steps)}.")
    gradients = [1.0]
    for _, slope in reversed(steps):
        gradients.insert(0, gradients[0] * slope)
    width, height = len(values) * BOX + len(steps) * GAP + 0.4, 2.1
    made, axes = sheet(width, height)
    axes.text(
        0.2, height - 0.12, title or "Forward pass to the right, backward pass to the left", fontsize=TEXT + 1, va="top"
    )
    last = values[-1][0]
    for index, ((name, value), gradient) in enumerate(zip(values, gradients, strict=True)):
        x, y = 0.2 + index * (BOX + GAP), 0.9
        edge = BLUE if index == 0 else GREEN if index == len(steps) else ORANGE
        axes.add_patch(FancyBboxPatch((x, y), BOX, TALL, boxstyle="round,pad=0,rounding_size=0.1", facecolor=PAPER,
                                      edgecolor=edge, linewidth=2.2))  # fmt: skip
        axes.text(x + BOX / 2, y + 0.48, name, ha="center", va="center", weight="bold")
        axes.text(x + BOX / 2, y + 0.2, f"{value + 0.0:.4g}", ha="center", va="center", color=INK)
        axes.text(
            x + BOX / 2, 0.66, f"d{last}/d{name} = {gradient + 0.0:.4g}", ha="center", va="center", color=VERMILLION
        )
        if index < len(steps):
            what, slope = steps[index]
            axes.annotate("", (x + BOX + GAP - 0.05, y + 0.48), (x + BOX + 0.05, y + 0.48),
                          arrowprops={"arrowstyle": "-|>", "color": GREY, "linewidth": 1.5})  # fmt: skip
            axes.text(x + BOX + GAP / 2, y + 0.58, what, ha="center", va="bottom", fontsize=SMALL)
            axes.annotate("", (x + BOX + 0.05, y + 0.2), (x + BOX + GAP - 0.05, y + 0.2),
                          arrowprops={"arrowstyle": "-|>", "color": VERMILLION, "linewidth": 1.5})  # fmt: skip
            axes.text(x + BOX + GAP / 2, y + 0.1, f"slope {slope + 0.0:.4g}", ha="center", va="top", fontsize=SMALL,
                      color=VERMILLION)  # fmt: skip
    product = " times ".join(f"{slope + 0.0:.4g}" for _, slope in reversed(steps))
    first = values[0][0]
    return picture(made, f"A chain of {len(steps)} steps from {first} to {last}: the slopes {product} multiply to the "
                         f"slope {gradients[0] + 0.0:.4g} of {last} with respect to {first}.")  # fmt: skip
