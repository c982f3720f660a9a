"""What `sanitize` found in a shader: issues, as those of cuda/report.py, and how often each line touched memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from course_lib.cuda.report import Issue, written


@dataclass(frozen=True)
class Line:
    """How many elements a line read or wrote, over all threads. space: "storage" or "workgroup"."""

    file: str
    line: int
    space: str
    op: str
    elements: int
    bytes: int


@dataclass
class Report:
    """ok where nothing was found. not_checked: what this text or this adapter keeps from being watched."""

    name: str
    issues: list[Issue] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.issues

    def elements(self, space: str, op: str = "") -> int:
        """Elements of "storage" or "workgroup" memory that were read, written, or both if no `op` is named."""
        return sum(line.elements for line in self.lines if line.space == space and op in ("", line.op))

    @property
    def bytes_moved(self) -> int:
        """Bytes that all threads together read from storage buffers and wrote there, as if there were no caches."""
        return sum(line.bytes for line in self.lines if line.space == "storage")

    def __str__(self) -> str:
        found = f"{len(self.issues)} issues" if self.issues else "nothing is wrong that can be seen"
        rows = [(str(n.line), n.space, n.op, f"{n.elements:,}", f"{n.bytes:,}") for n in self.lines]
        return written(self, f"{self.name}: {found}.", ("line", "memory", "", "elements", "bytes"), rows, right=2)

    __repr__ = __str__
