"""A player: something to step through on a slider, in the page itself, without a server or a network.

player.html has what all players share: the buttons, the slider with its keys, and the sentence of each step, which a screen
reader says. What is seen is drawn by a scene, a script beside it: launch.js draws a launch, drawing.js an SVG made in Python.
elements.js is used by player.html and by the sliders of panel.html.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from course_lib.plots.picture import Picture
from course_lib.plots.style import GREY, INK

MOST_BYTES = 300_000  # of the HTML: a notebook with some players must still open at once


@dataclass(frozen=True)
class Player:
    """A page of its own: `html` needs no server and no network; `picture` stands where no script runs."""

    html: str
    picture: Picture
    steps: list[Any]

    def __repr__(self) -> str:
        return f"[player] {self.picture.alt}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict, dict]:
        data, metadata = self.picture._repr_mimebundle_()
        return {**data, "text/html": self.html, "text/plain": repr(self)}, metadata


def page(title: str, steps: list[dict], scene: str, still: Picture, **more: Any) -> str:
    """The HTML of a player. steps: each with a sentence `said`, and what its scene draws; more: what all steps share."""
    data = {"title": title, "marks": [], "steps": steps, **more}
    return embedded(template(scene), data, still)


def template(scene: str) -> str:
    """The HTML of a player without its data (__DATA__), its name (__ID__) and its picture (__STILL__)."""
    return file("player.html").replace("__SCENE__", file(scene)).replace("__ELEMENTS__", file("elements.js"))


def embedded(template: str, data: dict, still: Picture) -> str:
    """A template with its data, and with the picture that stands where no script runs.

    Raises ValueError where it would be too large for a notebook.
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    made = (
        template.replace("__ELEMENTS__", file("elements.js"))
        .replace("__STILL__", still.html)
        .replace("__ID__", name)
        .replace("__DATA__", text)
    )
    if len(made.encode()) > MOST_BYTES:
        raise ValueError(
            f"This player would take {len(made.encode()):,} bytes; at most {MOST_BYTES:,} are allowed, so that the notebook "
            "stays light. Give it less to show."
        )
    return made


@cache
def file(name: str) -> str:
    """A template or a script of this folder."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


@dataclass
class Drawing:
    """An SVG for a player. Each part is seen in the steps that it names, or in all; sizes are pixels, y goes down."""

    width: float
    height: float
    parts: list[str] = field(default_factory=list)

    def box(self, x: float, y: float, width: float, height: float, fill: str = "none", edge: str = GREY, line: float = 0.8,
            steps: Iterable[int] | None = None) -> None:  # fmt: skip
        """A rectangle with its upper left corner at (x, y)."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" fill-opacity=".62" '
            f'stroke="{edge}" stroke-width="{line:g}"{_seen(steps)}/>'
        )

    def text(self, x: float, y: float, words: str, kind: str = "", steps: Iterable[int] | None = None) -> None:
        """One line of text around (x, y). kind: "left" (begins at x), "small" (grey), "strong", or several of them."""
        named = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{named}{_seen(steps)}>{escape(words)}</text>')

    def line(self, x: float, y: float, to_x: float, to_y: float, steps: Iterable[int] | None = None) -> None:
        """A straight line."""
        self.parts.append(f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{INK}" stroke-width="1.5"{_seen(steps)}/>')

    def arrow(self, x: float, y: float, to_x: float, to_y: float, steps: Iterable[int] | None = None) -> None:
        """A line with a head at its end."""
        long = max(((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5, 1e-9)
        u, v = (to_x - x) / long, (to_y - y) / long
        side = [(to_x - 9 * u - s * 4.5 * v, to_y - 9 * v + s * 4.5 * u) for s in (1, -1)]
        head = "L".join(f"{a:g} {b:g}" for a, b in (*side, (to_x, to_y)))
        self.parts.append(
            f'<path d="M{x:g} {y:g}L{to_x - 6 * u:g} {to_y - 6 * v:g}M{head}Z" fill="{INK}" stroke="{INK}" '
            f'stroke-width="1.5"{_seen(steps)}/>'
        )

    def svg(self) -> str:
        """The whole drawing."""
        return (
            f'<svg class="drawing" role="img" viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}">'
            f"{''.join(self.parts)}</svg>"
        )

    def player(self, title: str, said: list[str], steps: list[Any], still: Picture) -> Player:
        """The drawing as a player. said: a sentence for each step; steps: what each step shows, for tests and the curious."""
        told = [{"said": sentence} for sentence in said]
        return Player(page(title, told, "drawing.js", still, drawing=self.svg()), still, steps)


def _seen(steps: Iterable[int] | None) -> str:
    return "" if steps is None else f' data-steps="{" ".join(map(str, steps))}"'
