"""Reads the pieces of a chapter's source: what the solution of an exercise is, and what the learner starts from.

A cell of `solutions/NN_topic.py` that begins with `# %% exercise="NAME"` holds one solution:

    def double(x):
        # yours: say in words what belongs here
        return 2 * x
        # end

The lines from `# yours` to `# end` are the learner's: the blank shows the words, and `...` in their place. If lines follow
`# instead`, the blank shows those, without their leading `# `, which is how a fault to be found is planted. CUDA C++ stands
in a raw string, r\"\"\"...\"\"\", with the same marks behind `//`.

A cell with the one line `# include PATH NAME: words for the blank` takes the solution from a file of the library or of
kernels/: the region between `# region NAME` and `# endregion` there, or, if no such marks are there, the function, class or
kernel of that name. Without `yours` marks in it, everything after its head (and docstring) is the learner's. A kernel comes
with the `#include` lines of its file. Several such lines make one text, and `# given PATH NAME` adds a piece that the blank
shows as it is. Of a C++ struct, `# include PATH STRUCT.FUNCTION` leaves the learner one function, `operator` for `operator()`.
After a kernel's include, `# plant OLD => NEW` puts a fault into it: the blank shows the whole body with NEW in
place of OLD; `\\n` in them begins a new line. Of a WGSL file, `# given PATH NAME` also takes a struct, a constant or a binding.
"""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from course_lib import lexer
from course_lib.coach.exercise import ExerciseError
from course_lib.paths import ROOT

MARK = re.compile(r"^(\s*)(?:#|//) ?(yours|instead|end)(?::\s*(.*))?$")
INCLUDE = re.compile(r"# (?P<what>include|given) (?P<path>\S+) (?P<name>\w+)(?:\.(?P<member>\w+))?(?:: (?P<words>.*))?")
PLANT = re.compile(r"# plant (?P<old>.+) => (?P<new>.+)")
HEAD = re.compile(r'^(?:#include|// include) ["<]([^">]+)[">]', re.M)
WORDS = "write this part"
UNTIL = "// until you write it"  # behind what a function gives that must give something
C_LIKE = (".cu", ".cuh", ".wgsl")


@dataclass(frozen=True)
class Piece:
    """One exercise's text. Both without marks, and without blank lines around them. planted: the blank holds a fault."""

    solution: str
    blank: str
    planted: bool


@cache
def pieces(source: Path) -> dict[str, Piece]:
    """Name of each exercise in a chapter's source -> its Piece."""
    return {name: piece(text, name, source) for name, text in cells(source).items()}


def cells(source: Path) -> dict[str, str]:
    """Name of each exercise -> the text of its cell."""
    head = re.compile(r'^# %%.*\bexercise="(\w+)".*$', re.M)
    text = source.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for match in head.finditer(text):
        body = text[match.end() :]
        following = re.search(r"^# %%", body, re.M)
        if match[1] in found:
            raise ExerciseError(f"{source.name} holds two cells for the exercise {match[1]}.")
        found[match[1]] = body[: following.start() if following else len(body)].strip("\n")
    return found


def piece(cell: str, name: str, source: Path) -> Piece:
    """The solution and the blank that a cell of `source` stands for."""
    text, comment, words = cell.strip("\n"), "#", WORDS
    lines = [INCLUDE.fullmatch(line.strip()) or PLANT.fullmatch(line.strip()) for line in text.strip().splitlines()]
    if lines and all(lines):
        plants = [
            tuple(line[side].replace("\\n", "\n") for side in ("old", "new")) for line in lines if line.re is PLANT
        ]
        text, comment = _assembled([line for line in lines if line.re is INCLUDE], plants)
    elif raw := re.fullmatch(r'r"""\n(.*?)"""', text.strip(), re.S):
        text, comment = raw[1], "//"
    if not any(MARK.match(line) for line in text.splitlines()):
        text = _mark_body(text, comment, words)
    try:
        rows = text.splitlines()
        planted = any(mark and mark[2] == "instead" and UNTIL not in after
                      for mark, after in zip(map(MARK.match, rows), rows[1:], strict=False))  # fmt: skip
        return Piece(_without_marks(text).strip("\n"), blanked(text, comment).strip("\n"), planted)
    except ExerciseError as error:
        raise ExerciseError(f"{name} in {source.name}: {error}") from None


