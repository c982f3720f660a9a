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
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
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
        inside = [token for token in found.tokens if words[at].offset < token.offset < end]
        translated = _statement(text, inside, end)
        if translated is None:
            continue
        lines = "\n" * text.count("\n", word.offset, end)
        pieces += [text[done : word.offset], translated, lines]
        done = end + 1
    return "".join([*pieces, text[done:]])


def _statement(text: str, tokens: list[lexer.Token], end: int) -> str | None:
    """C++ for what stands in the parentheses of an asm statement."""
    sections: list[list[lexer.Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == lexer.PUNCTUATION:
            depth += (token.text in "([{") - (token.text in ")]}")
        if token.text == ":" and depth == 0:
            sections.append([])
        else:
            sections[-1].append(token)
    template = "".join(_unquoted(token.text) for token in sections[0] if token.kind == lexer.STRING)
    operands = [_operands(text, section) for section in sections[1:3]] + [[], []]
    body = _COMMENT.sub(" ", template).replace("%%", "%")
    parts = [part.strip() for part in _without_scopes(body).split(";") if part.strip()]
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


def _without_scopes(body: str) -> str:
    """The template without the braces of its scopes: those that stand where an instruction could begin."""
    kept, depth, begins = [], 0, True
    for sign in body:
        if sign == "{" and begins:
            continue
        if sign == "}" and depth == 0:
            begins = True
            kept.append(";")
            continue
        depth += (sign in "{[") - (sign in "}]")
        begins = sign == ";" or (begins and sign.isspace())
        kept.append(sign)
    return "".join(kept)


def _operands(text: str, section: list[lexer.Token]) -> list[tuple[str, str]]:
    """(constraint, expression) of each operand of a section."""
    found, depth, constraint, first = [], 0, "", 0
    for token in section:
        if token.kind == lexer.STRING and depth == 0:
            constraint = _unquoted(token.text)
        if token.kind != lexer.PUNCTUATION:
            continue
        if token.text in "([{":
            depth += 1
            first = token.offset if depth == 1 else first
        elif token.text in ")]}":
            depth -= 1
            if depth == 0:
                found.append((constraint, " ".join(text[first : token.end].split("\n"))))
    return found


def _unquoted(literal: str) -> str:
    if literal.startswith('R"'):
        return literal[literal.index("(") + 1 : literal.rindex(")")]
    inside = literal[literal.index('"') + 1 : -1]
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), inside)
