"""Compile errors for people: the learner's own lines, without the simulator's, and a sentence for the common mistakes."""

import re
from dataclasses import dataclass

from course_lib.cuda.errors import CompileError
from course_lib.cuda.mistakes import sentence_for
from course_lib.cuda.source import Source, without_comments

_ENTRIES = "entry points"
_PLACE = re.compile(
    r"^(?P<file>[^\s:][^:\n]*?)[:(](?P<line>\d+)[:)]:?(?:(?P<column>\d+):)? ?"
    r"(?P<level>fatal error|catastrophic error|error|note|warning): (?P<text>.*)$"
)
MOST_SHOWN = 5


@dataclass
class Complaint:
    """One error of the compiler."""

    file: str
    line: int
    column: int
    text: str


def complaints(log: str) -> list[Complaint]:
    """The errors of a g++, clang or NVRTC log, notes and warnings left out."""
    found = []
    for line in log.splitlines():
        match = _PLACE.match(line)
        if match and match.group("level").endswith("error"):
            column = int(match.group("column") or 0)
            found.append(
                Complaint(match.group("file").rsplit("/", 1)[-1], int(match.group("line")), column, match.group("text"))
            )
    return found


def explain(log: str, text: Source, names: list[str] | None = None) -> CompileError:
    """A CompileError with the learner's lines. `.in_entries` says whether the fault lies in a kernel's name."""
    everything = complaints(log)
    files = {text.name, *(path.name for path in text.includes)}
    own = [c for c in everything if c.file in files]
    entries = [c for c in everything if c.file == _ENTRIES]
    if brace := unclosed_brace(text.text):
        own.insert(0, Complaint(text.name, brace[0], brace[1], "this { is never closed: expected '}'"))
    if not own and entries:
        error = CompileError(_wrong_name(entries[0], text, names or []), log)
        error.in_entries = True
        return error
    shown, told = [], set()
    for complaint in own:
        if complaint.line in told or len(shown) == MOST_SHOWN:
            continue
        told.add(complaint.line)
        shown.append(_show(complaint, text))
    if not own:
        origin = _origin(log, files)
        shown = [_show(Complaint(*origin, everything[0].text if everything else ""), text)] if origin else []
    if not shown:
        shown = [everything[0].text if everything else log.strip()[-2000:]]
    first = own[0].line if own else None
    left = len({c.line for c in own}) - len(shown)
    more = f"\nand {left} more. Correct the first one first: the others often follow from it." if left > 0 else ""
    return CompileError(f"{text.name} did not compile.\n" + "\n".join(shown) + more, log, first)


def unclosed_brace(text: str) -> tuple[int, int] | None:
    """(line, column) of the last { that no } closes, or None."""
    open_ones = []
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        for column, letter in enumerate(line, 1):
            if letter == "{":
                open_ones.append((number, column))
            elif letter == "}" and open_ones:
                open_ones.pop()
    return open_ones[-1] if open_ones else None


def _show(complaint: Complaint, text: Source) -> str:
    lines = {path.name: path.read_text().splitlines() for path in text.includes}
    lines[text.name] = text.text.splitlines()
    source = lines.get(complaint.file, [])
    shown = f"{complaint.file}, line {complaint.line}: {_plain(complaint.text)}"
    code = source[complaint.line - 1] if 0 < complaint.line <= len(source) else ""
    if code:
        cut = len(code) - len(code.lstrip())
        shown += f"\n    {complaint.line:4} | {code.strip()}"
        if complaint.column > cut:
            shown += f"\n         | {' ' * (complaint.column - 1 - cut)}^"
    advice = sentence_for(complaint.text, code)
    return shown + (f"\n  {advice}" if advice else "")


def _plain(message: str) -> str:
    """A message without the compiler's flags and the simulator's names."""
    message = re.sub(r"\s*\[-[\w=+-]+\]$", "", message)
    for ours, theirs in (("sim_thread_idx", "threadIdx"), ("sim_block_idx", "blockIdx"), ("sim_block_dim", "blockDim"),
                         ("sim_grid_dim", "gridDim"), ("sim_thread_index()", "threadIdx"), ("sim_printf", "printf"),
                         ("sim_inline_assembly_is_not_simulated", "asm")):  # fmt: skip
        message = message.replace(ours, theirs)
    return message


def _origin(log: str, files: set[str]) -> tuple[str, int, int] | None:
    """Where in the learner's text an error inside a header came from."""
    for line in log.splitlines():
        for match in re.finditer(r"([\w.-]+):(\d+):(\d+)", line):
            if match.group(1) in files:
                return match.group(1), int(match.group(2)), int(match.group(3))
    return None


def _wrong_name(complaint: Complaint, text: Source, names: list[str]) -> str:
    named = names[complaint.line - 1] if 0 < complaint.line <= len(names) else ""
    what = f"the kernel {named!r}" if named else "a kernel's name"
    return f"{text.name} has no such kernel as {what} asks for: {_plain(complaint.text)}"
