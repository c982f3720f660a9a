"""Find a C++ compiler: CXX, g++, clang++, c++, then zig (which pip can install), and learn its kind and version."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from course_lib.native.machine import processor

CHOICES = ("gcc", "clang", "zig", "none")


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler that answers."""

    words: tuple[str, ...]  # how to call it
    kind: str  # "gcc", "clang" or "zig"
    version: str  # the first line of --version

    @property
    def command(self) -> list[str]:
        return list(self.words)

    @property
    def major(self) -> int:
        """The first number of the version: 12 of 12.2.0."""
        match = re.search(r"(\d+)\.\d+\.\d+", self.version)
        return int(match.group(1)) if match else 0

    @property
    def identity(self) -> str:
        """A text that changes when the compiler does: its real path, its arguments and its version."""
        return "\n".join([os.path.realpath(self.words[0]), *self.words[1:], self.kind, self.version])

    def translate(self, flags: tuple[str, ...]) -> list[str]:
        """`flags` in this compiler's spelling: only "-march=native" differs, which ARM compilers call -mcpu=native."""
        return [word for flag in flags for word in (self._native_flags() if flag == "-march=native" else [flag])]

    def _native_flags(self) -> list[str]:
        return _native_flags(self, processor())


def find_compiler() -> Compiler | None:
    """The compiler that the course uses, or None. COURSE_COMPILER and CXX in the environment are read at each call.

    A CXX that does not answer is passed over. Raises ValueError for a COURSE_COMPILER that is none of the choices.
    """
    wanted = os.environ.get("COURSE_COMPILER", "").strip().lower()
    if wanted and wanted not in CHOICES:
        raise ValueError(f"COURSE_COMPILER is {wanted!r}. Set it to one of {', '.join(CHOICES)}, or leave it unset.")
    if wanted == "none":
        return None
    return _search(wanted, os.environ.get("CXX", ""), os.environ.get("PATH", ""))


@cache
def _search(wanted: str, cxx: str, path: str) -> Compiler | None:
    """`find_compiler` for one state of the environment (PATH is what `shutil.which` reads)."""
    for words in [shlex.split(cxx), ["g++"], ["clang++"], ["c++"], _zig_words()]:
        found = _probe(words)
        if found and wanted in ("", found.kind):
            return found
    return None


def _zig_words() -> list[str]:
    """How to call zig's C++ compiler: the one from pip, else one on PATH."""
    package = importlib.util.find_spec("ziglang")
    binary = Path(package.submodule_search_locations[0], "zig") if package else Path("zig")
    return [str(binary), "c++"]


def _probe(words: list[str]) -> Compiler | None:
    """Ask a compiler who it is; None if it is not there or does not answer."""
    program = shutil.which(words[0]) if words else None
    if program is None or _is_apple_stub(program):
        return None
    try:
        answer = subprocess.run([program, *words[1:], "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = answer.stdout.strip()
    if answer.returncode != 0 or not text:
        return None
    zig = Path(program).name.startswith("zig")
    kind = "zig" if zig else "clang" if "clang" in text.lower() else "gcc"  # Apple's g++ is a clang
    return Compiler((program, *words[1:]), kind, text.splitlines()[0])


def _is_apple_stub(program: str) -> bool:
    """macOS puts programs in /usr/bin that only open a window offering to install the real ones."""
    if sys.platform != "darwin" or not program.startswith("/usr/bin/"):
        return False
    return subprocess.run(["xcode-select", "-p"], capture_output=True).returncode != 0


@cache
def _native_flags(compiler: Compiler, processor_line: str) -> list[str]:
    """The flag for "this very processor" that the compiler accepts, or none."""
    if compiler.kind == "zig":
        return ["-march=native"]
    for flag in ("-march=native", "-mcpu=native"):
        trial = [*compiler.command, flag, "-x", "c++", "-fsyntax-only", "-"]
        if subprocess.run(trial, input="", capture_output=True, text=True).returncode == 0:
            return [flag]
    return []
