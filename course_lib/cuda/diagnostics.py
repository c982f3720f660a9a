"""Compile errors for people: the learner's own lines, without the simulator's, and a sentence for the common mistakes.

COURSE_PLAIN_ERRORS=1 in the environment leaves the sentences out: places, lines and the compiler's words.
"""

import os
import re
import unicodedata
from dataclasses import dataclass

from course_lib import lexer
from course_lib.cuda.errors import CompileError
from course_lib.cuda.mistakes import sentence_for
from course_lib.cuda.source import Source
from course_lib.cuda.unknown_names import differs_in_case, sentence_for_name, unknown_name

_ENTRIES = "entry points"
_PLACE = re.compile(
    r"^(?P<file>[^\s:][^:\n]*?)[:(](?P<line>\d+)[:)]:?(?:(?P<column>\d+):)? ?"
    r"(?P<level>fatal error|catastrophic error|error|note|warning): (?P<text>.*)$"
)
_FORMAT = re.compile(
    r"format .*(?:of type|specifies type) [‘']([^’']*)[’'].* has type [‘']([^’']*)[’'](?: [({]aka [‘']([^’']*)[’'])?"
)
MOST_SHOWN = 5
MEANT = {
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=",
    "≥": ">=", "≠": "!=", "；": ";", "，": ",", "（": "(", "）": ")", "²": "* x", "…": "...",
}  # fmt: skip


@dataclass
class Complaint:
    """One error of the compiler."""

    file: str
    line: int
    column: int
    text: str
    hint: str = ""  # what its only note says


def complaints(log: str) -> list[Complaint]:
    """The errors of a g++, clang or NVRTC log, notes and warnings left out."""
    found: list[Complaint] = []
    notes, lines = 0, log.splitlines()
    for number, line in enumerate(lines):
        match = _PLACE.match(line)
        if not match:
            continue
        if match.group("level").endswith("error"):
            mark = lines[number + 2] if number + 2 < len(lines) else ""
            column = int(match.group("column") or (max(len(mark) - 2, 0) if mark.strip() == "^" else 0))  # NVRTC's
            file = match.group("file").rsplit("/", 1)[-1]
            found.append(Complaint(file, int(match.group("line")), column, match.group("text")))
            notes = 0
        elif match.group("level") == "note" and found:
            notes += 1
            found[-1].hint = match.group("text") if notes == 1 else ""
    return found


def only_lengths(log: str) -> bool:
    """Whether all errors are about printf's %lu for an unsigned long long and the like: both are 64 bits here and on a GPU."""
    found = complaints(log)
    kinds = [match.groups() for match in (_FORMAT.match(complaint.text) for complaint in found) if match]
    return 0 < len(found) == len(kinds) and all(
        "long" in wanted and "long" in (real or given) and not re.search(r"\*|double", wanted + (real or given))
        for wanted, given, real in kinds
    )


def explain(log: str, text: Source, names: list[str] | None = None) -> CompileError:
    """A CompileError with the learner's lines. `.in_entries` says whether the fault lies in a kernel's name."""
    everything = complaints(log)
    files = {text.name, *(path.name for path in text.includes)}
    own = [_placed(c, text) for c in everything if c.file in files]
    entries = [c for c in everything if c.file in (_ENTRIES, "__nv_name_map")]
    if not entries and (place := re.search(rf"^{_ENTRIES}:(\d+):", log, re.M)):  # g++ blames our header
        entries = [Complaint(_ENTRIES, int(place.group(1)), 0, everything[0].text if everything else "")]
    names = names or re.findall(r"#pragma nv_mangled_name (.*)", log)[:1] * (entries[0].line if entries else 0)
    if (brace := unclosed_brace(text.text)) and not plain():
        own.insert(0, Complaint(text.name, brace[0], brace[1], "this { is never closed: expected '}'"))
    if not own and entries:
        error = CompileError(_wrong_name(entries[0], text, names or []), log)
        error.in_entries = True
        return error
    if not own and (origin := _origin(log, files)):
        of_header = origin[0] == text.name and re.match(r"\s*#\s*include\s*<\w+>", _line(text, origin[1]))
        said = "this header does not compile in a kernel" if of_header else everything[0].text if everything else ""
        own = [Complaint(*origin, said)]
    shown, told = [], set()
    for complaint in own:
        if complaint.line in told or len(shown) == MOST_SHOWN:
            continue
        told.add(complaint.line)
        shown.append(_show(complaint, text))
    if not shown:
        shown = [everything[0].text if everything else log.strip()[-2000:]]
    first = own[0].line if own else None
    left = len({c.line for c in own}) - len(shown)
    follow = "" if plain() else " Correct the first one first: the others often follow from it."
    more = f"\nand {left} more.{follow}" if left > 0 else ""
    return CompileError(f"{text.name} did not compile.\n" + "\n".join(shown) + more, log, first)


