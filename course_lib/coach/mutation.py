"""Mutants: a solution with one small fault, as somebody in a hurry would write it. `course verify --mutants` has each judged.

    mutants(exercise, piece) -> Mutant(kind, line, text), ...

Only the learner's part is changed: the lines of a solution that its blank does not have. The method is mutation testing (DeMillo,
Lipton and Sayward, "Hints on test data selection", 1978): cases that let a mutant pass would let a learner's mistake pass.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib import lexer
from course_lib.coach.exercise import Exercise
from course_lib.coach.python_source import Source
from course_lib.coach.regions import Piece

SWAPPED = {
    "<=": "<", "<": "<=", ">=": ">", ">": ">=", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "*=": "+=", "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", "^": "|",
    "and": "or", "or": "and", "//": "/", "**": "*", "@": "*",
}  # fmt: skip
OTHERS = {  # a name -> the one that is taken for it
    "fmaxf": "fminf", "fminf": "fmaxf", "max": "min", "min": "max", "maximum": "minimum", "argmax": "argmin", "sum": "mean",
    "mean": "sum", "double": "float", "float64": "float32", "int64": "int32", "expf": "exp2f", "True": "False",
    "False": "True", "break": "continue", "__shfl_xor_sync": "__shfl_down_sync", "cumsum": "sum",
}  # fmt: skip
TEMPLATE = re.compile(r"\b(?:class|typename) T\b")  # where T is a type; elsewhere it is a length
STARTS = {"-INFINITY": "0.0f", "-np.inf": "0.0", "-math.inf": "0.0", 'float("-inf")': "0.0", "-3.4028234e38": "0.0"}
BARRIER = re.compile(r"\b(?:__syncthreads|__syncwarp|__pipeline_wait_prior|workgroupBarrier|storageBarrier)\([^;]*\);")
STATEMENT = re.compile(r"^[ \t]*((?:[\w.\[\]*+ ()/%-]+?) [-+*/]?= [^;{}]*;)[ \t]*$", re.M)
BINARY = re.compile(r"(?<= )(?:<<|>>|[-+*]=|[<>=!]=|&&|\|\||[-+*/%<>&|^])(?= )")
LENGTHS = re.compile(
    r"^[ \t]*(?!return\b|else\b)(?:__shared__ )?(?:const |unsigned )*\w+ \w+(\[[^;=]*\])|array<[^;]*>", re.M
)
PROMISE = re.compile(r"\bstatic_assert\([^;]*;")  # no result depends on it
ONE_THREAD = "one thread does the work of all"
OWN_INDEX = re.compile(r"\b(threadIdx|blockIdx)\b")

Edit = tuple[str, int, int, str]  # kind, the span in the text, and what stands there instead


@dataclass(frozen=True)
class Mutant:
    """One changed solution. line: number of the first line that differs, from 1. change: that line before and after."""

    kind: str
    line: int
    change: str
    text: str


def mutants(exercise: Exercise, piece: Piece) -> list[Mutant]:
    """Every mutant of a solution, in the order of its lines; no text twice."""
    own = own_lines(piece.blank, piece.solution)
    edits = _of_python(piece.solution) if exercise.language == "python" else _of_kernel(piece.solution, exercise)
    promises = [match.span() for match in PROMISE.finditer(piece.solution)]
    found: dict[str, Mutant] = {}
    for kind, start, end, instead in sorted(edits, key=lambda edit: edit[1]):
        if any(first <= start < last for first, last in promises):
            continue
        text = piece.solution[:start] + instead + piece.solution[end:]
        line = piece.solution.count("\n", 0, start) + 1
        if (line in own or kind == ONE_THREAD) and text != piece.solution and text not in found:
            before, after = (whole.splitlines()[line - 1 : line] or [""] for whole in (piece.solution, text))
            change = kind if kind == ONE_THREAD else f"{before[0].strip()} -> {after[0].strip()}"
            found[text] = Mutant(kind, line, change, text)
    return list(found.values())


def own_lines(blank: str, text: str) -> set[int]:
    """The numbers of the lines of a text that its blank does not have."""
    before, after = blank.splitlines(), text.splitlines()
    matches = difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    given = {match.b + i for match in matches for i in range(match.size)}
    return {number for number in range(1, len(after) + 1) if number - 1 not in given}


def _number(text: str, length: bool = False) -> str:
    """Another number in place of a literal, of the same type. An array's length becomes less: more would do no harm."""
    digits = re.match(r"0[xX][\da-fA-F]+|[\d.]+(?:[eE][+-]?\d+)?", text)[0]
    if re.fullmatch(r"\d+|0[xX][\da-fA-F]+", digits):
        value = int(digits, 0)
        return f"{1 - value if value < 2 else value - 1 if length else value + 1}{text[len(digits) :]}"
    return f"{2 * float(digits) or 1.0!r}{text[len(digits) :]}"


