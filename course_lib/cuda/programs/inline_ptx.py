"""Inline PTX of a program as C++: `asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));` becomes a block of C++ statements.

Works on the preprocessed text, as launches.py does; the C++ has as many lines as the statement had. An operand is a register: its
constraint says how wide it is, and each instruction's type says how its bits are read (PTX ISA 8.5, chapters 6, 9 and 10).
ptx_instructions.py knows what each instruction does; one that it does not know stops the kernel when it is
reached, with its name. A statement in which nothing looks like PTX is the host's, and stays as it is.

Limits: no branches and labels, no carries (add.cc), no .param; .ftz is ignored.
"""

import re

from course_lib import lexer
from course_lib.cuda.programs import ptx_instructions as instructions

_WORDS = ("asm", "__asm__", "__asm")
_LOOKS = re.compile(r"[a-z]\w*(?:\.[\w:]+)+$|(?:trap|exit|ret|membar|activemask)$")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"'}


def rewrite(text: str) -> str:
    """The text with its inline PTX as C++."""
    found = lexer.read(text)
    words = found.words
    pieces, done = [], 0
    for number, word in enumerate(words):
        if word.text not in _WORDS or word.offset < done:
            continue
        at = number + 1
        while at < len(words) and words[at].text in ("volatile", "__volatile__", "volatile__"):
            at += 1
        if at >= len(words) or words[at].text != "(" or (end := found.closing(words[at].offset)) is None:
            continue
        translated = _statement(found, words[at].offset + 1, end)
        if translated is None:
            continue
        lines = "\n" * text.count("\n", word.offset, end)
        pieces += [text[done : word.offset], translated, lines]
        done = end + 1
    return "".join([*pieces, text[done:]])


def _statement(found: lexer.Text, start: int, end: int) -> str | None:
    """C++ for what stands in the parentheses of an asm statement."""
    template, *sections = found.split(start, end, separator=":")
    operands = [_operands(found, *section) for section in sections[:2]] + [[], []]
    body = _without_scopes(lexer.read(_strings(found, *template))).replace("%%", "%")
    parts = [part.strip() for part in body.split(";") if part.strip()]
    names = [instructions.split_predicate(part)[1].partition(" ")[0] for part in parts]
    if not all(_LOOKS.match(name) or name in instructions.KNOWN for name in names):
        return None
    registers: dict[str, str] = {}
    before, after = [], []
    for number, (constraint, expression) in enumerate(operands[0] + operands[1]):
        kind, name = constraint.strip("=+&"), f"sim_r{number}"
        registers[f"%{number}"] = kind
        output, constant = number < len(operands[0]), kind == "n"
        if output:
            before.append(f"auto&& sim_o{number} = {expression};")
            after.append(f"sim_ptx::put(sim_o{number}, {name});")
            expression = f"sim_o{number}" if "+" in constraint else "0"
        kept = "const auto" if constant else f"sim_ptx::register_{kind}"
        before.append(
            f"{kept} {name} = {expression if constant else f'sim_ptx::take<sim_ptx::register_{kind}>({expression})'};"
        )
    code = instructions.translate(parts, registers)
    return "do { " + " ".join([*before, *code, *after]) + " } while (0)"


def _without_scopes(template: lexer.Text) -> str:
    """The template without comments and the braces of its scopes: those that stand where an instruction could begin."""
    kept = list(template.without_comments)
    for before, word in zip((None, *template.words), template.words, strict=False):
        if word.text == "{" and (before is None or before.text in ("{", "}", ";")):
            kept[word.offset] = " "
        elif word.text == "}" and ((start := template.opening(word.offset)) is None or kept[start] == " "):
            kept[word.offset] = ";"
    return "".join(kept)


def _operands(found: lexer.Text, start: int, end: int) -> list[tuple[str, str]]:
    """(constraint, expression) of each operand of a section."""
    operands = []
    for first, last in found.split(start, end):
        if (opening := found.code.find("(", first, last)) >= 0:
            operands.append((_strings(found, first, opening), found.text[opening:last].replace("\n", " ").strip()))
    return operands


def _strings(found: lexer.Text, start: int, end: int) -> str:
    return "".join(_unquoted(word.text) for word in found.between(start, end) if word.kind == lexer.STRING)


def _unquoted(literal: str) -> str:
    if literal.startswith('R"'):
        return literal[literal.index("(") + 1 : literal.rindex(")")]
    inside = literal[literal.index('"') + 1 : -1]
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), inside)