def plain() -> bool:
    """Whether the sentences for learners are switched off. Asked at each error."""
    return os.environ.get("COURSE_PLAIN_ERRORS", "") not in ("", "0")


def unclosed_brace(text: str) -> tuple[int, int] | None:
    """(line, column) of the last { that no } closes, or None."""
    open_ones = [start for start, end in lexer.read(text).brackets.items() if end is None and text[start] == "{"]
    if not open_ones:
        return None
    before = _lines(text[: open_ones[-1]])
    return len(before), len(before[-1]) + 1


def _placed(complaint: Complaint, text: Source) -> Complaint:
    """The complaint, moved to the end of the line before if what is missing is missing there."""
    if complaint.file != text.name:
        return complaint
    lines = _lines(text.code)
    code = lines[complaint.line - 1] if 0 < complaint.line <= len(lines) else ""
    first = complaint.column <= len(code) - len(code.lstrip()) + 1
    before = next((n for n in range(min(complaint.line - 1, len(lines)), 0, -1) if lines[n - 1].strip()), 0)
    colon = before and re.search(r"(?:\)|\belse)\s*:\s*$|\breturn\s*$", lines[before - 1])
    if not (first or colon) or not before or not _MISSING_BEFORE.search(complaint.text):
        return complaint
    struct = re.match(r"\s*(?:struct|class|union|enum)\b.*\}\s*$", lines[before - 1])
    if (
        not struct
        and re.search(r"[;{}]\s*$|^\s*#", lines[before - 1])
        and not lines[before - 1].rstrip().endswith("return")
    ):
        return complaint
    return Complaint(complaint.file, before, len(lines[before - 1].rstrip()), complaint.text, complaint.hint)


def _advice(complaint: Complaint, code: str, text: Source) -> str:
    """What to do now, or nothing: first what the text itself shows, then what the compiler's words mean."""
    if complaint.text.startswith("this { is never closed"):
        return "The braces do not balance: every { needs one }. Look where the block that begins here should end."
    name = unknown_name(complaint.text)
    if not name and 'followed by "::"' in complaint.text and (space := re.search(r"(\w+)\s*::", code)):
        name = space.group(1)
    bare = lexer.read(code).code if complaint.file == text.name else code
    for letter in dict.fromkeys(bare):
        if ord(letter) > 127 and (letter in complaint.text or re.search(r"<U\+|unrecognized token", complaint.text)):
            what = unicodedata.name(letter, "an unknown sign").lower()
            meant = f", where C++ has {MEANT[letter]}" if letter in MEANT else ""
            return f"This line holds {letter} ({what}, U+{ord(letter):04X}){meant}. Delete it and type it anew on the keyboard."
    if broken := _broken_macro(bare, text):
        return broken
    if (
        complaint.file == text.name
        and _outside(complaint.line, text)
        and _STATEMENT.match(bare)
        and not _FORBIDDEN.search(bare)
    ):
        return (
            "This stands outside of every function. Does a } above close the kernel too early? A constant has a type: "
            "constexpr int N = 4;"
        )
    known = sentence_for(f"{complaint.text} {complaint.hint}".strip(), code)
    if name and (not known or differs_in_case(name, text)):
        return sentence_for_name(name, bare, text, complaint.line)
    return known


_MISSING_BEFORE = re.compile(
    r"^expected (?:['‘]?,['’]? or )?['‘`\"a ]*;|^expected initializer before|in function returning ['‘]void"
    r"|return value type does not match|only constructors take|^expected '\(' or '\{'|^expected ['‘\"]?,['’\"]? or"
)
_STATEMENT = re.compile(
    r"\s*(?:[A-Za-z_]\w*(?:\[[^\]]*\])?\s*[-+*/]?=[^=]|(?:for|if|while)\s*\(|return\b|\w+\([^)]*\)\s*;)"
)
_FORBIDDEN = re.compile(r"^\s*#|\b(?:__global__|__device__|template|struct)\b")


def _outside(line: int, text: Source) -> bool:
    return unclosed_brace("\n".join(_lines(text.code)[: line - 1])) is None


def _broken_macro(code: str, text: Source) -> str:
    """What to say of a #define that puts a = or ; into this line."""
    for number, row in enumerate(_lines(text.code), 1):
        made = re.match(r"\s*#\s*define\s+(\w+)[ \t]*(=.*|[^\\]*;|)\s*$", row)
        if made and re.search(rf"\b{made.group(1)}\b", code):
            puts = f"puts `{made.group(2).strip()}`" if made.group(2).strip() else "puts nothing"
            return f"The #define of line {number} {puts} in place of {made.group(1)}. It is written #define N 4, without = and ;."
    return ""


