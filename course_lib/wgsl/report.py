"""What `sanitize` found in a shader: findings as those of a CUDA kernel, and how often each line touched memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from course_lib.cuda.report import Findings


@dataclass(frozen=True)
class Line:
    """How many elements a line read or wrote, over all threads. space: "storage" or "workgroup"."""

    COLUMNS: ClassVar = ("elements", "bytes moved")
    remark: ClassVar = ""

    file: str
    line: int
    space: str
    op: str
    elements: int
    bytes_moved: int

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands in each of COLUMNS."""
        return f"{self.elements:,}", f"{self.bytes_moved:,}"


@dataclass(repr=False)
class Report(Findings):
    """Of a shader: its grid counts workgroups, its block the threads of one."""

    MEMORY: ClassVar = "storage"
    EXTENTS: ClassVar = ("groups", "threads of each")

    def elements(self, space: str, op: str = "") -> int:
        """Elements of "storage" or "workgroup" memory that were read, written, or both if no `op` is named."""
        return sum(line.elements for line in self.lines if line.space == space and op in ("", line.op))
