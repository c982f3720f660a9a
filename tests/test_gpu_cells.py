"""What a chapter would do on an NVIDIA GPU, rehearsed without one: each such cell runs to its end with a stand-in for CuPy.

Arrays are NumPy's and hold zeros, kernels and ops are not run, but called as they would be: the stand-ins refuse what CuPy and a
kernel would refuse (a wrong number of arguments, an array for a number, something without a name to be timed). No time is said.
"""

import ast
import inspect
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nbformat
import numpy as np
import pytest

from course_lib import build, devices, nvidia
from course_lib.cuda import Kernel

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
ASKS = "if nvidia.gpu()"
CHAPTERS = [path for path in sorted(FOLDER.glob("[0-9]*.ipynb")) if ASKS in path.read_text(encoding="utf-8")]


class OnCard(np.ndarray):
    """An array of the stand-in: it can be brought back to the host."""

    def get(self) -> np.ndarray:
        return np.asarray(self)


def zeros(shape, *_, dtype=np.float32) -> OnCard:
    return np.zeros(shape, dtype).view(OnCard)  # nothing is touched, so large arrays cost nothing


def benchmark(func, args=(), kwargs=None, n_repeat=10000, *, name=None, n_warmup=10):
    """As cupyx.profiler.benchmark, but it calls once."""
    told = func.__name__ if name is None else name
    assert callable(func) and isinstance(args, tuple) and isinstance(told, str)
    func(*args, **(kwargs or {}))
    return SimpleNamespace(gpu_times=np.full(n_repeat, 1e-3))


def launched(self, grid, block, args, shared_mem=0) -> None:
    """A launch that only looks at what it is given."""
    parameters = self._declaration.parameters
    assert len(args) == len(parameters), f"{self.name} takes {len(parameters)} arguments, not {len(args)}"
    for (kind, name), value in zip(parameters, args, strict=True):
        assert isinstance(value, OnCard) == ("*" in kind), f"{self.name}: {name} is {kind}, and gets {type(value)}"
    for extent in (grid, block):
        assert all(isinstance(n, int) and n > 0 for n in (extent if isinstance(extent, tuple) else (extent,))), extent


REFERENCE = devices.ops("reference")


class Ops:
    """Operations that take what those of the reference take, and give two arrays back."""

    def __getattr__(self, name):
        takes = inspect.signature(getattr(REFERENCE, name))
        return lambda *args, **more: (takes.bind(*args, **more).args[0],) * 2


@pytest.fixture
def card(monkeypatch):
    """A CuPy that is none, and a GPU to go with it."""
    cupy, profiler = ModuleType("cupy"), ModuleType("cupyx.profiler")
    cupy.__spec__ = ModuleSpec("cupy", None)
    cupy.empty = cupy.zeros = cupy.ones = cupy.full = zeros
    cupy.arange, cupy.empty_like, cupy.zeros_like = (
        zeros,
        (lambda like: zeros(like.shape)),
        (lambda like: zeros(like.shape)),
    )
    cupy.asarray = lambda values: np.asarray(values).view(OnCard)
    cupy.float32, cupy.matmul = np.float32, lambda a, b, out: None
    cupy.random = SimpleNamespace(rand=lambda *shape, dtype: zeros(shape), normal=lambda size, dtype: zeros(size))
    event = SimpleNamespace(record=lambda: None, synchronize=lambda: None)
    cupy.cuda = SimpleNamespace(Event=lambda: event, get_elapsed_time=lambda start, end: 1.0)
    profiler.benchmark = benchmark
    for module in (cupy, profiler):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, "cupyx", ModuleType("cupyx"))
    monkeypatch.setattr(nvidia, "gpu", lambda: "a stand-in")
    real = devices.ops
    monkeypatch.setattr(devices, "ops", lambda device: Ops() if device == "cuda" else real(device))
    monkeypatch.setattr(Kernel, "__call__", launched)


def needed(path: Path) -> list[ast.stmt]:
    """The cell that asks for a GPU, behind the statements of earlier cells that make what it uses."""
    before: list[ast.stmt] = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and ASKS in cell.source:
            taken = ast.parse(cell.source).body
            names = set().union(*(used(part) for part in taken)) - set().union(*(made(part) for part in taken))
            for statement in reversed(before):
                if made(statement) & names:
                    names = names - made(statement) | used(statement)
                    taken = [statement, *taken]
            return taken
        if build.is_run(cell):
            before += ast.parse(cell.source).body
    raise AssertionError(f"{path.name} asks for no GPU")


def made(statement: ast.stmt) -> set[str]:
    """Names that a statement gives a meaning to."""
    if isinstance(statement, ast.FunctionDef):
        return {statement.name}
    inside = list(ast.walk(statement))
    imported = [alias for node in inside if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    stored = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {alias.asname or alias.name.split(".")[0] for alias in imported}


def used(statement: ast.stmt) -> set[str]:
    """Names that must have a meaning before a statement, or before the function that it makes is called."""
    inside = list(ast.walk(statement))
    names = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if isinstance(statement, ast.FunctionDef):
        stored = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        return names - stored - {node.arg for node in inside if isinstance(node, ast.arg)}
    return names | {
        node.target.id for node in inside if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }


def test_each_chapter_of_part_two_asks_for_a_gpu():
    assert {path.name[:2] for path in CHAPTERS} >= {f"{number:02}" for number in range(4, 13)}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_what_a_chapter_does_on_a_gpu_runs_to_its_end(path, card, capsys, monkeypatch):
    monkeypatch.chdir(FOLDER)
    program = ast.fix_missing_locations(ast.Module(needed(path), []))
    exec(compile(program, path.name, "exec"), {})
    said = capsys.readouterr().out
    assert said and "No NVIDIA GPU" not in said