def _lines(text: str) -> list[str]:
    """The lines as compilers count them: a form feed ends none."""
    return re.split(r"\r\n|\n|\r", text)


def _line(text: Source, number: int) -> str:
    lines = _lines(text.text)
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _show(complaint: Complaint, text: Source) -> str:
    lines = {path.name: _lines(path.read_text()) for path in text.includes}
    lines[text.name] = _lines(text.text)
    source = lines.get(complaint.file, [])
    shown = f"{complaint.file}, line {complaint.line}: {_plain(complaint.text)}"
    code = source[complaint.line - 1] if 0 < complaint.line <= len(source) else ""
    if code:
        cut = len(code) - len(code.lstrip())
        shown += f"\n    {complaint.line:4} | {code.strip()}"
        if complaint.column > cut:
            shown += f"\n         | {' ' * (complaint.column - 1 - cut)}^"
    advice = "" if plain() else _advice(complaint, code, text)
    return shown + (f"\n  {advice}" if advice else "")


def _plain(message: str) -> str:
    """A message without the compiler's flags and the simulator's names."""
    message = re.sub(r"\s*\[-[\w=+,-]+\]$", "", message)
    message = re.sub(r"[;,] did you mean (?:simply )?[‘'\"]\w+[’'\"]\?$", "", message)  # it may be a name of ours
    message = re.sub(r"(read-only location) ‘.*’$", r"\1", message)
    message = re.sub(r"^static.assert.*?(\w+?)_is_not_simulated\b([^\"]*)\"?$", r"\1 is not simulated\2", message)
    for ours, theirs in (("sim_thread_idx", "threadIdx"), ("sim_block_idx", "blockIdx"), ("sim_block_dim", "blockDim"),
                         ("sim_grid_dim", "gridDim"), ("sim_thread_index()", "threadIdx"), ("sim_printf", "printf"),
                         ("sim_inline_assembly_is_not_simulated", "asm")):  # fmt: skip
        message = message.replace(ours, theirs)
    return message


def _origin(log: str, files: set[str]) -> tuple[str, int, int] | None:
    """Where in the learner's text an error inside a header came from: a call with its column, else the #include."""
    for place in (r"([\w.-]+):(\d+):(\d+)", r"([\w.-]+):(\d+)()"):
        for match in re.finditer(place, log):
            if match.group(1) in files:
                return match.group(1), int(match.group(2)), int(match.group(3) or 0)
    return None


def _wrong_name(complaint: Complaint, text: Source, names: list[str]) -> str:
    """What to say of a name given to Kernel. The template's own line says what it takes."""
    named = names[complaint.line - 1] if 0 < complaint.line <= len(names) else ""
    what = f"the kernel {named!r}" if named else "a kernel's name"
    kernel, bare = re.match(r"\w*", named).group(), text.code
    said = f"{text.name} has no such kernel as {what} asks for"
    template = re.search(rf"template\s*<([^<>]*)>[^;{{}}]*?\b{kernel}\s*\(", bare) if kernel else None
    name = unknown_name(complaint.text)
    if template:
        line = bare[: template.start()].count("\n") + 1
        takes = [part.strip() for part in template.group(1).split(",")]
        example = ", ".join(
            "float" if re.match(r"class|typename", p) else "true" if p.startswith("bool") else "32" for p in takes
        )
        advice = f"\n  Line {line} declares it with template <{', '.join(takes)}>: name an instance such as {kernel}<{example}>."
        if name and name != kernel:
            return f"{said}: {name} is not known.{advice} {sentence_for_name(name, '', text, 0)}"
        return f"{said}: the arguments between < and > do not fit.{advice}"
    if "<" in named and re.search(rf"\b{kernel}\s*\(", bare):
        return f"{said}: {kernel} is no template.\n  Name it {kernel!r}, without < and >."
    inside = re.search(rf"(namespace|struct|class)\s+(\w+)\s*\{{[^}}]*?__global__[^;{{}}]*\b{kernel}\s*\(", bare)
    if inside and inside.group(1) == "namespace":
        return f"{said}: it stands in the namespace {inside.group(2)}.\n  Name it {inside.group(2) + '::' + named!r}."
    if inside:
        return f"{said}: it stands inside {inside.group(2)}.\n  Move it out of those braces: a kernel is never part of a struct."
    if "overloaded" in complaint.text or "auto" in complaint.text:
        return f"{said}: there are several of this name.\n  Give each kernel a name of its own."
    return f"{said}: {_plain(complaint.text)}"
