"""Compile a `.cu` text for the simulator: the text itself between our header and a few lines of entry points.

flags.py says how each of the three builds is compiled. Libraries are cached by course_lib.native.
"""

import ctypes
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from course_lib import native, paths
from course_lib.cuda import debug_locations, declarations, diagnostics, flags, runtime, source, symbols, vector_access
from course_lib.cuda.errors import CompileError, KernelError
from course_lib.cuda.parameters import Parameter

SHARED_BYTES = 227 << 10
ENTRIES = "entry points"
FIRST = runtime.INCLUDE / "simulator.h"  # what each text begins with


@dataclass
class Library:
    """One compiled file. `kernels` maps a name expression to its number."""

    source: source.Source
    path: Path
    handle: ctypes.CDLL
    kernels: dict[str, int]
    globals: dict[str, int]
    checked: bool
    counted: bool
    compiler: str
    prepared: dict[str, Any] = field(default_factory=dict, repr=False)  # see launch.prepare


@dataclass
class Module:
    """A `.cu` text with its options; builds when something of it is first launched."""

    source: source.Source
    options: tuple[str, ...]
    translate: Callable | None = None  # of a text with host code or PTX: programs.kernels.translation_unit
    wanted: list[str] = field(default_factory=list)
    built: dict[tuple, list[Library]] = field(default_factory=dict)

    def want(self, name: str) -> None:
        """Compile `name` together with whatever else has been asked for before the first launch."""
        if name not in self.wanted:
            self.wanted.append(name)

    def library(self, name: str, checked: bool, counted: bool = False) -> Library:
        compiler = native.find_compiler()
        built = self.built.setdefault((checked, counted, compiler and compiler.words), [])
        for library in built:
            if name in library.kernels:
                return library
        known = {kernel for library in built for kernel in library.kernels}
        plain = [k.name for k in source.kernels(self.source).values() if not k.template]
        names = [n for n in dict.fromkeys([*plain, *self.wanted]) if n not in known]
        library = self._build(name, names, checked, counted)
        built.append(library)
        return library

    def _build(self, name: str, names: list[str], checked: bool, counted: bool) -> Library:
        if not self.source.host:
            source.refuse_unsupported(self.source)
        try:
            return compile_library(self.source, names, self.options, checked, counted, self.translate)
        except CompileError as error:
            # A kernel that the preprocessor leaves out, or a wrong template expression of another launch.
            if names == [name] or not error.in_entries:
                raise
            return compile_library(self.source, [name], self.options, checked, counted, self.translate)


_modules: dict[tuple, Module] = {}


def module(text: source.Source, options: tuple[str, ...], translate: Callable | None) -> Module:
    """The one module of a text and its options in this process."""
    return _modules.setdefault((text.digest, text.folder, text.host, options), Module(text, options, translate))


def compile_library(
    text: source.Source, names: list[str], options: tuple[str, ...], checked: bool, counted: bool = False,
    translate: Callable | None = None,
) -> Library:  # fmt: skip
    """Compile the named kernels of `text`. Raises CompileError with the learner's own lines."""
    compiler = needed_compiler()
    runtime.library()
    variables = [variable.name for variable in declarations.device_variables(text)]
    headers = _headers()
    depends = [*headers, *text.includes]
    if translate:
        file, chosen = translate(text, names, variables, options, checked, counted, compiler)
        ways: dict[str, Any] = {}
    else:
        file = _translation_unit(text, names, variables)
        chosen = flags.choose(text, options, checked, counted, compiler)
        ways = {"header": [FIRST, *headers]}
    rewritten, by = rewrites(checked, compiler)
    ways |= rewritten
    depends += by
    try:
        try:
            path = native.build(Path(text.name).stem, [file], chosen, depends, compiler, **ways)
        except native.CompileError as error:
            if not diagnostics.only_lengths(error.log):
                raise
            path = native.build(Path(text.name).stem, [file], (*chosen, "-Wno-format"), depends, compiler, **ways)
    except native.CompileError as error:
        raise diagnostics.explain(error.log, text, names) from None
    try:
        handle = ctypes.CDLL(str(path))
    except OSError as error:
        raise undefined(error, text) from None
    numbers = {name: i for i, name in enumerate(names)}
    numbered = {n: i for i, n in enumerate(variables)}
    return Library(text, path, handle, numbers, numbered, checked, counted, compiler.kind)


