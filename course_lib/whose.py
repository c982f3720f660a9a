"""Whose code ran: which operations were the learner's in a run, how often they were called, for what fraction of the time.

A record of it is plain JSON, kept in every checkpoint, in `mine.json` beside it for people, and told by an exported page:

    operations  how many operations an answer can take the place of
    steps       training steps that were made with answers in their places
    seconds     that passed meanwhile
    yours       of these, inside of answers and what they call; None where a GPU computes while Python goes on
    answers     exercise -> calls, seconds (what the answer calls included); of many processes, those of rank 0
    replaced    exercise -> why ours took over from it

Nothing here knows how answers get to their places: what puts them there registers a source of such records, without `steps`,
that counts from some moment on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NAME = "mine.json"
HOST = ("cpu", "simulator", "reference")  # devices that have computed when a call returns

Record = dict[str, Any]
NOTHING: Record = {"operations": 0, "steps": 0, "seconds": 0.0, "yours": 0.0, "answers": {}, "replaced": {}}

_source: Callable[[], Record] | None = None


def register(source: Callable[[], Record] | None) -> None:
    """From now on answers are in place that `source` tells of; None: all code is the course's own again."""
    global _source
    _source = source


class Tally:
    """What the answers in place do from now on, on top of `before`, the record of a run that goes on."""

    def __init__(self, device: str):
        self.timed = device in HOST
        self.source = _source
        self.start = _source() if _source else NOTHING
        self.before: Record | None = None
        self.done = 0  # steps that were made before

    def go_on(self, before: Record | None, done: int) -> None:
        """Take over what a checkpoint knows."""
        self.before, self.done = before, done

    def record(self, done: int) -> Record | None:
        """Everything up to step `done`; None if all of it was the course's own code."""
        if self.source is None:
            return self.before
        now, before = self.source(), self.before or NOTHING
        answers = {name: dict(counted) for name, counted in before["answers"].items()}
        for name, counted in now["answers"].items():
            one, start = answers.setdefault(name, {}), self.start["answers"].get(name, {})
            for what, value in counted.items():
                one[what] = one.get(what, 0) + value - start.get(what, 0)
        timed = self.timed and before["yours"] is not None
        return {
            "operations": now["operations"],
            "steps": before["steps"] + done - self.done,
            "seconds": before["seconds"] + now["seconds"] - self.start["seconds"],
            "yours": before["yours"] + now["yours"] - self.start["yours"] if timed else None,
            "answers": answers,
            "replaced": before["replaced"] | now["replaced"],
        }

    def going_on(self) -> list[str]:
        """What becomes of the counts when a run goes on, for people."""
        if not self.done or (self.source is None and self.before is None):
            return []
        if self.source is None:
            return [
                f"whose code: answers of yours took part in {self.before['steps']:,} of the {self.done:,} steps so far; the "
                "remaining steps run on the course's own code, because no answers are swapped in (--mine)"
            ]
        if self.before is None:
            return [f"whose code: the course's own until step {self.done:,}; from here on your answers take part"]
        return ["whose code: your answers take part again; their calls are counted on from those of the steps before"]


def sentences(record: Record | None, steps: int = 0) -> list[str]:
    """A record in words, the last line the one that sums up. steps: of the whole run, if it is one."""
    if record is None:
        return ["All operations were the course's own."]
    calls = [one["calls"] for one in record["answers"].values()]
    ran = sum(count > 0 for count in calls)
    were, they = ("was", "it was") if ran == 1 else ("were", "they were")
    said = f"{ran} of {record['operations']} operations {were} yours"
    if ran:
        said += f"; {they} called {sum(calls):,} times"
        if record["yours"] is not None and record["seconds"]:
            said += f", {fraction(record['yours'] / record['seconds'])} of the time"
    if idle := len(calls) - ran:
        said += f"; {idle} more of yours {'was in place and was' if idle == 1 else 'were in place and were'} not called"
    if record["steps"] < steps:
        said += f", in {record['steps']:,} of {steps:,} steps"
    return [*(f"{name}: replaced by ours, because {why}" for name, why in record["replaced"].items()), f"{said}."]


def fraction(part: float) -> str:
    """A fraction in per cent: "38 %", "under 1 %"."""
    return "under 1 %" if 0 < part < 0.005 else f"{part:.0%}".replace("%", " %")
