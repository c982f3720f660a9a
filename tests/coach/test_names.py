"""Every name that a solution uses stands in its task or blank, in an earlier one, or in a lecture up to its chapter.

Python is known to the reader: its keywords, its builtins, and the methods and named arguments of these. What a solution names
itself (variables, arguments, functions) needs no introduction. Of C++ and WGSL nothing is known but the keywords.
"""

import ast
import builtins
import re
from functools import cache

import nbformat
import pytest

from course_lib.coach import catalogue, regions
from course_lib.paths import ROOT
from tests.coach import coverage

WORD = re.compile(r"[A-Za-z_]\w*")
CPP = set(
    """
    alignas auto bool break case char class const constexpr continue default delete do double else enum explicit extern
    false float for if inline int long namespace new nullptr operator private public return short signed sizeof static
    struct switch template this true typedef typename union unsigned using void volatile while
    """.split()
)
WGSL = set(
    """
    alias array binding bool break builtin case compute const continue default else enable f32 false fn for function group
    i32 if let loop override ptr read read_write return storage struct switch true u32 var vec2 vec3 vec4 while workgroup
    """.split()
)
PYTHON = {name for kind in (str, bytes, list, tuple, dict, set, int, float) for name in dir(kind)} | set(dir(builtins))


@cache
def lectures() -> dict[str, set[str]]:
    """Chapter -> the words of its lecture, text and code, in reading order."""
    found = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        found[path.name.partition("_")[0]] = {word for cell in cells for word in WORD.findall(cell.source)}
    return found


def piece(name: str) -> regions.Piece:
    return catalogue.piece(name)


@cache
def known() -> dict[str, set[str]]:
    """Exercise -> the words that a reader has seen who comes to it in reading order, its own task and blank included."""
    found, tasks, seen = {}, coverage.tasks(), set()
    for name in catalogue.names():
        chapter = catalogue.load(name).chapter
        opening = catalogue.source(chapter).read_text(encoding="utf-8").partition("# %% exercise=")[0]
        seen = seen.union(WORD.findall(tasks[name]), WORD.findall(piece(name).blank), WORD.findall(opening))
        found[name] = seen.union(*(words for other, words in lectures().items() if other <= chapter))
    return found


def names_of_python(text: str) -> set[str]:
    """What a text uses and does not name itself."""
    used, own = set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            (own if isinstance(node.ctx, ast.Store) else used).add(node.id)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            used.update(word for alias in node.names for word in alias.name.split("."))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") not in PYTHON:
            used.update(word.arg for word in node.keywords if word.arg)
    return used - own - PYTHON


def names_of_cpp(text: str) -> set[str]:
    """The same for C++: two words in a row, a type and a name, declare the name, and so does each further one before the `;`."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|^\s*#[^\n]*", " ", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\b\d[\w.]*|=\s*\{[^{}]*\}", " ", text)  # numbers, and lists that a variable begins with
    own = set()
    for statement in re.split(r"[;{}]|\bfor \(", text):
        bare = statement
        while bare != (bare := re.sub(r"\([^()]*\)|\[[^\[\]]*\]|<[^<>;]*>", " ", bare)):
            pass  # what stands in brackets declares nothing here
        head = re.match(
            r"\s*(?!return\b|else\b)(?:(?:const|static|unsigned|long|constexpr)\s+)*[\w:]+[\s*&]+([A-Za-z_]\w*)", bare
        )
        if head:
            own.add(head[1])
            own.update(re.findall(r",[\s*&]*([A-Za-z_]\w*)\s*(?==|,|$)", bare[head.end() :]))
        own.update(re.findall(r"[\w>][\s*&]+([A-Za-z_]\w*)\s*(?=[,)])", statement))  # arguments of a function
    return set(WORD.findall(text)) - CPP - own


def names_of_wgsl(text: str) -> set[str]:
    """The same for WGSL, where `let`, `var`, `const`, `override`, `fn` and `struct` declare, and a colon follows an argument."""
    text = re.sub(r"//[^\n]*|\b\d[\w.]*", " ", text)
    own = re.findall(r"\b(?:let|var(?:<[^>]*>)?|const|override|fn|struct)\s+([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*:", text)
    return set(WORD.findall(text)) - WGSL - {word for pair in own for word in pair}


NAMES = {"python": names_of_python, "cuda": names_of_cpp, "wgsl": names_of_wgsl}


@pytest.mark.parametrize("name", catalogue.names())
def test_a_solution_uses_only_names_that_were_introduced(name):
    new = NAMES[catalogue.load(name).language](piece(name).solution) - known()[name]
    assert not new, (
        f"No task and no lecture up to here names {', '.join(sorted(new))}: add a sentence to the task of {name}."
    )


def test_what_a_solution_names_itself_is_its_own():
    assert names_of_python("def f(x, *, n=1):\n    total = sum(x)\n    return np.where(x > total, n, x.mean(axis=0))") == {
        "np", "where", "mean", "axis",
    }  # fmt: skip
    text = """
#include "vector.cuh"
// fmaxf is only spoken of
__global__ void k(const float* x, int n) {
    const int i = blockIdx.x, j = f(i, n), *end = &n;
    Pack<float, 4> p = *(const Pack<float, 4>*)(x + i), q = p;
    float part[3] = {}, top = fminf(x[i], 0.0f);
    for (int k = 0, last = n; k < last; k++) p.item[k] += q.item[k] * 1e-5f;
}
"""
    assert names_of_wgsl("fn f(n: u32) { let a = select(1.5, x[n], n > 2u); var<private> b = vec2<f32>(a); }") == {
        "select", "x", "private",
    }  # fmt: skip
    assert names_of_cpp(text) == {"__global__", "blockIdx", "Pack", "item", "fminf", "f"}


def test_a_name_that_nobody_introduced_is_found():
    assert "flatnonzero" not in known()["is_contiguous"] and "strides" in known()["is_contiguous"]
    assert "__shfl_xor_sync" not in known()["gelu_forward"] and "__shfl_xor_sync" in known()["argmax"]
