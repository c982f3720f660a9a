"""The slips of a hurried hand, undone one at a time: changes of a Python text that leave all but one thing as it is.

    edits(text) -> Edit(text, line, says), ...: likely ones first

Each says what is wrong where it is, in words that are true if the changed text is right: repairs.py finds out which one is. It is
mutation testing (mutation.py) the other way round, which is called mutation-based repair (Debroy and Wong, "Using mutation to
automatically suggest fixes for faulty programs", 2010).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.coach import moves
from course_lib.coach.python_source import LONGEST, Source, names_of

COMPARED = {"<": ("<=", ">", ">="), "<=": ("<", ">=", ">"), ">": (">=", "<", "<="), ">=": (">", "<=", "<"),
            "==": ("!=", ">=", "<="), "!=": ("==", "<", ">"), "in": ("not in",), "not in": ("in",), "is": ("is not",),
            "is not": ("is",)}  # fmt: skip
COMPUTED = {"+": ("-", "*"), "-": ("+", "*"), "*": ("+", "/", "@", "**"), "/": ("*", "//"), "//": ("/", "%", "*"),
            "%": ("//", "/"), "**": ("*", "+"), "@": ("*",), "&": ("|",), "|": ("&",)}  # fmt: skip
MUST = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "divide and leave the fraction out",
        "%": "take the remainder", "**": "raise to a power", "@": "multiply matrices", "&": "take what both have",
        "|": "take what either has"}  # fmt: skip
FRACTION = {
    ("//", "/"): "leaves the fraction out, which must be kept (`/`)",
    ("/", "//"): "keeps the fraction, which must be left out (`//`)",
}
KIN = (
    ("sum", "mean", "prod", "max", "min", "median"), ("max", "min", "len"), ("maximum", "minimum"),
    ("argmax", "argmin"), ("log", "log2", "log10", "log1p", "exp"), ("exp", "exp2", "expm1", "log"), ("sqrt", "square", "abs"),
    ("floor", "ceil", "round", "trunc", "rint"), ("std", "var"), ("cumsum", "cumprod", "sum"), ("argsort", "sort"),
    ("zeros", "ones", "empty"), ("zeros_like", "ones_like", "empty_like"), ("triu", "tril"), ("any", "all"), ("isnan", "isinf"),
    ("append", "extend"), ("keys", "values", "items"), ("find", "rfind"), ("sin", "cos"), ("logical_and", "logical_or"),
    ("float16", "float32", "float64"), ("int8", "int16", "int32", "int64"), ("pop", "popleft"), ("append", "appendleft"),
    ("hstack", "vstack"), ("ceil", "int", "round", "floor"), ("True", "False"), ("tanh", "exp"), ("mean", "sum"),
)  # fmt: skip
REDUCTIONS = {
    "sum",
    "mean",
    "max",
    "min",
    "argmax",
    "argmin",
    "cumsum",
    "std",
    "var",
    "prod",
    "argsort",
    "sort",
    "norm",
    "any",
    "all",
}
POLITE = {"list", "tuple", "int", "float", "sorted", "reversed", "abs", "round"}


@dataclass(frozen=True)
class Edit:
    """A changed text. line: where, in the text before. says: what is wrong there. rank: unlikely ones have more.

    before, after: the expression that is changed, where it is short enough to be quoted.
    """

    text: str
    line: int
    says: str
    rank: int
    before: str = ""
    after: str = ""


def edits(text: str) -> list[Edit]:
    """All changes of a text, likely ones first, no text twice; none of one that cannot be read."""
    try:
        source = Source(text)
    except SyntaxError:
        return []
    found: dict[str, Edit] = {}
    for rank, line, changes, says in (*_replacements(source), *moves.moves(source)):
        changed = text
        for start, end, instead in sorted(changes, reverse=True):
            changed = changed[:start] + instead + changed[end:]
        if changed != text:
            shown = _shown(source, *changes[0]) if len(changes) == 1 else ("", "")
            found.setdefault(changed, Edit(changed, line, says, rank, *shown))
    return sorted(found.values(), key=lambda edit: edit.rank)


def _shown(source: Source, start: int, end: int, instead: str) -> tuple[str, str]:
    """The smallest expression around a change that says something by itself, before and after; ("", "") if it is long."""
    for first, last in source.expressions():
        if first <= start and end <= last and last - first >= max(6, end - start + 1):
            before, after = source.text[first:last], source.text[first:start] + instead + source.text[end:last]
            return (before, after) if last - first <= LONGEST and "\n" not in before else ("", "")
    return "", ""


def _replacements(source: Source) -> Iterator[moves.Change]:
    alike: dict[tuple[str, str], list] = {}  # the same in several places: the one thing may be wrong in all of them
    unseen = {part for node in ast.walk(source.tree) for part in _unseen(node)}  # and what has no place of its own
    for node in ast.walk(source.tree):
        if node in unseen or not hasattr(node, "lineno"):
            continue
        for rank, start, end, instead, says in _of_node(source, node):
            yield rank, node.lineno, [(start, end, instead)], says
            if isinstance(node, ast.Constant | ast.Name | ast.Attribute | ast.BinOp | ast.Compare | ast.Call):
                alike.setdefault((source.text[start:end].strip(), instead.strip()), []).append(
                    (node, rank, start, end, instead, says)
                )
    for (old, _), same in alike.items():
        if old and 1 < len(same) < 9 and len(old) <= 12:
            lines = sorted({one[0].lineno for one in same})
            where = (
                f", and so in all lines that have it ({', '.join(map(str, lines))})"
                if len(lines) > 1
                else ", each time"
            )
            yield same[0][1] + 2, lines[0], [one[2:5] for one in same], f"{same[0][5]}{where}"


def _unseen(node: ast.AST) -> Iterator[ast.AST]:
    """What no result depends on: annotations; and the inside of an f-string, whose places Python 3.11 does not know."""
    if isinstance(node, ast.JoinedStr):
        yield from ast.walk(node)
    for field in ("annotation", "returns"):
        if annotation := getattr(node, field, None):
            yield from ast.walk(annotation)


def _of_node(source: Source, node: ast.AST) -> Iterator[tuple[int, int, int, str, str]]:
    """rank, start, end, what stands there instead, what is wrong."""
    kind = type(node)
    if kind in _READERS:
        yield from _READERS[kind](source, node)
    if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        yield from _around(source, node)


def _between(source: Source, left: ast.AST, right: ast.AST) -> tuple[int, int, str]:
    """The operator between two operands, without the brackets around them."""
    start, end = source.span(left)[1], source.span(right)[0]
    found = re.search(
        r"not\s+in|is\s+not|\bin\b|\bis\b|\*\*|//|<=|>=|==|!=|\band\b|\bor\b|[-+*/%<>@&|^]", source.text[start:end]
    )
    return (start + found.start(), start + found.end(), " ".join(found[0].split())) if found else (start, start, "")


def _comparison(source: Source, node: ast.Compare):
    for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
        start, end, sign = _between(source, left, right)
        for rank, other in enumerate(COMPARED.get(sign, ())):
            equal = {sign, other} in ({"<", "<="}, {">", ">="})
            wrong = "is wrong where the two are equal" if equal else f"must ask for `{other}`"
            yield (0 if not rank else 2), start, end, other, f"{source.quoted(node)} {wrong}"


def _computation(source: Source, node: ast.BinOp):
    start, end, sign = _between(source, node.left, node.right)
    left, right, whole = source.of(node.left), source.of(node.right), source.quoted(node)
    for other in COMPUTED.get(sign, ()):
        yield (
            (1 if {sign, other} in ({"/", "//"}, {"+", "-"}, {"*", "/"}) else 3),
            start,
            end,
            other,
            f"{whole} {FRACTION.get((sign, other), 'must ' + MUST[other])}",
        )
    if sign in ("-", "/", "//", "%", "@", "**"):
        yield 3, *source.span(node), f"({right}) {sign} ({left})", f"the two sides of {whole} are exchanged"
    if sign == "//":
        yield 3, *source.span(node), f"(-(-({left}) // ({right})))", f"{whole} must round up"
    if sign == "@":
        for side, other in (
            (node.left, f"np.swapaxes({left}, -1, -2) @ ({right})"),
            (node.right, f"({left}) @ np.swapaxes({right}, -1, -2)"),
        ):
            yield 3, *source.span(node), other, f"{source.quoted(side)} must be transposed in {whole}"
    if sign in ("+", "-", "*", "/", "//", "**", "%"):
        yield (
            (0 if right == "1" else 1 if isinstance(node.right, ast.Constant | ast.UnaryOp) else 4),
            *source.span(node),
            f"({left})",
            f"`{sign} {source.quoted(node.right)[1:]} is too much in {whole}",
        )
        if sign in ("+", "*"):
            yield (
                4,
                *source.span(node),
                f"({right})",
                f"`{source.quoted(node.left)[1:-1]} {sign}` is too much in {whole}",
            )


def _added(source: Source, node: ast.AugAssign):
    (_, start), (end, _) = source.span(node.target), source.span(node.value)
    sign = source.text[start:end].strip()
    for other in ("+=", "-=", "*=", "/=", "="):
        if other != sign:
            must = "store the value, not change what is there" if other == "=" else MUST[other[:-1]]
            yield 3, start, end, f" {other} ", f"{source.quoted(node)} must {must}"


def _stored(source: Source, node: ast.Assign):
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name | ast.Subscript):
        (_, start), (end, _) = source.span(node.targets[0]), source.span(node.value)
        for rank, other, must in ((3, "+=", "add to"), (5, "*=", "multiply"), (5, "-=", "subtract from")):
            yield rank, start, end, f" {other} ", f"{source.quoted(node)} must {must} what is there, not replace it"
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
        yield from _exchanged(source, node.targets[0].elts, "the names on the left of `=`")


def _exchanged(source: Source, nodes: list, what: str):
    for a, b in zip(nodes, nodes[1:], strict=False):
        (start, _), (_, end) = source.span(a), source.span(b)
        middle = source.text[source.span(a)[1] : source.span(b)[0]]
        yield (
            (2 if len(nodes) == 2 else 3),
            start,
            end,
            source.of(b) + middle + source.of(a),
            f"{source.quoted(a)} and {source.quoted(b)} are exchanged in {what}",
        )


def _tuple(source: Source, node: ast.Tuple):
    if isinstance(node.ctx, ast.Load):
        yield from _exchanged(source, node.elts, source.quoted(node))


def _constant(source: Source, node: ast.Constant):
    value, around = node.value, source.around(node, (ast.expr, ast.stmt))
    while isinstance(around, ast.UnaryOp | ast.Slice):
        around = source.around(around, (ast.expr, ast.stmt))
    simple = ast.expr | ast.Return | ast.Assign | ast.AugAssign
    place = f" in {source.quoted(around)}" if isinstance(around, simple) else ""
    if isinstance(value, bool):
        yield 2, *source.span(node), str(not value), f"`{value}` must be `{not value}`{place}"
    elif isinstance(value, int):
        for other in dict.fromkeys((value + 1, value - 1, *((-1, 0, 1, 2, -2) if abs(value) < 3 else ()))):
            if other != value and getattr(getattr(source.parents[node], "func", None), "id", "") != "round":
                near = abs(other - value) == 1
                shown = f"{other}" if other >= 0 else f"({other})"
                yield (0 if near else 2), *source.span(node), shown, f"the {value}{place} must be {other}"
    elif isinstance(value, float):
        for other in dict.fromkeys((0.0, 1.0, 2.0, 0.5, -1.0)):
            if other != value:
                yield 4, *source.span(node), f"({other})", f"the {source.of(node)}{place} must be {other:g}"


def _name(source: Source, node: ast.Name):
    if isinstance(node.ctx, ast.Load):
        yield from _kin(source, node, node.id, *source.span(node))
        function = source.around(node, ast.FunctionDef)
        known = names_of(function) if function else []
        around = source.around(node, (ast.expr, ast.stmt))
        for other in known[:14] if node.id in known else []:
            if other != node.id:
                place = (
                    f" in {source.quoted(around)}"
                    if isinstance(around, ast.expr | ast.Return | ast.AugAssign | ast.Assign)
                    else ""
                )
                yield 3, *source.span(node), other, f"`{node.id}`{place} must be `{other}`"


def _attribute(source: Source, node: ast.Attribute):
    end = source.span(node)[1]
    yield from _kin(source, node, node.attr, end - len(node.attr), end)
    if node.attr == "T":
        yield 2, *source.span(node), source.of(node.value), f"{source.quoted(node.value)} must not be transposed"


def _kin(source: Source, node: ast.AST, name: str, start: int, end: int):
    for other in dict.fromkeys(one for group in KIN if name in group for one in group if one != name):
        shown = source.quoted(node)
        yield (
            1,
            start,
            end,
            other,
            f"{shown} must be `{other}`" if shown == f"`{name}`" else f"`{name}` must be `{other}` in {shown}",
        )


def _negated(source: Source, node: ast.UnaryOp):
    inside = source.of(node.operand)
    if isinstance(node.op, ast.USub):
        yield 2, *source.span(node), f"({inside})", f"{source.quoted(node)} has the wrong sign"
    elif isinstance(node.op, ast.Not | ast.Invert):
        yield 2, *source.span(node), f"({inside})", f"{source.quoted(node)} is the reverse of what it must be"


def _condition(source: Source, node: ast.If | ast.IfExp | ast.While):
    start, end = source.span(node.test)
    test, shown = source.of(node.test), source.quoted(node.test)
    yield 2, start, end, f"(not ({test}))", f"the condition {shown} is the reverse of what it must be"
    if not isinstance(node, ast.While):
        yield 3, start, end, "True", f"what stands under the condition {shown} must be done without it"
        yield 3, start, end, "False", f"what stands under the condition {shown} must not be done"
    if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        place = source.span(node.orelse[0])[0]
        if source.text[place:].startswith("elif"):
            yield 3, place, place + 4, "if", f"the `elif` after {shown} must be an `if`: both may hold"


def _both(source: Source, node: ast.BoolOp):
    for left, right in zip(node.values, node.values[1:], strict=False):
        start, end, sign = _between(source, left, right)
        other = {"and": "or", "or": "and"}.get(sign)
        if other:
            yield 2, start, end, other, f"{source.quoted(node)} needs `{other}`, not `{sign}`"
    for value in node.values:
        yield (
            4,
            *source.span(node),
            f"({source.of(value)})",
            f"only {source.quoted(value)} counts in {source.quoted(node)}",
        )


def _branches(source: Source, node: ast.IfExp):
    yield from _condition(source, node)


def _call(source: Source, node: ast.Call):
    whole, name = source.quoted(node), getattr(node.func, "attr", getattr(node.func, "id", ""))
    inside = node.args[0] if node.args else getattr(node.func, "value", None)
    plain = [arg for arg in node.args if not isinstance(arg, ast.Starred)]
    for keyword in node.keywords:
        start, end = source.span(keyword)
        if keyword.arg == "strict":
            continue
        if keyword.arg == "axis":
            for axis in ("-1", "0", "1", "-2", "None"):
                if source.of(keyword.value) != axis:
                    wanted = "all axes are" if axis == "None" else f"axis {axis} is"
                    yield 0, *source.span(keyword.value), axis, f"{whole} goes along the wrong axis: {wanted} meant"
        before = source.text[:start].rstrip()
        if before.endswith(","):
            yield 2, len(before) - 1, end, "", f"`{source.of(keyword)}` must not be in {whole}"
    given = {keyword.arg for keyword in node.keywords}
    at_end = source.span(node)[1] - 1
    comma = ", " if node.args or node.keywords else ""
    if name in REDUCTIONS and "axis" not in given and len(node.args) < 2:
        keep = "" if name.startswith("arg") or name in ("cumsum", "sort") else ", keepdims=True"
        for axis in ("-1", "0"):
            yield (
                1,
                at_end,
                at_end,
                f"{comma}axis={axis}{keep}",
                f"{whole} takes all axes together: only axis {axis} is meant",
            )
    if name in REDUCTIONS and "axis" in given and "keepdims" not in given:
        yield (
            1,
            at_end,
            at_end,
            ", keepdims=True",
            f"{whole} drops the axis: it must be kept, with the size 1 (`keepdims=True`)",
        )
    if name in ("std", "var") and "ddof" not in given:
        yield 1, at_end, at_end, f"{comma}ddof=1", f"{whole} divides by n: here it is n - 1"
    if name in ("sorted", "sort") and "reverse" not in given and isinstance(node.func, ast.Name):
        yield 1, at_end, at_end, f"{comma}reverse=True", f"{whole} puts the smallest first, not the largest"
    if len(plain) == len(node.args):
        yield from _exchanged(source, node.args, whole)
    if name == "range" and node.args and len(plain) == len(node.args):
        yield from _range(source, node, whole)
    elif (
        inside is not None
        and not isinstance(inside, ast.Starred | ast.GeneratorExp)
        and (name in POLITE or len(node.args) < 3)
    ):
        yield (
            (1 if name in POLITE else 3),
            *source.span(node),
            f"({source.of(inside)})",
            f"`{name}` must not be in {whole}",
        )


def _range(source: Source, node: ast.Call, whole: str):
    arguments = [source.of(arg) for arg in node.args]
    if len(arguments) == 1:
        yield 1, *source.span(node), f"range(1, {arguments[0]})", f"{whole} begins with 0, one too early"
        yield 1, *source.span(node), f"range(1, {arguments[0]} + 1)", f"{whole} counts from 0: here one counts from 1"
    if len(arguments) == 2:
        yield (
            0,
            *source.span(node),
            f"range({arguments[1]})",
            f"{whole} leaves out the first ones: it must begin with 0",
        )
    if len(arguments) < 3:
        yield (
            1,
            *source.span(node),
            f"reversed({source.of(node)})",
            f"{whole} runs from the first to the last: it must be the other way round",
        )


def _loop(source: Source, node: ast.For | ast.comprehension):
    over, shown = source.of(node.iter), source.quoted(node.iter)
    for instead, says in ((f"reversed(list({over}))", "in the reverse order"), (f"list({over})[1:]", "without the first of them"),
                          (f"list({over})[:-1]", "without the last of them"), (f"sorted({over})", "in sorted order")):  # fmt: skip
        yield 3, *source.span(node.iter), instead, f"the loop over {shown} must go over it {says}"
    if isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") == "reversed":
        yield (
            1,
            *source.span(node.iter),
            f"({source.of(node.iter.args[0])})",
            f"the loop over {shown} goes in the wrong direction",
        )


def _subscript(source: Source, node: ast.Subscript):
    if isinstance(node.ctx, ast.Load):
        yield (
            4,
            *source.span(node),
            source.of(node.value),
            f"{source.quoted(node)} must be all of {source.quoted(node.value)}",
        )


def _slice(source: Source, node: ast.Slice):
    whole = source.quoted(source.around(node, ast.Subscript))
    for bound in (node.lower, node.upper):
        if bound is not None:
            end = "begins" if bound is node.lower else "ends"
            yield 3, *source.span(bound), "", f"{whole} {end} in the wrong place: there must be no bound"
    if node.step is not None and source.of(node.step) == "-1":
        yield 2, *source.span(node.step), "1", f"{whole} reverses the order, which must stay"


def _comprehension(source: Source, node: ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp):
    for one in node.generators:
        for _, start, end, instead, says in _loop(source, one):
            yield 4, start, end, instead, says
        for test in one.ifs:
            yield 3, *source.span(test), "True", f"the condition {source.quoted(test)} must not be there"
            yield (
                2,
                *source.span(test),
                f"(not ({source.of(test)}))",
                f"the condition {source.quoted(test)} is the reverse of what it must be",
            )


def _left_out(source: Source, node: ast.stmt):
    if isinstance(node, ast.Break | ast.Continue):
        word = source.of(node)
        yield 3, *source.span(node), "pass", f"the `{word}` must not be there"
        yield (
            3,
            *source.span(node),
            {"break": "continue", "continue": "break"}[word],
            f"the `{word}` does not do what is meant: the loop must {'go on' if word == 'break' else 'end'}",
        )


def _around(source: Source, node: ast.expr) -> Iterator[tuple[int, int, int, str, str]]:
    """One more thing done to a value: one more or less, another sign, a root, an absolute value."""
    parent = source.parents.get(node)
    if isinstance(node, ast.Constant | ast.JoinedStr | ast.Starred | ast.Lambda | ast.GeneratorExp | ast.Slice):
        return
    if (isinstance(parent, ast.Call) and node is parent.func) or isinstance(
        parent, ast.Attribute | ast.keyword | ast.JoinedStr
    ):
        return
    start, end = source.span(node)
    if start and source.text[start - 1 : start] == "(" and isinstance(node, ast.GeneratorExp):
        return
    text, shown = source.of(node), source.quoted(node)
    bound = isinstance(parent, ast.Slice | ast.Subscript | ast.Compare) or (
        isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "range"
    )
    if isinstance(parent, ast.Subscript) and node is parent.value:
        bound = False
    yield (0 if bound else 4), start, end, f"({text} + 1)", f"{shown} is one too small"
    yield (0 if bound else 4), start, end, f"({text} - 1)", f"{shown} is one too large"
    if bound and isinstance(parent, ast.Slice | ast.Subscript):
        return
    tall = isinstance(parent, ast.Return | ast.Assign | ast.AugAssign | ast.Tuple | ast.BinOp)
    rank = 4 if tall else 6
    for instead, says in (
        (f"(-({text}))", "has the wrong sign"), (f"abs({text})", "lacks the absolute value"),
        (f"np.sqrt({text})", "lacks the square root"), (f"(({text}) ** 2)", "must be squared"), (f"np.exp({text})", "lacks the exp"),
        (f"np.log({text})", "lacks the log"), (f"(1 - ({text}))", "must be subtracted from 1"),
        (f"(1 / ({text}))", "must be its reciprocal"), (f"int({text})", "must be made a whole number"),
        (f"(2 * ({text}))", "must be doubled"), (f"(({text}) / 2)", "must be halved"), (f"math.ceil({text})", "must be rounded up"),
        (f"({text}).sum()", "must be added up to one number"), (f"({text}).mean()", "must be averaged"),
        (f"list({text})", "must be made a list"), (f"({text}).copy()", "must be a copy"), (f"({text})[::-1]", "stands in the reverse order"),
        (f"({text}).T", "must be transposed"), (f"sorted({text})", "must be sorted"), (f"[{text}]", "must be a list of its own"),
        (f"max({text}, 0)", "must not fall below 0"), (f"max({text}, 1)", "must not fall below 1"), (f"np.asarray({text})", "must be an array"),
    ):  # fmt: skip
        yield rank, start, end, instead, f"{shown} {says}"


_READERS = {
    ast.Compare: _comparison, ast.BinOp: _computation, ast.AugAssign: _added, ast.Assign: _stored, ast.Tuple: _tuple,
    ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.UnaryOp: _negated, ast.If: _condition,
    ast.While: _condition, ast.IfExp: _branches, ast.BoolOp: _both, ast.Call: _call, ast.For: _loop, ast.Subscript: _subscript,
    ast.Slice: _slice, ast.ListComp: _comprehension, ast.GeneratorExp: _comprehension, ast.DictComp: _comprehension,
    ast.SetComp: _comprehension, ast.Break: _left_out, ast.Continue: _left_out,
}  # fmt: skip
