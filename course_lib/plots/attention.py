"""Who looks at whom: the weights of attention as a map, a row for each token that looks, a column for each it may see."""

from collections.abc import Sequence

import numpy as np

from course_lib.plots.picture import Picture, number, picture
from course_lib.plots.style import GREY, INK, PALE, PAPER, SMALL, figure, styled

WRITTEN, ROOMY = 8, 5  # tokens up to which each weight is written into its cell, and up to which with its 0 in front


@styled()
def attention_map(weights, tokens: Sequence[str], title: str = "") -> Picture:
    """weights: (T, T) of one head, or (H, T, T) of several; row i sums to 1. tokens: T strings."""
    heads = np.asarray(weights, dtype=np.float64)
    heads = heads[None] if heads.ndim == 2 else heads
    count = len(tokens)
    if heads.ndim != 3 or heads.shape[1:] != (count, count):
        raise ValueError(
            f"attention_map got weights of shape {np.shape(weights)} and {count} tokens; the weights of one head must "
            f"have the shape ({count}, {count})."
        )
    columns = min(len(heads), 3)
    rows = -(-len(heads) // columns)
    side = max(2.6, min(4.6, 0.52 * count + 0.9)) if len(heads) == 1 else 2.9
    made = figure(columns * side + (0.8 if columns == 1 else 0.3), rows * side + 0.25)
    for head, part in enumerate(heads):
        axes = made.add_subplot(rows, columns, head + 1)
        image = _map(axes, part, tokens)
        axes.set_title(title if len(heads) == 1 else f"{title} head {head + 1}".strip())
    made.colorbar(image, ax=made.axes, shrink=0.7, label="attention weight", ticks=[0, 0.5, 1])
    return picture(made, _alt(heads, tokens))


def _map(axes, part: np.ndarray, tokens: Sequence[str]):
    seen = np.tril(np.ones_like(part, dtype=bool)) | (part > 0)
    axes.set_facecolor(PALE)  # what is masked
    image = axes.imshow(np.where(seen, part, np.nan), cmap="cividis", vmin=0, vmax=1)
    if len(tokens) <= WRITTEN:
        for (i, j), weight in np.ndenumerate(part):
            if seen[i, j] and weight >= 0.005:
                digits = f"{weight:.2f}" if len(tokens) <= ROOMY else f"{weight:.2f}".removeprefix("0")
                axes.text(j, i, digits, ha="center", va="center", fontsize=SMALL,
                          color=INK if weight > 0.5 else PAPER)  # fmt: skip
    size = SMALL if len(tokens) <= 24 else 6
    tilted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if len(tokens) <= WRITTEN else {"rotation": 90}
    axes.set_xticks(range(len(tokens)), tokens, fontsize=size, **tilted)
    axes.set(xlabel="key", ylabel="query")
    axes.set_yticks(range(len(tokens)), tokens, fontsize=size)
    axes.tick_params(length=0)
    axes.spines[:].set(visible=True, color=GREY)
    return image


def _alt(heads: np.ndarray, tokens: Sequence[str]) -> str:
    """The largest weight that each head gives to another token, and whether later ones are masked."""
    causal = not np.any(np.triu(heads, 1) > 0)
    mask = "No token attends to a later one." if causal else "Some tokens attend to later ones."
    said = []
    for head, part in enumerate(heads):
        away = part - np.diag(np.diag(part))
        i, j = np.unravel_index(np.argmax(away), away.shape)
        where = f"in head {head + 1}, " if len(heads) > 1 else ""
        said.append(f"{where}`{tokens[i]}` gives `{tokens[j]}` the weight {number(part[i, j])}")
    return f"Attention among {len(tokens)} tokens; largest weight on another token: {'; '.join(said)}. {mask}"
