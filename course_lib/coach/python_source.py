"""What can be read off a Python text: where a piece of it stands, what it says, and which names a function has."""

from __future__ import annotations

import ast
from typing import NamedTuple

LONGEST = 48  # letters of a piece that is quoted


class Source:
    """A Python text with its tree. Raises SyntaxError where it is none."""

    def __init__(self, text: str):
        self.text, self.tree = text, ast.parse(text)
        self._starts, self._encoded = [0], text.encode()  # ast counts bytes
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line.encode()))
        self._expressions: list[tuple[int, int]] | None = None
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def _at(self, line: int, column: int) -> int:
        place = self._starts[line - 1] + column
        return place if len(self._encoded) == len(self.text) else len(self._encoded[:place].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends in the text."""
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.AST) -> str:
        """The text of a node."""
        return self.text[slice(*self.span(node))]

    def quoted(self, node: ast.AST | str) -> str:
        """The same between backticks: one line, its end left out if it is long."""
        words = " ".join((node if isinstance(node, str) else self.of(node)).split())
        return f"`{words if len(words) <= LONGEST else words[: LONGEST - 4] + ' ...'}`"

    def expressions(self) -> list[tuple[int, int]]:
        """Where all expressions begin and end, the shortest first."""
        if self._expressions is None:
            found = {
                self.span(node) for node in ast.walk(self.tree) if isinstance(node, ast.expr) and not holds_slice(node)
            }
            self._expressions = sorted(found, key=lambda span: span[1] - span[0])
        return self._expressions

    def around(self, node: ast.AST, kinds: type | tuple) -> ast.AST | None:
        """The nearest node of these kinds that a node stands in."""
        node = self.parents.get(node)
        while node is not None and not isinstance(node, kinds):
            node = self.parents.get(node)
        return node


def holds_slice(node: ast.AST) -> bool:
    """Whether it is what stands between the brackets of `x[:, 1:]`: a part of an expression, and none by itself."""
    return isinstance(node, ast.Slice) or (isinstance(node, ast.Tuple) and any(map(holds_slice, node.elts)))


def names_of(function: ast.FunctionDef) -> list[str]:
    """The parameters of a function and what it assigns, in their order, each once."""
    arguments = function.args
    given = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(given + stored))


def unused(text: str, solution: str, name: str) -> str:
    """A sentence about parameters that an answer never reads, or of which only the size, and the solution more; else ""."""
    theirs, ours = (_read(one, name) for one in (text, solution))
    if theirs is None or ours is None:
        return ""
    shared = [one for one in ours.given if one in theirs.given]
    if missing := [f"`{one}`" for one in shared if one in ours.read and one not in theirs.read]:
        return f"Your code never uses {' and '.join(missing)}; our solution does."
    if sizes := [
        f"`{one}`" for one in shared if one in ours.inside and one not in theirs.inside and one in theirs.read
    ]:
        return f"Your code uses only the size of {' and '.join(sizes)}; our solution reads what is inside, too."
    return ""


class _Read(NamedTuple):
    """The parameters of a function, the names that it reads, and those of which it reads more than the size."""

    given: list[str]
    read: set[str]
    inside: set[str]


def _read(text: str, name: str) -> _Read | None:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    function = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name), None)
    if function is None:
        return None
    arguments = function.args
    given = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    nodes = list(ast.walk(function))
    loaded = [n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    sized = {
        id(n.value) for n in nodes if isinstance(n, ast.Attribute) and n.attr in ("shape", "size", "ndim", "dtype")
    }
    sized |= {id(n.args[0]) for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == "len" and n.args}
    return _Read(given, {n.id for n in loaded}, {n.id for n in loaded if id(n) not in sized})
