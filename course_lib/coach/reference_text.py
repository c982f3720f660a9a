"""The text of what a kernel is compared with: its exercise's `reference`, with the functions and numbers that it needs.

So that it can be changed as an answer in Python can (repairs.py): a kernel itself would have to be compiled for each change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from course_lib.coach import catalogue
from course_lib.coach.slips.edits import Edit, edits

NAME = "reference"
LIKELY = 4  # the highest rank of a change that is tried
IMPORTS = ast.Import | ast.ImportFrom


def text_of(name: str) -> str:
    """A Python text that defines `reference`; "" where an exercise names none."""
    source = catalogue.files()[name].read_text(encoding="utf-8")
    tree = ast.parse(source)
    whole = next(
        (node for node in tree.body if isinstance(node, ast.Assign) and _names(node.targets) == {"exercise"}), None
    )
    given = [keyword.value for keyword in whole.value.keywords if keyword.arg == NAME] if whole else []
    if not given:
        return ""
    rest, wanted = [node for node in tree.body if node is not whole], _names([given[0]])
    while found := [node for node in rest if wanted & _defined(node)]:
        rest = [node for node in rest if node not in found]
        wanted |= _names(found)
    needed = [node for node in tree.body if node is not whole and (node not in rest or isinstance(node, IMPORTS))]
    last = f"{NAME} = {' '.join(ast.get_source_segment(source, given[0]).split())}"
    return "\n".join([*(ast.get_source_segment(source, node) for node in needed), last, ""])


def load(text: str) -> Callable:
    """The function that such a text defines."""
    namespace: dict[str, Any] = {"__name__": NAME}
    exec(compile(text, f"{NAME}.py", "exec"), namespace)
    return namespace[NAME]


def changes(text: str) -> list[Edit]:
    """Likely changes of what it computes, but not of its options: what they mean only its exercise knows."""
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    options = {argument.arg for function in functions for argument in _options(function.args)}
    lines = {line for node in functions for line in range(_first(node), node.end_lineno + 1)}
    return [
        edit
        for edit in edits(text)
        if edit.rank <= LIKELY and edit.line in lines and not options & (_names_in(edit.before) | _names_in(edit.after))
    ]


def _first(function: ast.FunctionDef | ast.Lambda) -> int:
    body = function.body
    return body[0].lineno if isinstance(body, list) else body.lineno


def _options(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters with a default, and the one that takes all others."""
    named = [a for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is not None]
    last = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    return [*last, *named, *filter(None, [arguments.kwarg, arguments.vararg])]


def _names(nodes: list) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _names_in(expression: str) -> set[str]:
    try:
        return _names([ast.parse(expression.strip(), mode="eval")]) if expression else set()
    except SyntaxError:
        return set()


def _defined(node: ast.stmt) -> set[str]:
    """What a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return _names(getattr(node, "targets", None) or [getattr(node, "target", ast.Pass())])
