"""Launches in host code: `kernel<<<grid, block, shared, stream>>>(arguments)` becomes a call of sim::launcher.

    sim::launcher("kernel", "x,n", {"prog.cu", 12}, [=](auto&... sim_a) { kernel(sim_a...); },
                  sim::Configuration(grid, block))(arguments)

Works on tokens of the preprocessed text, so that launches in macros are seen as they are used. `<<<` means nothing else in C++.
What stands before it is read backwards as C++ reads a postfix expression: names with `::`, `.`, `->`, template arguments,
indices, calls. The lambda leaves overloads and template arguments to the compiler. Kernels' own text is never changed.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from course_lib import lexer
from course_lib.cuda.errors import CompileError

_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"', re.MULTILINE)


@dataclass(frozen=True)
class _Launch:
    start: int  # offsets in the text: where the kernel's name begins,
    open_: tuple[int, int]  # where the <<< begins and ends,
    close: tuple[int, int]  # and the >>>
    kernel: str


def rewrite(text: str, parameters: Mapping[str, Sequence[str]], unchecked: str) -> str:
    """The text with its launches as calls.

    parameters: the names of each kernel's parameters. unchecked: the attribute by which a function is compiled without hooks.
    Raises CompileError for a `<<<` without its `>>>(`.
    """
    found = lexer.read(text)
    words = found.words
    pieces, done = [], 0
    for number in range(len(words) - 2):
        if not _three(words, number, "<") or words[number].offset < done or _is(words, number - 1, "<"):
            continue
        launch = _launch(found, number)
        names = ",".join(parameters.get(_plain(launch.kernel), ()))
        file, line = place(text, launch.open_[0])
        shown = json.dumps(launch.kernel)
        call = f"[=](auto&... sim_a) {unchecked} {{ {launch.kernel}(sim_a...); }}"
        pieces += [
            text[done : launch.start],
            f"sim::launcher({shown}, {json.dumps(names)}, SimSite{{{json.dumps(file)}, {line}}}, {call}, sim::Configuration(",
            text[launch.open_[1] : launch.close[0]],
            "))",
        ]
        done = launch.close[1]
        for null in _null_arguments(found, done):
            pieces += [text[done : null.offset], "nullptr"]
            done = null.end
    return "".join([*pieces, text[done:]])


_OWN_NAMES = {"sim_grid_size": "gridDim", "sim_block_size": "blockDim", "sim_block_index": "blockIdx",
              "sim_thread_index": "threadIdx"}  # fmt: skip
_INDEX = re.compile(rf"\(({'|'.join(_OWN_NAMES)})\(\)\)")


def restore_variables(text: str) -> str:
    """The text of a checked build with the host's own variables called gridDim, blockDim and so on.

    There these words are macros, and the preprocessor has written calls for them. Where one is declared, or assigned to, it is a
    variable up to the end of its block; a parameter up to the end of its function.
    """
    if not _INDEX.search(text):
        return text
    found = lexer.read(text)
    ends: dict[str, int] = {}
    pieces, done = [], 0
    for match in _INDEX.finditer(text):
        name, before, behind = (
            match[1],
            found.code[: match.start()].rstrip()[-40:],
            found.code[match.end() :].lstrip()[:2],
        )
        typed = re.search(r"\b(?:dim3|uint3|auto)\s*(?:const\s*)?&?$", before)
        if (
            behind[:1] in ("(", "{")
            or (behind[:1] == "=" and behind != "==")
            or (typed and behind[:1] in (";", ",", ")"))
        ):
            inside = found.enclosing(match.start(), "(")
            bodies = [f.body[1] for f in found.functions if inside and f.parameters[0] == inside[-1]]
            blocks = [found.closing(opening) or len(text) for opening in found.enclosing(match.start())]
            end = bodies[0] if bodies else blocks[-1] if blocks else len(text)
            ends[name] = max(end, ends.get(name, 0) if ends.get(name, 0) > match.start() else 0)
        if match.start() < ends.get(name, 0):
            pieces += [text[done : match.start()], " ", _OWN_NAMES[name]]
            done = match.end()
    return "".join([*pieces, text[done:]])


def _null_arguments(found: lexer.Text, after: int) -> list[lexer.Token]:
    """The arguments behind a launch that are NULL and no more: as values they would be integers."""
    opening = found.words[found.number(after)].offset
    spans = found.split(opening + 1, found.closing(opening) or opening + 1)
    arguments = (found.between(*span) for span in spans)
    return [words[0] for words in arguments if [word.text for word in words] == ["__null"]]


def place(text: str, offset: int) -> tuple[str, int]:
    """(file, line) in the program of an offset in its preprocessed text."""
    last = None
    for match in _MARKER.finditer(text, 0, offset):
        last = match
    if last is None:
        return "?", text.count("\n", 0, offset) + 1
    return json.loads(f'"{last[2]}"'), int(last[1]) + text.count("\n", last.end(), offset) - 1


def _is(words: Sequence[lexer.Token], number: int, sign: str) -> bool:
    """Whether the punctuation there is `sign`, with nothing between its characters."""
    if number < 0 or number + len(sign) > len(words):
        return False
    first = words[number].offset
    return all(words[number + i].text == c and words[number + i].offset == first + i for i, c in enumerate(sign))


def _three(words: Sequence[lexer.Token], number: int, sign: str) -> bool:
    """Whether a sign stands there three times: with a space before the third, as some editors format it, and nvcc reads it."""
    return _is(words, number, 2 * sign) and number + 2 < len(words) and words[number + 2].text == sign


def _launch(found: lexer.Text, number: int) -> _Launch:
    words = found.words

    def refuse(sentence: str) -> CompileError:
        file, line = place(found.text, words[number].offset)
        return CompileError(f"{file.rsplit('/', 1)[-1]}, line {line}: {sentence}", line=line)

    first = _begin(found, number - 1)
    if first is None:
        raise refuse("what stands before <<< is no kernel.")
    at = number + 3
    apart = not _is(words, number, "<<<")  # then the >>> may be, too
    while at < len(words) and not (_is(words, at, ">>>") or (apart and _three(words, at, ">"))):
        end = found.closing(words[at].offset) if words[at].text in lexer.CLOSING else words[at].offset
        if end is None or words[at].text in (";", *lexer.OPENING):
            raise refuse("this <<< has no >>>.")
        at = found.number(end) + 1
    if at + 3 >= len(words) or words[at + 3].text != "(":
        raise refuse("behind >>> come the kernel's arguments in parentheses.")
    kernel = "".join(_spaced(words[first:number]))
    signs = ((words[first_sign].offset, words[first_sign + 2].end) for first_sign in (number, at))
    return _Launch(words[first].offset, *signs, kernel)


def _spaced(words: Sequence[lexer.Token]) -> list[str]:
    """The words of an expression, with a space wherever two would else be one."""
    pieces = [words[0].text]
    for before, word in pairwise(words):
        pieces.append(word.text if before.end == word.offset else f" {word.text}")
    return pieces


def _begin(found: lexer.Text, last: int) -> int | None:
    """Where the postfix expression begins that ends with the word `last`."""
    words, at = found.words, last
    while at >= 0:
        word = words[at]
        if word.text in (">", *lexer.OPENING):
            opening = _matching(found, at)
            if opening is None:
                return None
            if word.text != ">" and not _continues(found, opening - 1):
                return opening
            at = opening - 1
            continue
        if word.kind != lexer.NAME:
            return None
        if _is(words, at - 2, "::"):
            before = words[at - 3] if at > 2 else None
            if before is None or not (before.kind == lexer.NAME or before.text == ">") or before.text in lexer.KEYWORDS:
                return at - 2
            at -= 3
        elif at and words[at - 1].text == ".":
            at -= 2
        elif _is(words, at - 2, "->"):
            at -= 3
        else:
            return at
    return None


def _continues(found: lexer.Text, last: int) -> bool:
    """Whether an opening bracket behind the word `last` is an index or a call: not the ( behind `return` or `if (x)`."""
    if last < 0:
        return False
    word = found.words[last]
    if word.text == ")":
        opening = _matching(found, last)
        return opening is not None and not (opening and found.words[opening - 1].text in lexer.KEYWORDS)
    return word.text in ("]", ">") or (word.kind == lexer.NAME and word.text not in lexer.KEYWORDS)


def _matching(found: lexer.Text, last: int) -> int | None:
    """The bracket that the closing one at `last` closes; > closes <, and what stands in other brackets is passed over."""
    words, angles, at = found.words, 0, last
    while at >= 0:
        word = words[at]
        start = found.opening(word.offset) if word.text in lexer.OPENING else word.offset
        if start is None or word.text in (";", *lexer.CLOSING):
            return None
        angles += (word.text == ">" and not _is(words, at - 1, "->")) - (word.text == "<")
        at = found.number(start)
        if angles == 0:
            return at
        at -= 1
    return None


def _plain(kernel: str) -> str:
    """The kernel's name without namespaces, template arguments and parentheses."""
    names = re.findall(r"[A-Za-z_]\w*", kernel.partition("<")[0])
    return names[-1] if names else kernel
