"""What can be read off the text of a learner's CUDA kernel: other parameters than the task's, slips of the pen, double literals.

Arguments are matched by position: another name, a `const` left out or `__restrict__` are no mistake.

A literal such as 0.5 is a double in C++, and an operation on it and a float is computed in double precision. A multiprocessor
does from half as many of those each clock (sm_80, sm_90) down to one in 64 (sm_86, sm_89): NVIDIA, CUDA C++ Programming Guide,
table of arithmetic throughput.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from course_lib import lexer, paths
from course_lib.coach import catalogue
from course_lib.coach.exercise import Exercise
from course_lib.cuda import source

_WHOLE = {"int", "unsigned", "unsigned int", "long", "long long", "unsigned long long", "size_t", "int64_t", "uint32_t"}
_REAL = {"float", "double"}
_ARRAYS = {"float *", "double *", "int *", "bool *"}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
_DOUBLE = re.compile(r"(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")


def other_parameters(exercise: Exercise, text: str) -> str:
    """A sentence if the kernel in `text` has other parameters than the task's, or the same in another order; else nothing."""
    ours, yours = (_kernel(given, exercise.defines) for given in (task(exercise), text))
    if ours is None or yours is None:
        return ""
    shown = f"The task's are {_listed(ours.parameters)}, yours are {_listed(yours.parameters)}."
    if len(ours.parameters) != len(yours.parameters):
        counts = f"Your kernel has {len(yours.parameters)} parameters; the task's has {len(ours.parameters)}"
        return f"{counts}. {shown}"
    our_names, your_names = ([name for _, name in kernel.parameters] for kernel in (ours, yours))
    moved = [(a, b) for a, b in zip(our_names, your_names, strict=True) if a != b]
    if moved and sorted(our_names) == sorted(your_names):
        return (
            f"The parameters of your kernel are in another order than in the task, and arguments are passed by position: your "
            f"`{moved[0][1]}` gets the argument of `{moved[0][0]}`. {shown}"
        )
    for (our_kind, our_name), (your_kind, your_name) in zip(ours.parameters, yours.parameters, strict=True):
        kinds = {_kind(our_kind), _kind(your_kind)}
        if len(kinds) == 2 and "" not in kinds:
            return (
                f"The parameter `{your_name}` of your kernel is of another type than the task's `{our_name}`. {shown}"
            )
        if _is_read_only(your_kind) and not _is_read_only(our_kind) and "*" in our_kind:
            said = f"Your kernel declares `{your_name}` const, so it can only read it. In the task `{our_name}` is written."
            return f"{said} {shown}"
    return ""


def task(exercise: Exercise) -> str:
    """The text that the learner begins with."""
    return catalogue.piece(exercise.name).blank


def read_only(exercise: Exercise) -> dict[str, dict[int, str]]:
    """For each kernel of the task: the places of its parameters that lead to what it may only read, with their names."""
    text = source.Source(f"{task(exercise)}\n{exercise.given}", "kernel.cu")
    return {
        kernel: {i: name for i, (kind, name) in enumerate(declared.parameters) if _is_read_only(kind)}
        for kernel, declared in source.kernels(text).items()
    }


def overwritten(names: Sequence[str]) -> str:
    """A sentence about arrays that the task declares const, and a launch changed."""
    listed = " and ".join(f"`{name}`" for name in names)
    it = "it" if len(names) == 1 else "them"
    return f"Your kernel changes {listed}. The task declares {it} const: what comes after your kernel still needs {it}."


def includes_ours(exercise: Exercise, text: str) -> str:
    """A sentence if a text includes a file of the course that the task does not."""
    given = set(_INCLUDE.findall(f"{task(exercise)}\n{exercise.given}"))
    for found in _INCLUDE.finditer(text):
        if found[1] not in given and (paths.KERNELS / found[1]).exists():
            line = text.count("\n", 0, found.start()) + 1
            return (
                f"The results are right, but line {line} includes {found[1]} of the course, which the task does not. The task is "
                "to write the whole of it."
            )
    return ""


