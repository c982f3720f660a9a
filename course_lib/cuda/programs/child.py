"""The process in which a program runs: `python -m course_lib.cuda.programs.child SETTINGS -- ARGUMENTS`.

SETTINGS is a JSON text. The account goes to the file that it names, a line for each thing that happens, as it happens: so it is
there when the program crashes, or calls exit. Lines of the runtime have tabs between their fields (program.cpp); those of a
launch in a checked build are JSON.
"""

import ctypes
import json
import os
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from course_lib.cuda import cards, launch, runtime, sanitizer, source, symbols
from course_lib.cuda.build import Library
from course_lib.cuda.errors import CompileError
from course_lib.cuda.programs import build

HOOK = ctypes.CFUNCTYPE(
    None,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.POINTER(runtime.Launch),
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_int,
)
HARMFUL = {"crash", "timeout"}  # after these a program's context is lost, as on a GPU
LAUNCH_FAILURE, LAUNCH_TIMEOUT = 719, 702


@dataclass(frozen=True)
class _Kernel:
    """What sanitizer.collect asks of a kernel."""

    source: source.Source
    name: str
    line: int


class Watch:
    """Runs each launch of a checked program, and writes down what it did."""

    def __init__(self, program: build.Program, handle: ctypes.CDLL, timeout: float, file: int):
        self._text = source.Source(program.own.read_text(), program.files[0].name)
        self._lines = {path.name: path.read_text(errors="replace").splitlines() for path in _own_files(self._text.text)}
        self._library = Library(self._text, program.library, handle, {}, {}, True, False, program.compiler)
        self._base, self._timeout, self._file = symbols.base(handle), timeout, file
        self.hook = HOOK(self._run)

    def _run(self, kernel: bytes, names: bytes, launched, run: int, file: bytes, line: int) -> None:
        name = kernel.decode()
        try:
            found = self._watch(name, launched.contents, run, line)
        except Exception as error:  # it may not leave the callback
            found = {"kernel": name, "error": f"{type(error).__name__}: {error}"}
        os.write(self._file, (json.dumps({**found, "at": [file.decode(), line]}) + "\n").encode())

    def _watch(self, name: str, launched: runtime.Launch, run: int, line: int) -> dict:
        lib = runtime.library()
        plain = name.partition("<")[0].rpartition("::")[2].strip()
        grid, block = launched.grid.tuple(), launched.block.tuple()
        kernel = _Kernel(self._text, plain, line)
        known = sanitizer.describe(self._library, self._text, plain, set(), self._base, launched.shared_bytes)
        prepared = _Entry(ctypes.c_void_p(run))
        ended = launch.Running(prepared, launched, 0).wait(self._timeout)
        report = sanitizer.collect(kernel, self._library, self._base, grid, block, self._timeout, known, self._lines)
        kinds = {issue.kind for issue in report.issues}
        if kinds & HARMFUL:
            lib.sim_program_fail(LAUNCH_FAILURE if ended else LAUNCH_TIMEOUT)
        return {
            "kernel": name, "grid": grid, "block": block, "shared": launched.shared_bytes, "not_checked": report.not_checked,
            "issues": [asdict(issue) for issue in report.issues], "lines": [asdict(one) for one in report.lines],
        }  # fmt: skip


@dataclass(frozen=True)
class _Entry:
    """What launch.Running asks of a prepared kernel."""

    entry: ctypes.c_void_p


def _own_files(text: str) -> list[Path]:
    names = dict.fromkeys(line.split('"')[1] for line in text.splitlines() if line.startswith("# ") and '"' in line)
    return [path for path in map(Path, names) if path.is_file()]


def main(settings: dict, arguments: list[str]) -> int:
    """Run a program to its end; its own exit code."""
    program = build.Program(
        Path(settings["library"]), Path(settings["own"]), tuple(map(Path, settings["files"])), settings["checked"],
        settings["compiler"],
    )  # fmt: skip
    file = os.open(settings["account"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    lib = runtime.library()
    card = cards.describe(cards.find(settings["gpu"]))
    ctypes.memmove(
        ctypes.addressof(cards.Described.in_dll(lib, "sim_card")), ctypes.addressof(card), ctypes.sizeof(card)
    )
    lib.sim_program_begin.argtypes = [ctypes.c_int, ctypes.c_double]
    lib.sim_program_begin(file, settings["timeout"])  # before its static objects ask for memory
    try:
        handle = build.load(program)
    except CompileError as error:
        os.write(file, (json.dumps({"not_compiled": str(error), "line": error.line}) + "\n").encode())
        return 1
    if program.checked:
        watch = Watch(program, handle, settings["timeout"], file)
        lib.sim_program_watch.argtypes = [ctypes.c_void_p]
        lib.sim_program_watch(ctypes.cast(watch.hook, ctypes.c_void_p))
    words = [os.fsencode(word) for word in (settings["files"][0].rsplit(".", 1)[0], *arguments)]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    sys.stdout.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = handle.sim_main(len(words), argv)
    ctypes.CDLL(None).exit(code)  # its destructors, then the account's last lines
    return code


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[3:]))
