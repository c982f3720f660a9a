"""Headers that many sources begin with, kept as the compiler left them after reading: it then need not read them again.

A precompiled header is valid for the flags that it was made with. g++ looks for one beside every folder that it searches, and
passes over one that does not fit; clang is told its name.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from course_lib.native import files
from course_lib.native.compiler import Compiler

SUFFIXES = {"gcc": ".gch", "clang": ".pch"}  # zig, a clang, looks for its own headers elsewhere
REFUSED = re.compile(
    r"precompiled header|\bPCH\b|\bAST file\b|\.pch\b"
)  # what clang says of one that is damaged, or does not fit


def fitting(flags: Sequence[str], depends: Sequence[Path]) -> tuple[str, ...]:
    """Those of a source's flags that its precompiled header must have been made with: not where to look for other files, what
    to tell the linker, and macros that no header mentions."""
    names = files.words(tuple(map(files.as_it_is, depends)))
    return tuple(
        flag
        for flag in flags
        if not flag.startswith(("-I", "-Wl,"))
        and (not flag.startswith(("-D", "-U")) or re.split("[=(]", flag[2:])[0] in names)
    )


def identity(headers: Sequence[Path], compiler: Compiler) -> str:
    """What else it depends on, besides the files' content: clang takes a file that was moved or written anew for another one."""
    times = [str(path.stat().st_mtime_ns) for path in headers] if compiler.kind == "clang" else []
    return " ".join([str(headers[0]), *times])


def using(made: Path, compiler: Compiler) -> tuple[str, ...]:
    """The flags with which a source that includes the header first takes what was made."""
    return ("-include-pch", str(made)) if compiler.kind == "clang" else (f"-I{made.parent}",)
