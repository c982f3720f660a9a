"""Say a number first, then see it counted: `predict` keeps what a reader expects, `measured` shows it beside what came out.

Promises: a chapter runs with every prediction left out; the same numbers give the same words; nobody is scolded.
Limit: real numbers, one for each name. They are compared by their ratio, and what is within 5 % is called right.
"""

import reprlib
from dataclasses import dataclass
from html import escape
from math import isfinite
from numbers import Real
from types import EllipsisType

RIGHT_WITHIN = 0.05  # of what was measured
_COLOUR = {"right": "#009E73", "other": "#0072B2", "none": "#999999"}  # beside the words, which say it all
_WORDS = dict(enumerate("three four five six seven eight nine ten eleven twelve".split(), start=3))

_said: dict[str, float] = {}  # what the reader of this notebook said, by name


def predict(name: str, value: Real | EllipsisType = ...) -> None:
    """Keep the number that the reader expects of `name`. Anything else is answered by a sentence, never an error."""
    _said.pop(name, None)
    if value is ...:
        print(f"{name}: put your number in place of the dots, run this cell again, and go on.")
    elif fault := _fault(value):
        print(f"{name}: {reprlib.repr(value)} is {fault}. Write one plain number, such as 4, and run this cell again.")
    else:
        _said[name] = float(value)
        print(f"{name}: you say {_digits(float(value))}. Now measure.")


def measured(name: str, value: Real) -> None:
    """Show what `name` came to, and beside it what the reader said, if anything."""
    from IPython.display import display

    display(Outcome(name, float(value), _said.get(name)))


@dataclass(frozen=True)
class Outcome:
    """A measured number and the prediction of it, or None; as a sentence in plain text and in HTML."""

    name: str
    value: float
    said: float | None

    def __repr__(self) -> str:
        if self.said is None:
            return f"{self.name}: measured {_digits(self.value)}."
        return f"{self.name}: you said {_digits(self.said)}; measured {_digits(self.value)}: {verdict(self.said, self.value)}."

    def _repr_html_(self) -> str:
        sentence = escape(repr(self))
        if self.said is None:
            kind = "none"
        else:
            words = verdict(self.said, self.value)
            kind = "right" if words.startswith("right") else "other"
            sentence = sentence.removesuffix(f"{words}.") + f"<b>{words}</b>."
        return f'<div style="border-left:4px solid {_COLOUR[kind]};padding:.2em .8em;margin:.2em 0">{sentence}</div>'


def verdict(said: float, value: float) -> str:
    """What was measured, in terms of what was said: "right", "eight times as many", "half as many", "5 fewer"."""
    if said == value:
        return "right"
    if abs(said - value) <= RIGHT_WITHIN * abs(value):
        return f"right, within {100 * RIGHT_WITHIN:.0f} %"
    if said * value <= 0:  # no ratio
        return f"{_digits(abs(value - said))} {'more' if value > said else 'fewer'}"
    more = abs(value) > abs(said)
    times = value / said if more else said / value
    whole = round(times)
    near = "" if times == whole else "about "
    if whole == 1 or abs(times - whole) > RIGHT_WITHIN * whole:
        return f"{times:.1f} times {'as many' if more else 'fewer'}"
    if whole == 2:
        return f"{near}{'twice' if more else 'half'} as many"
    return f"{near}{_WORDS.get(whole, f'{whole:,}')} times {'as many' if more else 'fewer'}"


def _fault(value: object) -> str | None:
    """Why this is no prediction, or None."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool) or not isinstance(value, Real):
        return "not a number"
    return None if isfinite(value) else "not finite"


def _digits(value: float) -> str:
    """A number as a reader would write it: 1,327,104 and 0.0625 and 4."""
    if value == round(value) and abs(value) < 1e15:
        return f"{round(value):,}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"
