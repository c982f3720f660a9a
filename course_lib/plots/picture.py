"""What a plot returns: a Picture (PNG) or a Page (HTML), each with words that say what there is to see in it.

The words go with the picture everywhere: `metadata["image/png"]["alt"]` for tools and tests, and the `alt` of an HTML
image for people, because JupyterLab (4.6) shows no alt text for a plain PNG output; it prefers HTML where it has both.
"""

import base64
import html
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from course_lib.plots.style import PAPER

SHARPNESS = 1.6  # pixels drawn for each one shown: crisp letters on fine screens
COLOURS = 200  # of the PNG; flat drawings need no more, and the file is a third of the size
SHORTEST = 40  # letters of an alt text


@dataclass(frozen=True)
class Picture:
    """A PNG and its alt text, which states the finding. Put it last in a cell, or `display(picture)`."""

    png: bytes
    alt: str
    width: int  # pixels as shown
    height: int

    def save(self, path: str | Path) -> None:
        """Write the PNG to a file."""
        Path(path).write_bytes(self.png)

    def __repr__(self) -> str:
        return f"[picture] {self.alt}"

    @property
    def html(self) -> str:
        """The picture as an element of a page."""
        return (
            f'<img alt="{html.escape(self.alt)}" width="{self.width}" height="{self.height}" '
            f'style="max-width:100%;height:auto" src="data:image/png;base64,{base64.b64encode(self.png).decode()}">'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict, dict]:
        data, size = base64.b64encode(self.png).decode(), {"alt": self.alt, "width": self.width, "height": self.height}
        return {"image/png": data, "text/html": self.html, "text/plain": repr(self)}, {"image/png": size}


@dataclass(frozen=True)
class Page:
    """HTML, and the same said in plain text for terminals, diffs and whoever does not see colours."""

    html: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict:
        return {"text/html": self.html, "text/plain": self.text}


def picture(figure: Figure, alt: str) -> Picture:
    """Draw a matplotlib figure (its size in inches is shown at 100 pixels an inch) as a Picture.

    Raises ValueError where the alt text is too short to state a finding.
    """
    alt = " ".join(alt.split())
    if len(alt) < SHORTEST:
        raise ValueError(
            f"The alt text {alt!r} has {len(alt)} letters; say in at least {SHORTEST} what there is to see, with numbers."
        )
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=100 * SHARPNESS, facecolor=PAPER)
    image = Image.open(drawn).convert("RGB")
    packed = io.BytesIO()
    few = image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(packed, format="PNG", optimize=True)
    width, height = (round(side / SHARPNESS) for side in image.size)
    return Picture(packed.getvalue(), alt, width, height)


def number(value: float, digits: int = 2) -> str:
    """A number as an alt text says it: 2 decimals, no negative zero."""
    return f"{value + 0.0:,.{digits}f}".replace("-0.00", "0.00") if digits == 2 else f"{value:,.{digits}f}"


def few(words: Sequence[str], most: int = 6) -> str:
    """The first words of a list."""
    return ", ".join(words[:most]) + (", ..." if len(words) > most else "")


def ranges(numbers: Iterable[int]) -> str:
    """0, 1, 2, 5 as "0-2, 5"; with a common step from 4 numbers on as "0, 4, ... 28"."""
    several = sorted(set(numbers))
    gaps = {later - earlier for earlier, later in pairwise(several)}
    if len(several) > 3 and len(gaps) == 1 and gaps != {1}:
        return f"{several[0]}, {several[1]}, ... {several[-1]}"
    parts: list[list[int]] = []
    for one in several:
        if parts and one == parts[-1][-1] + 1:
            parts[-1].append(one)
        else:
            parts.append([one])
    return few([f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts], 4)
