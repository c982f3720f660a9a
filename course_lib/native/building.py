"""Build shared libraries and keep them: one folder per entry, named by a hash of all that the result depends on.

An entry is made in a temporary folder and renamed into place, so that nobody ever sees half of one. Beside the library
lies its checksum: a cut-off or altered file is noticed before it is loaded, and built again.
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from course_lib import paths
from course_lib.native import files, precompiled
from course_lib.native.compiler import Compiler, find_compiler
from course_lib.native.machine import processor

BASE_FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared", "-pthread")  # the caller's flags follow, and win
LLVM = ("-Qunused-arguments", "-S", "-emit-llvm")  # clang's own language instead of a library
AS_IT_IS = ("-Qunused-arguments", "-Xclang", "-disable-llvm-passes")  # nothing is optimised
SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"
STALE = 3600.0  # seconds after which a temporary folder belongs to nobody

_loaded: dict[Path, ctypes.CDLL] = {}
_known: set[Path] = set()  # precompiled headers that were whole when this process first asked


class NoCompiler(RuntimeError):
    """There is no C++ compiler on this machine, or COURSE_COMPILER rules them out."""


class CompileError(RuntimeError):
    """The compiler refused the source. `.log` is all it said."""

    def __init__(self, message: str, log: str):
        super().__init__(message)
        self.log = log


def cache_folder() -> Path:
    """Where built libraries are kept: `native` below $COURSE_CACHE, or below .cache in the clone. Safe to delete."""
    return paths.cache("native")


def build(
    name: str,
    sources: Sequence[Path],
    flags: Sequence[str] = (),
    depends: Sequence[Path] = (),
    compiler: Compiler | None = None,
    rewrite: Callable[[str], str] | None = None,
    finish: Callable[[str], str] | None = None,
    header: Sequence[Path] = (),
) -> Path:
    """Compile `sources` into one shared library, or find it in the cache. Returns its path.

    name: part of the file's name, for people. depends: files that the sources include; a change in them builds anew.
    flags: added to C++17, -O2, -fPIC; "-march=native" becomes what the compiler understands, or nothing.
    rewrite: for clang and zig: a function that LLVM's text of each source passes through on its way from the front end to
    the optimiser. finish: another one, between the optimiser and the code generator, used with `rewrite` only. The files that
    hold them belong into `depends`.
    header: what each source includes before anything else, by its name, and behind it all that this one includes; kept
    precompiled, for the sake of time alone.
    Raises NoCompiler, CompileError, and FileNotFoundError for a source that does not exist.
    """
    compiler = compiler or find_compiler()
    if compiler is None:
        raise NoCompiler(_why_no_compiler())
    steps = ((*LLVM, *AS_IT_IS) if rewrite else ()) + (("finish",) if finish else ())
    entry = cache_folder() / f"{name}-{_key(name, sources, (*flags, *steps), depends, compiler)}"
    library = entry / f"{name}{SUFFIX}"
    if not _is_whole(library):
        known = precompile(header, flags, compiler) if header else ()

        def make(made: Path) -> str:
            try:
                return _compile(name, made, sources, (*known, *flags), compiler, (rewrite, finish))
            except CompileError as error:
                if not known or not precompiled.REFUSED.search(error.log):
                    raise
                return _compile(name, made, sources, flags, compiler, (rewrite, finish))

        _make_entry(library, make)
    return library


def precompile(headers: Sequence[Path], flags: Sequence[str], compiler: Compiler) -> tuple[str, ...]:
    """The flags by which a source takes its first header as it was kept; none if it cannot be kept. A process that has asked
    once, and each copy of it by fork, does not look through the whole of it again."""
    if compiler.kind not in precompiled.SUFFIXES:
        return ()
    header, fitting = headers[0], precompiled.fitting(flags, headers)
    what = precompiled.identity(headers, compiler)
    entry = cache_folder() / f"{header.name}-{_key(what, headers[:1], fitting, headers, compiler)}"
    made = entry / f"{header.name}{precompiled.SUFFIXES[compiler.kind]}"
    if made not in _known:
        if not _is_whole(made):
            words = [*BASE_FLAGS, *compiler.translate(fitting), "-x", "c++-header", str(header)]
            try:
                _make_entry(made, lambda new: _run(header.name, new, words, compiler, dict(os.environ)))
            except (CompileError, OSError):  # whatever it was, it will be said of the source
                return ()
        _known.add(made)
    return precompiled.using(made, compiler)


def load(
    name: str,
    sources: Sequence[Path],
    flags: Sequence[str] = (),
    depends: Sequence[Path] = (),
    compiler: Compiler | None = None,
) -> ctypes.CDLL:
    """`build`, then open the library. One that does not open is built once more, then OSError is passed on."""
    library = build(name, sources, flags, depends, compiler)
    if library not in _loaded:
        try:
            _loaded[library] = ctypes.CDLL(str(library))
        except OSError:
            shutil.rmtree(library.parent, ignore_errors=True)
            library = build(name, sources, flags, depends, compiler)
            _loaded[library] = ctypes.CDLL(str(library))
    return _loaded[library]


def _key(name, sources, flags, depends, compiler: Compiler) -> str:
    """Hash of the content of the files, the compiler and the flags; where the files lie does not matter."""
    parts = [name, compiler.identity, *BASE_FLAGS, *flags, processor() if "-march=native" in flags else ""]
    for role, those in (("source", sources), ("depends", depends)):
        for file in those:
            parts += [role, Path(file).name, files.digest(files.as_it_is(file))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _is_whole(library: Path) -> bool:
    """Whether the entry exists and its library is the one that was built."""
    try:
        return _checksum(library).read_text() == hashlib.sha256(library.read_bytes()).hexdigest()
    except OSError:
        return False


def _checksum(library: Path) -> Path:
    return library.with_suffix(".sha256")


def messages(library: Path) -> str:
    """What the compiler said when it built this library: its warnings, or nothing."""
    try:
        return _log(library).read_text("utf-8", "replace")
    except OSError:
        return ""


def _log(library: Path) -> Path:
    return library.with_suffix(".log")


def _make_entry(wanted: Path, make: Callable[[Path], str]) -> None:
    """Make a file in a folder of our own, then rename that to its entry. If another process was first, its entry stays."""
    entry = wanted.parent
    _remove_stale(entry.parent)
    folder = Path(tempfile.mkdtemp(prefix=f".{wanted.stem}-", dir=entry.parent))
    try:
        made = folder / "made" / wanted.name
        made.parent.mkdir()
        _log(made).write_text(make(made), "utf-8")
        _checksum(made).write_text(hashlib.sha256(made.read_bytes()).hexdigest())
        for attempt in range(10):
            try:
                os.rename(made.parent, entry)  # atomic; refused while a folder with files stands there
                return
            except OSError:
                if _is_whole(wanted):
                    return
                if attempt == 9:
                    raise
            _move_away(entry, folder / f"damaged{attempt}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move_away(entry: Path, target: Path) -> None:
    """Take a damaged entry out of the way; another process may have done so already."""
    try:
        os.rename(entry, target)
    except FileNotFoundError:
        pass


def _remove_stale(folder: Path) -> None:
    """Drop what builds that were killed have left."""
    for leftover in folder.glob(".*-*"):
        try:
            if time.time() - leftover.stat().st_mtime > STALE:
                shutil.rmtree(leftover, ignore_errors=True)
        except FileNotFoundError:
            pass


def _compile(name: str, library: Path, sources, flags, compiler: Compiler, rewrites) -> str:
    """Run the compiler, in steps if the text between them is rewritten. Returns its log, raises CompileError with it."""
    words = [*BASE_FLAGS, *compiler.translate(tuple(flags))]
    environment = dict(os.environ)
    if compiler.kind == "zig":
        words.append("-fno-sanitize=undefined")  # zig's default, but its runtime is not in a shared library
        environment.setdefault("ZIG_GLOBAL_CACHE_DIR", str(paths.cache("zig")))
        environment.setdefault("ZIG_LOCAL_CACHE_DIR", str(paths.cache("zig")))
    rewrite, finish = rewrites
    if rewrite is None:
        return _run(name, library, [*words, *map(str, sources)], compiler, environment)
    texts, log = [], ""
    for number, source in enumerate(sources):
        text = library.parent.parent / f"{number}.ll"
        log += _run(name, text, [*words, *LLVM, *AS_IT_IS, str(source)], compiler, environment)
        text.write_text(rewrite(text.read_text("utf-8")), "utf-8")
        if finish:
            before, text = text, library.parent.parent / f"{number}.optimised.ll"
            log += _run(name, text, [*words, *LLVM, str(before)], compiler, environment)
            text.write_text(finish(text.read_text("utf-8")), "utf-8")
        texts.append(str(text))
    rest = AS_IT_IS if finish else AS_IT_IS[:1]
    return log + _run(name, library, [*words, *rest, *texts], compiler, environment)


def _run(name: str, made: Path, words: list[str], compiler: Compiler, environment: dict[str, str]) -> str:
    command = [*compiler.command, *words, "-o", str(made)]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)
    log = (result.stderr + result.stdout).strip()
    if result.returncode != 0 or not made.exists():
        first = next(
            (line for line in log.splitlines() if "error" in line), log.splitlines()[0] if log else "no message"
        )
        raise CompileError(
            f"{compiler.kind} could not compile {name}: {first.strip()} (The whole message is in .log.)", log
        )
    return f"{log}\n" if log else ""


def _why_no_compiler() -> str:
    if choice := os.environ.get("COURSE_COMPILER"):
        return f"COURSE_COMPILER={choice} leaves no C++ compiler to use. Unset it, or install what it names."
    return (
        "No C++ compiler was found. Install one: `sudo apt install g++` on Debian, Ubuntu and WSL, "
        "`xcode-select --install` on macOS, or `pip install ziglang` anywhere."
    )
