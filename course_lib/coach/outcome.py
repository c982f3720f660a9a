"""What one case showed: what a diagnosis is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from course_lib.coach.compare import Difference

HEADER = ".cuh"  # how the name of a file ends that a kernel includes
# Kinds of a RaisedError that no exception has: the process ended (message: its status), ran on and on, or wrote to the judge.
ENDED, KILLED, FORGED = "Ended", "Killed", "Forged"


@dataclass(frozen=True)
class RaisedError:
    """An exception out of the answer. kind: its type's name. line: in the learner's text, None if it lies elsewhere."""

    kind: str
    message: str
    line: int | None = None
    code: str = ""


@dataclass
class Outcome:
    """One case, tried. Inputs are copies from before the call; `changed`: numbers of inputs that the answer altered."""

    label: str
    inputs: tuple
    expected: Any = None
    got: Any = None
    error: RaisedError | None = None
    difference: Difference | None = None
    complaint: str = ""  # of Exercise.check
    changed: Sequence[int] = ()
    reports: list = field(default_factory=list)  # of the simulator, one for each launch

    @property
    def issues(self) -> list:
        """What the simulator found wrong, over all launches; the same of several launches once, the learner's own lines first."""
        found: dict[tuple, Any] = {}
        for issue in (issue for report in self.reports for issue in report.issues):
            lines = tuple(sorted((issue.line, issue.other_line or issue.line)))
            found.setdefault((issue.kind, issue.file, lines), issue)
        return sorted(found.values(), key=lambda issue: issue.file.endswith(HEADER))

    @property
    def right(self) -> bool:
        return not (self.error or self.difference or self.complaint or self.issues)


@dataclass(frozen=True)
class Seen:
    """What `when` of a Wrong or a Mistake looks at: the smallest failing case, and all that were tried."""

    text: str
    failing: Outcome
    outcomes: Sequence[Outcome]

    @property
    def inputs(self) -> tuple:
        return self.failing.inputs

    @property
    def got(self) -> Any:
        return self.failing.got

    @property
    def expected(self) -> Any:
        return self.failing.expected

    @property
    def label(self) -> str:
        return self.failing.label

    @property
    def error(self) -> str:
        """ "TypeError: message", or "" if nothing was raised."""
        fault = self.failing.error
        return f"{fault.kind}: {fault.message}" if fault else ""

    @property
    def kinds(self) -> set[str]:
        """Kinds of the simulator's issues: "race", "out-of-bounds", ..."""
        return {issue.kind for issue in self.failing.issues}

    @property
    def issues(self) -> list:
        return self.failing.issues

    @property
    def complaint(self) -> str:
        """What the exercise's own check says, "" if nothing."""
        return self.failing.complaint

    @property
    def reports(self) -> list:
        return self.failing.reports


class Asked:
    """A Seen that remembers by name what of it was looked at."""

    def __init__(self, seen: Seen):
        self._seen = seen
        self.looked_at: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.looked_at.add(name)
        return getattr(self._seen, name)
