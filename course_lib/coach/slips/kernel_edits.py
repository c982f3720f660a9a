"""The slips of a hurried hand in a kernel, undone one at a time: as edits.py has them of a Python text.

    edits(text, own) -> Edit(line, start, end, instead, before, after), ...: likely ones first
    switched(text, edits) -> one text that is edit k of them where `__constant__ int SWITCH` is k, and the answer itself at 0

To compile a text for each edit would take minutes. So all of them are one text, with `(SWITCH == k ? changed : as it is)` in each
place, which is compiled once; mutation testing calls this a mutant schema (Untch, Offutt and Harrold, "Mutation analysis using
mutant schemata", 1993). Only expressions are changed, one at a time: another variable of the same type, a constant, one more or
less, a comparison, a sign, a factor left out. What stands in declarations of arrays, in template arguments and in macros is left
alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib import lexer
from course_lib.coach.slips import kernel_twins
from course_lib.coach.slips.kernel_scopes import Variable, counts, declares, functions, inserted, variables

SWITCH = "course_switch"
MOST = 320  # edits of a text
MOST_NEAR, MOST_NAMES, MOST_FACTORS = (
    2,
    3,
    4,
)  # other variables that are tried for one, the nearest and the last; factors
SHOWN = 48  # letters of an expression that is quoted
_TEMPLATE = re.compile(r"\b[A-Za-z_]\w*<[^<>;()]*(?:<[^<>;()]*>)?[^<>;()]*>")
_FIXED = re.compile(
    r"(?:^|(?<=[;{}\n]))\s*(?:__shared__|extern|constexpr|static|static_assert|typedef|using|case|asm|template)\b[^;{]*"
)
_ARRAY = re.compile(r"(?:^|(?<=[;{}\n]))\s*(?:const\s+)?[A-Za-z_][\w:]*(?:<[^<>;]*>)?\s+[A-Za-z_]\w*\s*\[[^;=]*")
_BETWEEN = re.compile(r"&&|\|\||<<|>>|[<>=!]=|[-+*/%&|^]=|[-+*/%<>=?:,;&|^!]")
_INDEX = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_OTHER = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}


@dataclass(frozen=True)
class Edit:
    """text[start:end] becomes `instead`. before, after: the expression around it, to be quoted. rank: unlikely ones have more."""

    line: int
    start: int
    end: int
    instead: str
    before: str
    after: str
    rank: int


def edits(text: str, own: set[int]) -> list[Edit]:
    """All changes of the lines `own`, numbered from 1, likely ones first."""
    read = lexer.read(text)
    found: dict[tuple[int, int, str], int] = {}
    for rank, start, end, instead in _changes(read):
        if read.line(start) in own and text[start:end] != instead:
            found.setdefault((start, end, instead), rank)
    return [
        Edit(read.line(change[0]), *change, *_quoted(read, *change), rank)
        for change, rank in sorted(found.items(), key=lambda one: one[1])[:MOST]
    ]


def applied(text: str, edit: Edit) -> str:
    """The text with this edit alone."""
    return text[: edit.start] + edit.instead + text[edit.end :]


def switched(text: str, tried: list[Edit]) -> str:
    """The text with all edits, number k of which, from 1, is in force where SWITCH is k."""
    places: dict[tuple[int, int], list[str]] = {}
    for number, edit in enumerate(tried, 1):
        places.setdefault((edit.start, edit.end), []).append(f"{SWITCH} == {number} ? {edit.instead} : ")
    opens: dict[int, str] = {}
    closes: dict[int, str] = {}
    for (start, end), changes in sorted(places.items(), key=lambda place: place[0][1] - place[0][0]):
        opens[start] = f"({''.join(changes)}(" + opens.get(start, "")  # outer ones come later, and stand before
        closes[end] = closes.get(end, "") + "))"
    return f"__constant__ int {SWITCH};\n" + inserted(text, opens, closes)


def _changes(read: lexer.Text) -> Iterator[tuple[int, int, int, str]]:
    """rank, start, end, what stands there instead."""
    code = read.code
    fixed = [match.span() for match in (*_TEMPLATE.finditer(code), *_FIXED.finditer(code), *_ARRAY.finditer(code))]
    known = variables(read)
    sized = {name for start, end in fixed for name in re.findall(r"[A-Za-z_]\w*", code[start:end])}
    yield from kernel_twins.of_indices(read)
    yield from kernel_twins.of_components(read)
    yield from kernel_twins.of_reversed(read)
    yield from kernel_twins.of_transposed(read)
    yield from kernel_twins.of_divisors(read)
    factors = {function.body: _factors(read, function) for function in functions(read)}
    bodies = list(factors)
    for token in read.words:
        body = next((body for body in bodies if body[0] < token.offset < body[1]), None)
        if body is None:
            continue
        if any(first <= token.offset < last for first, last in fixed):
            continue
        before, after = code[: token.offset].rstrip(), code[token.end :].lstrip()
        if token.kind == lexer.NUMBER and not before.endswith(".") and not _sizes(code, token.offset, sized):
            yield from _of_number(token)
        elif token.kind == lexer.NAME and not before.endswith((".", "->", "::")) and not after.startswith(("(", "::")):
            yield from _of_name(read, token, known, sized, factors[body])
        elif token.text in "<>=!" and (sign := _BETWEEN.match(code, token.offset)) and sign[0] in _OTHER:
            yield from _of_comparison(read, token.offset, sign[0])
        elif token.text in "+-*/" and _is_binary(code, token, before):
            yield from _of_operator(read, token, before)


def _factors(read: lexer.Text, function: lexer.Function) -> list[str]:
    """The whole numbers that a function is a template of."""
    before = read.code[: function.start]
    given = re.search(r"\btemplate\s*<([^<>]*)>[^;{}]*$", before[max(before.rfind(sign) for sign in ";{}") + 1 :])
    return re.findall(r"\bint\s+([A-Z]\w*)\b", given[1])[:MOST_FACTORS] if given else []


def _is_binary(code: str, token: lexer.Token, before: str) -> bool:
    """Whether a sign stands between two operands: it is no sign of a number, and no star of a declared pointer."""
    if code[token.end : token.end + 1] in "=+-*/" or before[-1:] in "+-*/(,=<>[{&|?:;":
        return False
    begun = re.split(r"[;{}(,]", before)[-1]
    return not (token.text == "*" and re.fullmatch(r"\s*(?:const\s+)?[\w:<>\s]+", begun) and "return" not in begun)


def _sizes(code: str, offset: int, sized: set[str]) -> bool:
    """Whether a place initialises a constant that a length or a template argument is made of."""
    begin = max(code.rfind(sign, 0, offset) for sign in ";{}")
    found = re.match(r"[;{}]\s*const\s", code[begin:offset] + " ")
    return bool(found) and any(name in sized for name in re.findall(r"([A-Za-z_]\w*)\s*=", code[begin:offset]))


def _of_number(token: lexer.Token) -> Iterator[tuple[int, int, int, str]]:
    if re.fullmatch(r"\d+[uU]?", token.text):
        value, suffix = int(token.text.rstrip("uU")), token.text[len(token.text.rstrip("uU")) :]
        for rank, other in ((0, value + 1), (0, value - 1), (1, 2 * value), (1, value // 2)):
            if other >= 0:
                yield rank, token.offset, token.end, f"{other}{suffix}"
    elif re.fullmatch(r"[\d.]+[fF]", token.text):
        for rank, words in ((2, f"2.0f * {token.text}"), (2, f"0.5f * {token.text}"), (2, f"-{token.text}")):
            yield rank, token.offset, token.end, f"({words})"


def _of_name(
    read: lexer.Text, token: lexer.Token, declared: list[Variable], sized: set[str], factors: list[str]
) -> Iterator[tuple[int, int, int, str]]:
    code, (start, end) = read.code, (token.offset, token.end)
    if token.text in _INDEX:
        if axis := re.compile(r"\.([xyz])\b").match(code, end):
            for other in "xy":
                if re.search(rf"\b(?:threadIdx|blockIdx)\.{other}\b", code):  # else it is 0, and nobody means it
                    yield 1, start, axis.end(), f"{token.text}.{other}"
            yield 2, start, axis.end(), "0"
            for other in _INDEX[: 2 if token.text in _INDEX[:2] else 0]:
                yield 2, start, axis.end(), f"{other}{axis[0]}"
        return
    if token.text in factors and not _sizes(code, start, sized):
        for words in (f"({token.text} / 2)", f"(2 * {token.text})", f"({token.text} - 1)", f"({token.text} + 1)"):
            yield 1, start, end, words
    known = [v for v in declared if v.start < start < v.end]
    of_it = [v for v in known if v.name == token.text]
    if not of_it or any(v.start <= start < v.start + 1 for v in of_it):
        return
    after = code[end:].lstrip()
    is_set = re.match(r"(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--", after) or code[:start].rstrip().endswith(
        ("++", "--", "&")
    )
    if is_set or _sizes(code, start, sized):
        return
    kind = of_it[-1].kind
    if read.enclosing(start, "(") and counts(code, read.enclosing(start, "(")[-1]) == token.text:
        others = []  # the counter of the loop whose head this is
    else:
        others = [v for v in known if v.kind == kind and v.name != token.text and not declares(code, v, start)]
    at = known.index(of_it[-1])
    nearest = sorted(others, key=lambda v: abs(known.index(v) - at))[
        :MOST_NEAR
    ]  # as T, beside S in a list of parameters
    for variable in dict.fromkeys([*nearest, *others[::-1][:MOST_NAMES]]):
        yield 0, start, end, variable.name
    if kind in ("int", "unsigned", "long long", "size_t", "unsigned long long"):
        for words in (f"({token.text} + 1)", f"({token.text} - 1)"):
            yield 1, start, end, words
        sizes = [v.name for v in known if v.kind == "int" and v.name.isupper()][:MOST_FACTORS]  # as C in x[t * C]
        for factor in dict.fromkeys([*factors, *sizes]) if read.enclosing(start, "[") else ():
            if factor != token.text:
                yield 1, start, end, f"{token.text} * {factor}"
        alone = re.search(r"\w\[\s*$", code[:start]) and code[end:].lstrip().startswith("]")  # as j in bias[j]
        for variable in nearest if alone else ():
            yield 2, start, end, f"{variable.name} + {token.text}"
    element = re.compile(r"(?:\s*\[)").match(code, end)
    while element and (closed := read.closing(element.end() - 1)) is not None:
        end = closed + 1
        element = re.compile(r"(?:\s*\[)").match(code, end)
    if kind in ("float", "float*", "const float*") and kind.endswith("*") == (end > token.end):
        whole = read.text[start:end]
        if re.match(r"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)", code[end:]):
            return
        for words in (f"(1.0f - {whole})", f"(-{whole})", f"({whole} * {whole})"):
            yield 3, start, end, words


def _of_comparison(read: lexer.Text, offset: int, sign: str) -> Iterator[tuple[int, int, int, str]]:
    left, right = _side(read, offset, -1), _side(read, offset + len(sign), 1)
    sides = read.text[left:offset].rstrip(), read.text[offset + len(sign) : right].strip()
    if all(sides):
        for rank, other in enumerate(_OTHER[sign]):
            yield rank, left, right, f"{sides[0]} {other} {sides[1]}"


def _of_operator(read: lexer.Text, token: lexer.Token, before: str) -> Iterator[tuple[int, int, int, str]]:
    end = _side(read, token.end, 1, terms=token.text in "+-")
    begin = token.end + len(read.code[token.end : end]) - len(read.code[token.end : end].lstrip())
    term = read.text[begin:end].rstrip()
    end = begin + len(term)
    if not term or not before:
        return
    if token.text in "+-":
        yield 2, begin, end, f"(-({term}))"
        yield 3, begin, end, "0"
        if token.text == "+":
            yield from kernel_twins.of_twins(read, _side(read, token.offset, -1, terms=True), token.offset, begin, end)
    else:
        factor = re.compile(r"[\w.]+(?:\s*(?:\[[^\[\]]*\]|\([^()]*\)))*").match(read.text, begin)
        if factor and factor.end() <= end:
            yield 2, begin, factor.end(), "1"
            yield from _of_brackets(read, token, factor)


def _of_brackets(read: lexer.Text, token: lexer.Token, factor: re.Match) -> Iterator[tuple[int, int, int, str]]:
    """(a + b) / c, where a / c + b or a + b / c is meant."""
    opened = {end: start for start, end in read.brackets.items()}.get(len(read.code[: token.offset].rstrip()) - 1)
    if opened is None or read.code[opened] != "(" or re.search(r"[\w>\])]\s*$", read.code[:opened]):
        return
    inside = read.closing(opened)
    for sign in re.finditer(r"(?<= )[+-](?= )", read.code[opened:inside]):
        at = opened + sign.start()
        if read.enclosing(at, "(")[-1] == opened:
            left, right = read.text[opened + 1 : at].strip(), read.text[at + 1 : inside].strip()
            by = f"{token.text} {factor[0]}"
            yield 2, opened, factor.end(), f"({left} {by} {sign[0]} {right})"
            yield 2, opened, factor.end(), f"({left} {sign[0]} {right} {by})"


def _side(read: lexer.Text, offset: int, step: int, terms: bool = False) -> int:
    """Where an operand ends that begins at an offset, to the right or to the left: at a bracket that is not its own, or at an
    operator that binds less. terms: so that a sign ends it too."""
    code = read.code
    closers = {end: start for start, end in read.brackets.items() if end is not None}
    stops = ",;?:=<>&|!{}" + ("+-%^" if terms else "")
    at = offset if step > 0 else offset - 1
    while 0 <= at < len(code):
        sign = code[at]
        if sign in "([" and step > 0:
            at = read.closing(at) or len(code)
        elif sign in ")]" and step < 0:
            at = closers.get(at, -1)
        elif sign in "+-" and re.search(r"[\d.][eE]$", code[:at]):
            pass  # of an exponent, 1e-6f
        elif sign in "()[]" or sign in stops:
            if (sign == ">" and code[at - 1] == "-") or (sign == "-" and code[at + 1 : at + 2] == ">"):
                at += step  # a member through a pointer
                continue
            break
        at += step
    if step > 0:
        return at
    begin = at + 1
    if word := re.match(r"\s*return\b", code[begin:offset]):
        begin += word.end()
    return begin + len(code[begin:offset]) - len(code[begin:offset].lstrip())


def _quoted(read: lexer.Text, start: int, end: int, instead: str) -> tuple[str, str]:
    """The expression around a change, before and after it; the change alone if that is long."""
    text, code = read.text, read.code
    first, last = _side(read, start, -1), _side(read, end, 1)
    if text[first - 1 : first] == "[":  # an index is quoted with its array
        name = re.search(r"[\w.]+$", text[: first - 1])
        first, last = (name.start() if name else first), last + 1
    if re.fullmatch(r"[\w.]+", text[first:last].strip()):  # a name alone, with what it is compared with, or set to
        wider = (
            max(code.rfind(sign, 0, first) for sign in ",;(){}"),
            min((at for sign in ",;(){}" if (at := code.find(sign, last)) >= 0), default=len(code)),
        )
        if wider[1] - wider[0] - 1 <= SHOWN:
            first, last = wider[0] + 1, wider[1]
    before, after = text[first:last].strip(), (text[first:start] + instead + text[end:last]).strip()
    if len(before) > SHOWN or "\n" in before or len(before) < end - start:
        before, after = text[start:end], instead
    return before, after