def slip(text: str) -> str:
    """One sentence about what C++ takes for something else than a Python programmer means by it; "" if there is nothing.

    It explains a kernel that is wrong; in a right one it may be meant.
    """
    read = lexer.read(text)
    words = read.words
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        end = read.closing(word.offset)
        if word.text == "[" and end and (before.kind == lexer.NAME or before.text in "])"):
            spans = read.split(word.end, end)
            if len(spans) > 1:
                last = text[slice(*spans[-1])].strip()
                return (
                    f"Line {word.line}: `{before.text}{text[word.offset : end + 1]}` is `{before.text}[{last}]` in C++: a comma "
                    f"keeps only what stands behind it. Row i and column j of a matrix with N columns is the element i * N + j."
                )
        if word.text == "(" and before.text in ("if", "while") and end and (name := _assigned(words, word.offset, end)):
            return (
                f"Line {word.line}: `{before.text} {text[word.offset : end + 1]}` sets `{name}`, because one `=` assigns. "
                "To compare, write `==`."
            )
        divided = before.text.isdecimal() and word.text == "/" and after.text.isdecimal() and int(after.text)
        if divided and int(before.text) < int(after.text) and before.text != "0":
            return (
                f"Line {word.line}: `{before.text} / {after.text}` is 0: a whole number divided by a whole number is whole. "
                f"Write `{before.text}.0f / {after.text}`."
            )
    return ""


def _assigned(words: tuple[lexer.Token, ...], start: int, end: int) -> str:
    """The name that a condition assigns to; "" if it only compares, or declares."""
    inside = [word for word in words if start < word.offset < end]
    if any(word.text == ";" for word in inside):
        return ""
    for two_before, before, word, after in zip([None, *inside], inside, inside[1:], inside[2:], strict=False):
        if word.text == "=" and before.kind == lexer.NAME and after.text != "=":
            declares = two_before is not None and (two_before.kind == lexer.NAME or two_before.text in "*&")
            return "" if declares and two_before.text not in ("return",) else before.text
    return ""


def double_literal(text: str) -> str:
    """One sentence about the first constant of 64 bits in a text of CUDA C++ that names no double itself; "" if there is none."""
    words = lexer.read(text).words
    found = next((word for word in words if word.kind == lexer.NUMBER and _DOUBLE.fullmatch(word.text)), None)
    if found is None or any(word.text == "double" for word in words):
        return ""
    number = found.text if set(".eE") & set(found.text) else f"{found.text}."
    return (
        f"Line {found.line}: `{found.text}` is a double. An operation on it and a float is computed in double "
        f"precision: that takes 2 to 64 times as long on a GPU. Write `{number}f`."
    )


def calls_into(text: str, header: str, line: int) -> list[int]:
    """The lines of a kernel's text that call, directly or through others of our headers, the function around a header's line."""
    functions = [
        (path.name, name, lines, calls)
        for path in sorted(source.KERNELS.rglob("*.cuh"))
        for name, lines, calls in _functions(path.read_text(encoding="utf-8"))
    ]
    reach = {name for file, name, lines, _ in functions if file == header and line in lines}
    while more := {name for _, name, _, calls in functions if calls & reach} - reach:
        reach |= more
    return sorted({word.line for word in lexer.read(text).words if word.text in reach})


def _functions(text: str) -> list[tuple[str, range, set[str]]]:
    """Of each function of a header its name, its lines, and the names in its body."""
    read = lexer.read(text)
    return [
        (one.name, range(read.line(one.start), read.line(one.body[1]) + 1),
         {word.text for word in read.words if one.body[0] < word.offset < one.body[1]})
        for one in read.functions
    ]  # fmt: skip


def _kernel(text: str, name: str) -> source.Declaration | None:
    return source.kernels(source.Source(text, "kernel.cu")).get(name)


def _listed(parameters: tuple[tuple[str, str], ...]) -> str:
    return "`(" + ", ".join(f"{kind.replace(' *', '*')} {name}" for kind, name in parameters) + ")`"


def _kind(kind: str) -> str:
    """A type without `const` and `__restrict__`; a number by itself is whole or real. "" for one that may have other names."""
    plain = " ".join(re.sub(r"\bconst\b|\b__restrict__\b", " ", kind).split())
    return "whole" if plain in _WHOLE else "real" if plain in _REAL else plain if plain in _ARRAYS else ""


def _is_read_only(kind: str) -> bool:
    """Whether what a pointer leads to is const."""
    return "*" in kind and "const" in kind.partition("*")[0].split()