def prepare() -> None:
    """What each compilation of a checked build begins with: the runtime, and a precompiled header that is whole."""
    runtime.library()
    if compiler := native.find_compiler():
        native.precompile([FIRST, *_headers()], flags.choose(source.find(""), (), True, False, compiler), compiler)


def needed_compiler() -> native.Compiler:
    """The compiler of this machine. Raises KernelError where there is none."""
    compiler = native.find_compiler()
    if compiler is None:
        raise KernelError(
            "Running CUDA C++ without a GPU needs a C++ compiler, and none was found. Install one: `sudo apt install g++` "
            "on Debian, Ubuntu and WSL, `xcode-select --install` on macOS, or `pip install ziglang` anywhere."
        )
    return compiler


def rewrites(checked: bool, compiler: native.Compiler) -> tuple[dict[str, Any], list[Path]]:
    """How `native.build` rewrites what clang compiles for a checked build, and the files that do that."""
    if not checked or compiler.kind == "gcc":
        return {}, []
    ways = {"rewrite": for_clang, "finish": debug_locations.restore}
    return ways, [Path(vector_access.__file__), Path(debug_locations.__file__)]


def for_clang(text: str) -> str:
    """What clang's optimiser is to find in LLVM's text of a checked build."""
    return debug_locations.keep_branches_apart(vector_access.keep_vector_accesses(text))


def undefined_symbol(error: OSError) -> str | None:
    """The symbol that a library lacks, by the loader's message."""
    symbol = re.search(r"undefined symbol: (\w+)|symbol not found in flat namespace '_?(\w+)'", str(error))
    return symbol and (symbol.group(1) or symbol.group(2))


def undefined(error: OSError, text: source.Source) -> Exception:
    """The sentence for a function that a text declares and calls, but that nothing defines."""
    symbol = undefined_symbol(error)
    if symbol is None:
        return error
    name = symbols.plain_name(symbol)
    declared = re.search(rf"\b{re.escape(name)}\s*\(", text.code)
    line = text.text.count("\n", 0, declared.start()) + 1 if declared else None
    where = f"{text.name}, line {line}" if line else text.name
    return CompileError(
        f"{text.name} did not compile.\n{where}: '{name}' is declared, but it has no body, and no header of the course has "
        f"one.\n  Write the function itself, or include the file that has it.",
        line=line,
    )


def _translation_unit(text: source.Source, names: list[str], variables: list[str]) -> Path:
    """Write the text with its entry points to a file of its own."""
    lines = [f'#include "{FIRST.name}"', f'#line 1 "{text.name}"', text.text, "#undef asm", f'#line 1 "{ENTRIES}"']
    lines += [f"SIM_KERNEL({i}, {name})" for i, name in enumerate(names)]
    lines += dynamic_lines(text)
    lines += [f"SIM_GLOBAL({i}, {name})" for i, name in enumerate(variables)]
    return keep("\n".join(lines) + "\n", ".cpp")


def dynamic_lines(text: source.Source) -> list[str]:
    """What defines the arrays of dynamic shared memory of a text: all of them begin at the same place."""
    dynamic = declarations.dynamic_shared(text)
    first = [f"SIM_DYNAMIC_BYTES({SHARED_BYTES})"] if dynamic else []
    return first + [f"SIM_DYNAMIC({array.symbol}, {array.mangled})" for array in dynamic]


def keep(content: str, suffix: str) -> Path:
    """A file of this content, beside the sources that are kept."""
    folder = native.cache_folder() / "sources"
    folder.mkdir(exist_ok=True)
    file = folder / f"{hashlib.sha256(content.encode()).hexdigest()[:24]}{suffix}"
    if not file.exists():
        paths.write_whole(file, content)  # another process or thread may be writing the same
    return file


@cache
def _headers() -> tuple[Path, ...]:
    """The simulator's own, those without an ending and the linker's script among them, and those of its runtime."""
    included = sorted(path for path in runtime.INCLUDE.rglob("*") if path.is_file())
    return *included, *sorted(runtime.RUNTIME.glob("*.h"))


def parameters(library: Library, name: str) -> list[Parameter]:
    """The types of a kernel's parameters, as the compiler sees them."""
    out = (Parameter * 256)()
    count = getattr(library.handle, f"sim_parameters_{library.kernels[name]}")(out)
    return list(out[:count])
