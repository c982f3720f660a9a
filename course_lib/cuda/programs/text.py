"""A program as the compiler's preprocessor leaves it: its own lines in one text, and those of the headers around it.

nvcc begins in the same way: all macros are expanded and all #includes read before anything is looked for in the text.
"""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from course_lib import native
from course_lib.cuda import runtime
from course_lib.cuda.errors import CompileError

_MARKER = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$')
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]", re.MULTILINE)
_ASSEMBLY = re.compile(r"\basm\b|\b__asm")
# Headers of NVIDIA's libraries and of others, and what a sentence calls them.
_LIBRARIES = {
    "curand": "cuRAND", "cufft": "cuFFT", "cusparse": "cuSPARSE", "cusolver": "cuSOLVER", "cudnn": "cuDNN", "nccl": "NCCL",
    "cub/": "CUB", "thrust/": "Thrust", "cutlass": "CUTLASS", "cute/": "CuTe", "npp": "NPP", "nvrtc": "NVRTC", "GL/": "OpenGL",
    "mpi": "MPI", "nvjpeg": "nvJPEG", "cuda/": "libcu++", "nvml": "NVML", "torch/": "PyTorch",
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """Lines of the program (`own`), or of headers that are not its own."""

    text: str
    own: bool


def preprocess(files: Sequence[Path], flags: Sequence[str], compiler: native.Compiler, folder: Path) -> list[Part]:
    """The program's text after the preprocessor. Raises CompileError with a sentence for a header that is not there.

    flags: of the compiler, -D and -I among them. folder: where a file may be written.
    """
    wrapper = folder / "program.cpp"
    wrapper.write_text(_wrapper(files, flags))
    words = [*compiler.command, "-std=c++17", "-E", *flags, str(wrapper)]
    result = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if result.returncode:
        raise _refused(result.stderr)
    return _parts(result.stdout, {str(wrapper)})


def expand(text: str, flags: Sequence[str], compiler: native.Compiler) -> str:
    """A few lines of our own that use the macros of ending.h, preprocessed."""
    words = [*compiler.command, "-std=c++17", "-E", "-P", "-x", "c++", *flags, "-"]
    lines = f'#include "simulator/ending.h"\n{text}\n'
    return subprocess.run(words, input=lines, capture_output=True, text=True, check=True).stdout


def _wrapper(files: Sequence[Path], flags: Sequence[str]) -> str:
    """The program behind our headers. The C++ library's headers come first: they know nothing of CUDA's macros."""
    folders = [Path(flag[2:]) for flag in flags if flag.startswith("-I")]
    hoisted = []
    headers, own = _library_headers(files, folders)
    for name in headers:
        hoisted += [f"#if __has_include(<{name}>)", f"#include <{name}>", "#endif"]
    lines = ["#include <cstdio>", *hoisted, '#include "simulator.h"']
    if any(_ASSEMBLY.search(path.read_text(errors="replace")) for path in own):
        lines += ['#include "simulator/inline_ptx.h"']
    lines += ['#include "simulator/program.h"']
    return "\n".join([*lines, *(f'#include "{file.resolve()}"' for file in files)]) + "\n"


def _library_headers(files: Sequence[Path], folders: Sequence[Path]) -> tuple[list[str], set[Path]]:
    """The headers between < and > that the program and its own headers include, in order, those of `folders` left out.

    And the files of the program itself.
    """
    found: dict[str, None] = {}
    seen: set[Path] = set()
    pending = [file.resolve() for file in files]
    while pending:
        path = pending.pop(0)
        if path in seen:
            continue
        seen.add(path)
        for bracket, name in _INCLUDE.findall(path.read_text(errors="replace")):
            places = [path.parent, *folders] if bracket == '"' else folders
            if own := next((place / name for place in places if (place / name).is_file()), None):
                pending += [] if runtime.INCLUDE in own.resolve().parents else [own.resolve()]
            elif bracket == "<" and not name.startswith(tuple(_LIBRARIES)):
                found[name] = None
    return list(found), seen


def _parts(text: str, ours: set[str]) -> list[Part]:
    """Cut where the file changes from the program's own to another's, or back. The markers of the lines stay."""
    foreign = {path for _, path, numbers in _markers(text) if numbers[:1] == [1] and 3 in numbers}
    parts: list[tuple[bool, list[str]]] = []
    own = False
    for line in text.split("\n"):
        if match := _MARKER.match(line):
            path = match[2]
            simulated = path.startswith((str(runtime.INCLUDE), str(runtime.RUNTIME)))
            own = not (path in foreign or path in ours or path.startswith("<") or simulated)
        if not parts or parts[-1][0] != own:
            parts.append((own, []))
        parts[-1][1].append(line)
    return [Part("\n".join(lines) + "\n", own) for own, lines in parts]


def _markers(text: str):
    for match in re.finditer(_MARKER.pattern, text, re.MULTILINE):
        yield int(match[1]), match[2], [int(number) for number in match[3].split()]


def _refused(log: str) -> CompileError:
    missing = re.search(r"([^\s:]+):(\d+):\d+: fatal error: '?([^\s':]+)'?(?:: No such file| file not found)", log)
    if not missing:
        return CompileError(f"The preprocessor refused the program.\n{log.strip()}", log=log)
    file, line, name = missing.groups()
    library = next((words for start, words in _LIBRARIES.items() if name.lower().startswith(start.lower())), None)
    if library:
        sentence = f"{name} is a header of {library}, which is not simulated."
    else:
        sentence = f"the header {name} was not found. Pass its folder: -I FOLDER."
    return CompileError(f"{Path(file).name}, line {line}: {sentence}", log=log, line=int(line))
