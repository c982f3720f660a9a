"""A verdict: what the judge found, as data, and as plain text. pictures.py makes HTML of it.

The word comes first, then why, then the smallest failing case; what the learner printed stands below.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

WORDS = {True: "Passed", False: "Not yet"}


@dataclass
class FailingCase:
    """The smallest failing case, as text. inputs: one line each, or the whole call if `is_call`. names: of the inputs."""

    label: str
    inputs: list[str] = field(default_factory=list)
    is_call: bool = False
    expected: str = ""
    got: str = ""
    difference: str = ""
    line: int | None = None  # of the learner's text, where an exception came from
    code: str = ""
    picture: dict | None = None
    names: list[str] = field(default_factory=list)

    def rows(self) -> list[tuple[str, str]]:
        """The case, what was expected and what came, each with its name."""
        names = ["call"] if self.is_call else self.names or [f"input {i}" for i in range(1, len(self.inputs) + 1)]
        last = (("expected", self.expected), ("got", self.got))
        return [*zip(names, self.inputs, strict=True), *(row for row in last if row[1])]


@dataclass
class Count:
    """A number that the answer was measured by. None: this machine cannot tell. earlier: of the learner's last tries."""

    name: str
    yours: float | None
    ours: float | None = None
    at_most: float | None = None
    earlier: list[float | None] = field(default_factory=list)

    @property
    def missed(self) -> bool:
        return self.yours is not None and self.at_most is not None and self.yours > self.at_most * (1 + 1e-9)


@dataclass
class Verdict:
    """passed, why, and what shows it. recognised: the sentence was written for a cause that was detected."""

    name: str
    title: str
    language: str
    passed: bool
    why: str = ""
    recognised: bool = False
    blank: bool = False
    judged: bool = True  # False: this machine cannot tell
    loaded: bool = True  # whether the text ran, or compiled, at all
    failing: FailingCase | None = None
    right_cases: int = 0
    cases: int = 0
    issues: list[str] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    measured: str = ""
    playable: bool = False  # the failing case is a launch that `course.play()` can show
    report: str = ""  # of the simulator, line by line
    not_measured: list[str] = field(default_factory=list)
    printed: str = ""
    notes: list[str] = field(default_factory=list)  # of the state: "this is the solution", "your 3rd try"
    next: str = ""
    seconds: float = 0.0

    @property
    def word(self) -> str:
        return "Blank" if self.blank else WORDS[self.passed] if self.judged else "Not judged"

    @property
    def fraction(self) -> str:
        """How many of the cases are right, in words."""
        return f"{self.right_cases} of {self.cases} cases {'is' if self.right_cases == 1 else 'are'} right."

    def as_dict(self) -> dict:
        """For JSON."""
        return asdict(self)


def from_dict(data: dict) -> Verdict:
    """The reverse of as_dict."""
    data = dict(data)
    data["failing"] = FailingCase(**data["failing"]) if data.get("failing") else None
    data["counts"] = [Count(**count) for count in data.get("counts", [])]
    return Verdict(**data)


def text(verdict: Verdict) -> str:
    """The verdict for a terminal, and for `text/plain` in a notebook."""
    parts = [f"{verdict.word}: {verdict.title} ({verdict.name})", verdict.why]
    failing = verdict.failing
    if failing is not None:
        if failing.code:
            parts.append(f"  line {failing.line} | {failing.code}")
        if failing.label and (failing.inputs or failing.expected):
            parts.append(f"The smallest case that fails: {failing.label}")
            rows = failing.rows()
            width = max(9, *(len(name) for name, _ in rows))
            parts += [_indented(name.ljust(width), value) for name, value in rows]
        if failing.difference and failing.difference not in verdict.why:
            parts.append(f"  {failing.difference}.")
        if verdict.cases > 1:
            parts.append(verdict.fraction)
    parts += verdict.issues
    if verdict.counts:
        parts.append(counts_text(verdict))
    parts += [f"Not measured here: {what}" for what in verdict.not_measured]
    parts += verdict.notes
    if verdict.printed:
        parts.append("Your code printed:\n" + verdict.printed.rstrip("\n"))
    if verdict.next:
        parts.append(f"Next: {verdict.next}")
    return "\n".join(part for part in parts if part)


def counts_text(verdict: Verdict) -> str:
    """The table of counters."""
    rows = [("", "yours", "ours", "required", "your earlier tries"), *count_rows(verdict)]
    used = [i for i in range(5) if i < 2 or any(row[i] for row in rows[1:])]
    widths = {i: max(len(row[i]) for row in rows) for i in used}
    head = f"Counted in the case: {verdict.measured}\n" if verdict.measured else ""
    return head + "\n".join("  " + "  ".join(row[i].ljust(widths[i]) for i in used).rstrip() for row in rows)


def as_text(value: float | None) -> str:
    """A count as text: four digits, and from ten thousand on all of them."""
    return "not measured here" if value is None else f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"


def count_rows(verdict: Verdict) -> list[tuple[str, ...]]:
    """Name, yours, ours, required, earlier: as text."""
    return [
        (c.name, as_text(c.yours), as_text(c.ours) if c.ours is not None else "",
         f"at most {as_text(c.at_most)}" if c.at_most is not None else "", ", ".join(as_text(e) for e in c.earlier))
        for c in verdict.counts
    ]  # fmt: skip


def _indented(name: str, value: str) -> str:
    first, *rest = value.splitlines() or [""]
    return "\n".join([f"  {name} {first}", *(f"   {' ' * len(name)}{line}" for line in rest)])
