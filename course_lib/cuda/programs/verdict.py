"""The account of a run, read: issues of its kernels, errors that CUDA's functions returned, memory that was never freed."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.cuda import lines
from course_lib.cuda.errors import CompileError
from course_lib.cuda.programs import build
from course_lib.cuda.report import Issue

TOOLS = {
    "out-of-bounds": "memcheck", "misaligned-access": "memcheck", "null-pointer": "memcheck", "host-pointer": "memcheck",
    "division-by-zero": "memcheck", "crash": "memcheck", "timeout": "memcheck", "race": "racecheck",
    "uninitialised-read": "initcheck", "divergent-barrier": "synccheck", "missed-barrier": "synccheck",
    "missing-lanes": "synccheck", "host-access": "memcheck", "api-error": "memcheck", "leak": "memcheck",
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, under the name of the tool of compute-sanitizer that looks for its kind.

    `kernel` is empty for what the host's code did. times: in how many launches, or calls, it was seen.
    """

    kind: str
    file: str
    line: int
    message: str
    kernel: str = ""
    issue: Issue | None = None
    times: int = 1

    @property
    def tool(self) -> str:
        """memcheck, racecheck, initcheck or synccheck."""
        return TOOLS[self.kind]

    def __str__(self) -> str:
        many = f" ({self.times} {'launches' if self.issue else 'times'})" if self.times > 1 else ""
        if self.issue is None:
            return f"[{self.tool}] {self.kind}: {self.file}, line {self.line}: {self.message}{many}"
        return f"[{self.tool}] in {self.kernel}{many}: {self.issue}"


@dataclass
class Verdict:
    """What one run of a program showed. code: its own exit code, negative for the signal that ended it."""

    program: str
    checked: bool
    code: int
    findings: list[Finding] = field(default_factory=list)
    launches: int = 0
    kernels: tuple[str, ...] = ()
    timed: bool = False  # it asked for the time between two events
    not_checked: tuple[str, ...] = ()
    counted: list[dict] = field(
        default_factory=list
    )  # launches by kernel, sizes and place: the counters of the first of each

    @property
    def ok(self) -> bool:
        """Whether nothing was found and the program ended well."""
        return not self.findings and self.code == 0


def run(
    program: build.Program, arguments: Sequence[str] = (), gpu: str = "a100", timeout: float = 60, capture: bool = False
) -> tuple[Verdict, str]:
    """Run a compiled program in a process of its own. Returns the verdict, and what it printed if that was captured.

    timeout: seconds for each launch. Raises CompileError for a function that the program calls and that nothing defines.
    """
    with tempfile.TemporaryDirectory() as folder:
        account = Path(folder, "account")
        account.touch()
        settings = {**program.to_json(), "account": str(account), "gpu": gpu, "timeout": timeout}
        command = [sys.executable, "-m", "course_lib.cuda.programs.child", json.dumps(settings), "--", *arguments]
        output = subprocess.PIPE if capture else None
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT if capture else None, env=_environment())
        verdict = read(account.read_text(errors="replace"), program, done.returncode)
    return verdict, (done.stdout or b"").decode(errors="replace")


def _environment() -> dict[str, str]:
    """Ours, so that the child finds this very package from any folder."""
    import os

    home = str(Path(__file__).resolve().parents[3])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))}


def read(account: str, program: build.Program, code: int) -> Verdict:
    """The verdict that an account makes, and the exit code of the process."""
    verdict = Verdict(program.files[0].name, program.checked, code)
    found: dict[tuple, Finding] = {}
    kernels: dict[str, None] = {}
    not_checked: dict[str, None] = {}
    ended = False
    for line in account.splitlines():
        if line.startswith("{"):
            launch = json.loads(line)
            if "not_compiled" in launch:
                raise CompileError(launch["not_compiled"], line=launch["line"])
            verdict.launches += 1
            kernels[launch["kernel"]] = None
            not_checked.update(dict.fromkeys(launch.get("not_checked", ())))
            _count(verdict.counted, launch)
            new = _of_launch(launch)
        else:
            kind, file, number, *rest = line.split("\t")
            verdict.timed |= kind == "time"
            ended |= kind == "end"
            verdict.launches += kind == "launch"
            new = _of_host(program, kind, Path(file).name, int(number), rest)
        for one in new:
            known = found.get(_place(one))
            found[_place(one)] = one if known is None else _again(known)
    verdict.findings = list(found.values())
    if not ended and code < 0:
        verdict.findings.append(Finding("crash", verdict.program, 0, _signal(-code)))
    verdict.kernels, verdict.not_checked = tuple(kernels), tuple(not_checked)
    return verdict


def _count(counted: list[dict], launch: dict) -> None:
    keys = ("kernel", "grid", "block", "shared", "at")
    if "lines" not in launch:
        return
    for known in counted:
        if all(known[key] == launch[key] for key in keys):
            known["launches"] += 1
            return
    counted.append({key: launch[key] for key in (*keys, "lines")} | {"launches": 1})


def _place(one: Finding) -> tuple:
    other = one.issue.other_line if one.issue else one.message if one.kind == "api-error" else 0
    return one.kind, one.file, one.line, other


def _again(one: Finding) -> Finding:
    return Finding(one.kind, one.file, one.line, one.message, one.kernel, one.issue, one.times + 1)


def _of_launch(launch: dict) -> list[Finding]:
    if "error" in launch:
        file, line = launch["at"]
        return [Finding("crash", Path(file).name, line, launch["error"], launch["kernel"])]
    found = []
    for fields in launch["issues"]:
        fields["block"] = tuple(fields["block"])
        fields["thread"] = tuple(fields["thread"]) if fields["thread"] else None
        issue = Issue(**fields)
        found.append(Finding(issue.kind, issue.file, issue.line, issue.message, launch["kernel"], issue))
    return found


def _of_host(program: build.Program, kind: str, file: str, line: int, rest: list[str]) -> list[Finding]:
    if kind == "api":
        code, function, message = rest
        return [Finding("api-error", file, line, f"{function} returned error {code}: {message}")]
    if kind == "leak":
        return [Finding("leak", file, line, f"{int(rest[0]):,} bytes that were allocated here were never freed")]
    if kind == "fault":
        return [Finding("crash", file, line, rest[0])]
    if kind in ("host", "early"):
        offset, verb, *work = int(rest[0]) - 1, *rest[1:]
        places = lines.calls(program.library, [offset]).get(offset, (("?", 0),))
        sentence = f"the host's code {verb} device memory: it cannot reach it on a GPU; cudaMemcpy copies it"
        if work:
            sentence = f"the host's code {verb} memory that {work[0]} may still be using: wait first, by cudaDeviceSynchronize()"
        return [Finding("race" if work else "host-access", *places[0], sentence)]
    return []


def _signal(number: int) -> str:
    names = {signal.SIGSEGV: "an access to memory that is not there", signal.SIGABRT: "abort(), or a failed assert"}
    what = names.get(number, signal.Signals(number).name if number in set(signal.Signals) else str(number))
    return f"the host's code was ended by {what}"