def _assembled(lines: list[re.Match], plants: list[tuple[str, str]]) -> tuple[str, str]:
    """The text that lines of `include` and `given` stand for, with marks, and how its comments begin."""
    paths = [ROOT / line["path"] for line in lines]
    comment = "//" if paths[0].suffix in C_LIKE else "#"
    parts = []
    for line, path in zip(lines, paths, strict=True):
        text = included(path, line["name"])
        if line["what"] == "include" and not any(MARK.match(row) for row in text.splitlines()):
            text = _mark_body(text, comment, line["words"] or WORDS, plants, line["member"])
        parts.append(text.strip("\n"))
    heads = []
    if comment == "//":  # what a piece needs in order to compile by itself, unless it is one of the pieces
        heads = [head[0] for path in paths for head in HEAD.finditer(path.read_text(encoding="utf-8"))
                 if head[1] not in {other.name for other in paths} and not any(head[0] in part for part in parts)]  # fmt: skip
    parts = [*filter(None, ["\n".join(dict.fromkeys(heads))]), *parts]
    if paths[0].suffix != ".wgsl":
        return "\n\n".join(parts), comment
    gaps = ["\n" if "\n" not in one + other else "\n\n" for one, other in itertools.pairwise(parts)]
    return "".join(part + gap for part, gap in zip(parts, [*gaps, ""], strict=True)), comment  # bindings line by line


def included(path: Path, name: str) -> str:
    """The region `name` of a file, or its function, class or kernel of that name, with what stands directly above it."""
    text = path.read_text(encoding="utf-8")
    region = re.search(rf"^[ \t]*(?:#|//) region {name}\b[^\n]*\n(.*?)^[ \t]*(?:#|//) endregion", text, re.S | re.M)
    if region:
        return textwrap.dedent(region[1])
    find = {".wgsl": _of_shader, ".py": _definition}.get(path.suffix, _kernel)
    found = find(text, name)
    if found is None:
        raise ExerciseError(f"{path.relative_to(ROOT)} holds neither a region nor a definition named {name}.")
    return textwrap.dedent(found)


def _definition(text: str, name: str) -> str | None:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    return None


def _kernel(text: str, name: str) -> str | None:
    """A kernel, device function or struct from its head to its closing brace, with a `template` line before it."""
    template = r"^(?:template\s*<[^{};]*>\s*)?"
    function = rf"(?:extern\s+\"C\"\s+)?(?:static\s+)?__(?:global|device)__[^;{{}}]*\b{name}\s*\([^{{}};]*\)\s*\{{"
    if head := re.search(template + function, text, re.M):
        return text[head.start() : behind_brace(text, head.end() - 1)]
    if head := re.search(rf"{template}struct {name}\s*\{{", text, re.M):
        return text[head.start() : behind_brace(text, head.end() - 1)] + ";"
    return None


def _of_shader(text: str, name: str) -> str | None:
    """A function of WGSL with its attributes, a struct, a constant, or a variable with its binding."""
    if head := re.search(rf"^(?:@compute[^\n]*\n)?fn {name}\s*\([^{{}};]*\{{|^struct {name}\s*\{{", text, re.M):
        return text[head.start() : behind_brace(text, head.end() - 1, wgsl=True)]
    line = re.search(rf"^(?:@group[^;]*?var<[^>]*> {name}:|var<\w+> {name}:|const {name}\b)[^;]*;", text, re.M)
    return line and line[0]


def _body(text: str, member: str | None) -> tuple[int, int]:
    """The places of the two braces around the body of a C++ function, or of one function of a struct."""
    if member is None:
        return text.index("{"), text.rindex("}")
    head = re.search(rf"\b{member}\b[^;{{}}]*\{{", text)
    if head is None:
        raise ExerciseError(f"the struct has no function {member}.")
    return head.end() - 1, behind_brace(text, head.end() - 1) - 1


def _planted(body: str, plants: list[tuple[str, str]]) -> str:
    for old, new in plants:
        if body.count(old) != 1:
            raise ExerciseError(f"the piece {old!r} stands {body.count(old)} times in the body; once is needed.")
        body = body.replace(old, new)
    return body