# CUDA C++ and WGSL


def _of_kernel(text: str, exercise: Exercise) -> Iterator[Edit]:
    read = lexer.read(text, wgsl=exercise.language == "wgsl")
    code = read.code
    lengths = [match.span() for match in LENGTHS.finditer(code)]
    others = OTHERS | ({"T": "float"} if TEMPLATE.search(code) else {})
    for match in BINARY.finditer(code):
        if match[0] in SWAPPED:
            yield "operator", *match.span(), SWAPPED[match[0]]
    for token in read.words:
        if token.kind == lexer.NUMBER:
            length = any(start <= token.offset < end for start, end in lengths)
            yield "constant", token.offset, token.end, _number(token.text, length)
        elif token.kind == lexer.NAME and token.text in others:
            yield "name", token.offset, token.end, others[token.text]
        elif token.text == "if" and (end := read.closing(code.find("(", token.end))):
            yield "guard", token.end, end + 1, " (true)"
    for match in BARRIER.finditer(code):
        yield "barrier", *match.span(), ";"
    for match in STATEMENT.finditer(code):
        if not re.match(r"(?:const|let|var|auto|int|float|unsigned|bool)\b|\w+ \w+ =", match[1]):
            yield "statement", *match.span(1), ";"
    for match in re.finditer(r"(?<=\w)\.([xy])\b", code):
        yield "axis", *match.span(1), "xy"["yx".index(match[1])]
    yield from _starts(code)
    if exercise.language == "cuda" and exercise.goals:
        yield from _one_thread(text, read)


def _starts(code: str) -> Iterator[Edit]:
    for start, instead in STARTS.items():
        for match in re.finditer(re.escape(start), code):
            yield "start", *match.span(), instead


def _one_thread(text: str, read: lexer.Text) -> Iterator[Edit]:
    """The whole launch done by one thread, in a loop over all others; where none waits for another, the results stay right."""
    if re.search(r"\btemplate\b|__shared__|__sync|_sync\(|__restrict__", read.code):
        return
    head = re.search(r"__global__ void (\w+)\(([^)]*)\)", read.code)
    if head is None or len(read.functions) != 1:
        return
    names = [re.split(r"[\s*&]+", part.strip())[-1] for part in head[2].split(",")]
    body = OWN_INDEX.sub(
        r"own_\1",
        text.replace(head[0], f"__device__ void one_of_many({head[2]}, uint3 own_threadIdx, uint3 own_blockIdx)"),
    )
    loops = "".join(
        f"for (unsigned {index}{axis} = 0; {index}{axis} < {size}.{axis}; {index}{axis}++) "
        for index, size in (("b", "gridDim"), ("t", "blockDim"))
        for axis in "zyx"
    )
    call = f"one_of_many({', '.join(names)}, make_uint3(tx, ty, tz), make_uint3(bx, by, bz));"
    whole = (
        f"{body}\n__global__ void {head[1]}({head[2]}) {{\n"
        "    if (threadIdx.x || threadIdx.y || threadIdx.z || blockIdx.x || blockIdx.y || blockIdx.z) return;\n"
        f"    {loops}{call}\n}}\n"
    )
    yield ONE_THREAD, 0, len(text), whole


