"""Puts words and verdicts before the learner: HTML in a notebook, plain text in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape

from course_lib.coach import pictures
from course_lib.coach import verdict as verdicts
from course_lib.coach.verdict import Verdict


def in_notebook() -> bool:
    """Whether a kernel shows what is displayed, rather than a terminal."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")


def verdict(given: Verdict) -> None:
    """Show a verdict."""
    _show(verdicts.text(given), pictures.html(given))


def sentence(text: str) -> None:
    """Show a sentence or several; a line between backticks is code."""
    _show(
        text,
        f'<div style="padding:.3em .9em;border-left:5px solid #0072B2">{escape(text).replace(chr(10), "<br>")}</div>',
    )


def code(title: str, text: str) -> None:
    """Show a piece of code under a title."""
    _show(f"{title}\n\n{text}", pictures.code(title, text))


@contextmanager
def doing() -> Iterator[Callable[[str], None]]:
    """Gives a function that says what is being done, in one line that is gone at the end."""
    if not in_notebook():
        yield lambda words: print(f"... {words}", file=sys.stderr, flush=True)
        return
    from IPython.display import HTML, display

    lines: list = []  # the display, once there was something to say

    def say(words: str) -> None:
        html = HTML(f'<div role="status"><em>... {escape(words)}</em></div>')
        if lines:
            lines[0].update(html)
        else:
            lines.append(display(html, display_id=True))

    try:
        yield say
    finally:
        for line in lines:
            line.update(HTML(""))


def _show(text: str, html: str) -> None:
    if not in_notebook():
        print(text)
        return
    from IPython.display import display

    display({"text/plain": text, "text/html": html}, raw=True)