def behind_brace(text: str, opening: int, wgsl: bool = False) -> int:
    """The place behind the brace that closes the one at `opening`."""
    end = lexer.read(text, wgsl).closing(opening)
    if end is None:
        raise ExerciseError("a brace is never closed.")
    return end + 1


def _mark_body(text: str, comment: str, words: str, plants: list[tuple[str, str]] | None = None,
               member: str | None = None) -> str:  # fmt: skip
    """Put marks around everything after the head and the docstring of the last definition. plants: pieces (old, new) of a
    kernel's body, which the blank then shows. member: of a struct only this function."""
    if comment == "//":
        opening, closing = _body(text, member)
        head, body = text[: opening + 1], text[opening + 1 : closing].strip("\n")
        indent = re.match(r" *", body)[0] or "    "
        kind = re.search(r"->\s*([\w<>]+)\s*\{$", head)  # of a function in WGSL
        gives = f"{kind[1]}()" if kind else "{}"
        nothing = re.search(r"\bvoid\b[^{}]*\{$", head) or (not kind and re.search(r"\bfn \w+\([^{}]*\{$", head))
        shown = [] if nothing else [f"{indent}return {gives};  {UNTIL}"]
        if plants:
            shown = _planted(body, plants).splitlines()
        blank = "".join(f"{row}\n" for row in [f"{indent}// instead", *(f"// {row}" for row in shown)] if shown)
        margin = re.search(r" *$", body)[0]  # of the closing brace
        return f"{head}\n{indent}// yours: {words}\n{body.rstrip()}\n{blank}{indent}// end\n{margin}{text[closing:]}"
    definitions = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    if not definitions:
        raise ExerciseError("there is nothing to blank: put `# yours` and `# end` around the learner's lines.")
    last, lines = definitions[-1], text.splitlines()
    documented = ast.get_docstring(last) is not None
    if documented and len(last.body) == 1:
        raise ExerciseError(f"the body of {last.name} is only its docstring.")
    first = last.body[1 if documented else 0].lineno - 1
    if last.body and isinstance(last.body[0], ast.FunctionDef) and last.body[0].decorator_list:
        first = last.body[0].decorator_list[0].lineno - 1
    indent = re.match(r"\s*", lines[first])[0]
    return "\n".join([*lines[:first], f"{indent}# yours: {words}", *lines[first : last.end_lineno], f"{indent}# end",
                      *lines[last.end_lineno :]])  # fmt: skip


def _without_marks(text: str) -> str:
    kept, where = [], "outside"
    for line in text.splitlines():
        mark = MARK.match(line)
        if mark:
            where = _next(where, mark[2])
        elif where != "instead":
            kept.append(line)
    return "\n".join(kept)


def blanked(text: str, comment: str) -> str:
    """The text as the learner starts from it: words in place of their part. Text without marks stays as it is."""
    kept: list[str] = []
    where, instead, indent = "outside", False, ""
    for line in text.splitlines():
        mark = MARK.match(line)
        if mark:
            where = _next(where, mark[2])
            if mark[2] == "yours":
                instead, indent = False, mark[1]
                kept.append(f"{indent}{comment} Your part: {mark[3] or WORDS}")
            elif mark[2] == "instead":
                instead = True
            elif not instead and comment == "#":
                kept.append(f"{indent}...")
        elif where == "instead":
            stripped = re.sub(rf"^(\s*){re.escape(comment)} ?", r"\1", line, count=1)
            kept.append(stripped)
        elif where == "outside":
            kept.append(line)
    if where != "outside":
        raise ExerciseError("a `yours` has no `end`.")
    return "\n".join(kept)


def _next(where: str, mark: str) -> str:
    expected = {"outside": ("yours",), "yours": ("instead", "end"), "instead": ("end",)}[where]
    if mark not in expected:
        raise ExerciseError(f"a mark `{mark}` stands where {' or '.join(expected)} was expected.")
    return "outside" if mark == "end" else mark


def comparable(text: str) -> str:
    """A text without trailing spaces and blank lines: two that are equal so are the same answer."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines() if line.strip())