# Python


def _of_python(text: str) -> Iterator[Edit]:
    source = Source(text)
    tree, span = source.tree, source.span

    def between(kind: str, left: ast.AST, right: ast.AST) -> Iterator[Edit]:
        start, end = span(left)[1], span(right)[0]
        if (match := re.search(r"\*\*|//|<<|>>|<=|>=|==|!=|\band\b|\bor\b|[-+*/%<>@&|^]", text[start:end])) and match[
            0
        ] in SWAPPED:
            yield kind, start + match.start(), start + match.end(), SWAPPED[match[0]]

    unseen = {part for node in ast.walk(tree) for part in _unseen(node)}
    for node in (node for node in ast.walk(tree) if node not in unseen):
        if isinstance(node, ast.BinOp):
            yield from between("operator", node.left, node.right)
        elif isinstance(node, ast.Compare):
            for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
                yield from between("operator", left, right)
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from between("operator", left, right)
        elif isinstance(node, ast.AugAssign):
            start, end = span(node.target)[1], span(node.value)[0]
            sign = text[start:end].strip()
            if sign in SWAPPED:
                yield "operator", start, end, f" {SWAPPED[sign]} "
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield "constant", *span(node), str(not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield "constant", *span(node), _number(text[slice(*span(node))])
        elif isinstance(node, ast.Attribute) and node.attr in OTHERS:
            end = span(node)[1]
            yield "name", end - len(node.attr), end, OTHERS[node.attr]
        elif isinstance(node, ast.Name) and node.id in OTHERS:
            yield "name", *span(node), OTHERS[node.id]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            yield "operator", *span(node), text[slice(*span(node.operand))]
        elif isinstance(node, ast.If | ast.IfExp):
            yield "guard", *span(node.test), "True"
            yield "guard", *span(node.test), "False"
        elif isinstance(node, ast.Call):
            yield from _of_call(node, span, text)
        elif isinstance(node, ast.Expr | ast.Assign) and not isinstance(getattr(node, "value", None), ast.Constant):
            if isinstance(node, ast.Expr) or not isinstance(node.targets[0], ast.Name | ast.Tuple):
                yield "statement", *span(node), "pass"
    yield from _starts(text)


def _unseen(node: ast.AST) -> Iterator[ast.AST]:
    """What no result depends on: annotations, and whether `zip` asks for equal lengths."""
    if isinstance(node, ast.keyword) and node.arg == "strict":
        yield from ast.walk(node)
    for field in ("annotation", "returns"):
        if annotation := getattr(node, field, None):
            yield from ast.walk(annotation)


def _of_call(node: ast.Call, span, text: str) -> Iterator[Edit]:
    """A named argument left out (axis, keepdims, dtype), a copy or a cast left out, a range one shorter."""
    for keyword in node.keywords:
        if keyword.arg == "strict":
            continue
        start, end = span(keyword)
        before = text[:start].rstrip()
        if before.endswith(","):
            yield "argument", len(before) - 1, end, ""
        if keyword.arg == "axis":
            yield "axis", *span(keyword.value), "None"
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in ("copy", "astype", "reshape", "transpose"):
        yield "argument", *span(node), text[slice(*span(function.value))]
    if isinstance(function, ast.Name) and function.id in ("range", "reversed", "sorted", "abs", "list", "float", "int"):
        if function.id == "range":
            last = span(node.args[-1] if len(node.args) < 3 else node.args[1])[1]
            yield "bound", last, last, " - 1"
        elif node.args:
            yield "argument", *span(node), text[slice(*span(node.args[0]))]
