"""Which compilers this machine has, and how a test chooses one."""

import shutil

import pytest

COMPILERS = [
    pytest.param("gcc", marks=pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")),
    pytest.param("clang", marks=pytest.mark.skipif(not shutil.which("clang++"), reason="clang++ is not installed")),
]


def using(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile with this compiler from here on."""
    monkeypatch.setenv("COURSE_COMPILER", compiler)
