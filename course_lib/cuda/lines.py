"""From an address in a compiled kernel to the learner's line, by addr2line, llvm-symbolizer or (macOS) atos."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from course_lib.cuda.runtime import FOLDER

OURS = str(FOLDER)
_TOOLS = ("addr2line", "llvm-addr2line", "llvm-symbolizer", *(f"llvm-symbolizer-{n}" for n in range(21, 12, -1)))


def tool() -> str | None:
    """The program that knows lines, or None."""
    return _search(os.environ.get("PATH", ""))


@cache
def _search(path: str) -> str | None:
    return next((name for name in _TOOLS if shutil.which(name, path=path)), None)


Place = tuple[str, int]  # a file's name and a line
_known: dict[Path, dict[int, tuple[Place, ...]]] = {}


def find(library: Path, offsets: Iterable[int]) -> dict[int, Place]:
    """(file, line) in the learner's text for each offset into the library; missing where the tool knows none.

    A line that was inlined is the innermost one that is not the simulator's own.
    """
    return {offset: places[0] for offset, places in calls(library, offsets).items()}


def calls(library: Path, offsets: Iterable[int]) -> dict[int, tuple[Place, ...]]:
    """The same with the lines that called it, the innermost first, as far as the compiler has inlined them.

    Answers are remembered: asking takes milliseconds, as long as a small launch.
    """
    wanted, known, program = set(offsets), _known.setdefault(library, {}), tool()
    if program is None:
        return {}
    if fresh := sorted(wanted - known.keys()):
        answers = _ask(program, library, fresh)
        known.update((offset, tuple(answers.get(offset, ()))) for offset in fresh)
    return {offset: places for offset in wanted if (places := known[offset])}


def _ask(program: str, library: Path, wanted: list[int]) -> dict[int, list[Place]]:
    if "symbolizer" in program:
        command = [program, "--obj=" + str(library), "--inlines", "--output-style=GNU", "--addresses"]
    else:
        command = [program, "-e", str(library), "-i", "-a"]
    asked = "".join(f"{offset:#x}\n" for offset in wanted)
    answer = subprocess.run(command, input=asked, capture_output=True, text=True, errors="replace").stdout
    found: dict[int, list[Place]] = {}
    current = None
    for line in answer.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line.strip()):
            current = int(line, 16)
            continue
        match = re.match(r"(.*):(\d+)", line)
        if current is None or not match or match.group(2) == "0":
            continue
        file = match.group(1)
        if OURS in file or "/include/simulator" in file or file.endswith("entry points") or file.startswith("??"):
            continue
        found.setdefault(current, []).append((Path(file).name, int(match.group(2))))
    return found
