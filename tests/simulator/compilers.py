"""Which compilers this machine has, how a test chooses one, and how it launches a kernel, fast or checked."""

import shutil
from pathlib import Path

import pytest

from course_lib.cuda import Kernel, sanitize

COMPILERS = [
    pytest.param("gcc", marks=pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")),
    pytest.param("clang", marks=pytest.mark.skipif(not shutil.which("clang++"), reason="clang++ is not installed")),
]
MODES = ("fast", "checked")
compilers = pytest.mark.parametrize("compiler", COMPILERS)
both = pytest.mark.parametrize("mode", MODES)


def using(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile with this compiler from here on."""
    monkeypatch.setenv("COURSE_COMPILER", compiler)


def blocks(n, block=64):
    """The grid that covers n threads."""
    return ((n + block - 1) // block,)


def launch(mode, file, name, grid, block, args, shared_mem=0, seed=0):
    """Launch a kernel of this folder; checked, it must be without a report."""
    kernel = Kernel(Path(__file__).parent / file, name)
    if mode == "fast":
        kernel(grid, block, args, shared_mem=shared_mem, seed=seed)
    else:
        report = sanitize(kernel, grid, block, args, shared_mem=shared_mem, seed=seed)
        assert report.ok, str(report)
