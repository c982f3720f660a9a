"""One library of a program: its launches rewritten, then compiled by the flags of the fast or of the checked build."""

import ctypes
import re
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from course_lib import native
from course_lib.cuda import build, declarations, flags, launch, runtime, source, symbols
from course_lib.cuda.errors import CompileError, KernelError
from course_lib.cuda.programs import inline_ptx, launches, text

_OF_LEARNERS = re.compile(r"-W(?:all|error)|-DSIM_NEVER_WAITS")  # flags of the course's own texts
_SHARED = {False: "thread_local", True: "thread_local __attribute__((aligned(65536)))"}  # as SIM_SHARED of language.h
_OF_DRIVER = re.compile(r"CU[a-z]\w+|cu[A-BD-Z]\w+|CUDA_SUCCESS")
_OF_FOUR = re.compile(r"\b(?:float|int|uint)4\b")
_UNCHECKED = '__attribute__((no_sanitize("thread"), no_sanitize("bounds")))'


@dataclass(frozen=True)
class Program:
    """A compiled program: its library, its own text after the preprocessor, its files, and whether it is checked."""

    library: Path
    own: Path
    files: tuple[Path, ...]
    checked: bool
    compiler: str

    def to_json(self) -> dict:
        return {key: [str(path) for path in value] if key == "files" else value if key in ("checked", "compiler")
                else str(value) for key, value in asdict(self).items()}  # fmt: skip


def compile_program(files: Sequence[Path], options: Sequence[str], checked: bool) -> Program:
    """Compile a program of one or more .cu and .cpp files. options: -D, -I, -U. One file at most has dynamic shared memory.

    Raises KernelError where there is no compiler, CompileError with a sentence for what cannot be compiled.
    """
    for file in files:
        if not file.is_file():
            raise KernelError(f"There is no file {file}.")
    compiler = build.needed_compiler()
    runtime.library()
    units, texts = [], []
    for file in files:
        own, whole, first = rewritten(file, options, checked, compiler)
        units.append(build.keep(whole + f'# 1 "{build.ENTRIES}"\n' + _ending(own, first, compiler), ".cpp"))
        texts.append(own.text)
    own = source.Source("".join(texts), files[0].name)
    chosen = (*program_flags(own, checked, compiler), *meanings(checked))
    chosen += ("-lstdc++", "-lm") if checked and compiler.kind == "gcc" else ()
    if "<omp.h>" in own.text or re.search(r"^#pragma omp", own.text, re.MULTILINE):
        chosen += ("-fopenmp",) if compiler.kind == "gcc" else ()
    library = _compile(files[0].stem, units, chosen, compiler, checked)
    _refuse_large_arrays(library, own)
    kept = build.keep(own.text, ".cu")
    return Program(library, kept, tuple(file.resolve() for file in files), checked, compiler.kind)


def rewritten(
    file: Path, options: Sequence[str], checked: bool, compiler: native.Compiler
) -> tuple[source.Source, str, list[str]]:
    """A file's own text after the preprocessor; that with its headers, and launches as calls; the preprocessor's flags."""
    given = [*options, f"-I{file.resolve().parent}"]
    # The flags of the compilation to come: macros of the compiler say what processor it compiles for.
    first = [flag for flag in program_flags(source.Source("", ""), checked, compiler) if not flag.startswith("-Wl")]
    if re.search(r"\b__shared__\s+alignas\b", file.read_text(errors="replace")):
        first.append("-DSIM_ALIGNAS_ANYWHERE")
    first = [*compiler.translate(tuple(first)), *given]
    with tempfile.TemporaryDirectory() as folder:
        parts = text.preprocess([file], first, compiler, Path(folder))
    own = source.Source("".join(part.text for part in parts if part.own), file.name)
    parameters = {name: [p for _, p in kernel.parameters] for name, kernel in source.kernels(own).items()}
    unchecked = _UNCHECKED if checked else ""
    pieces = [
        launches.rewrite(launches.restore_variables(inline_ptx.rewrite(part.text)), parameters, unchecked)
        if part.own
        else part.text
        for part in parts
    ]
    if file.suffix == ".c":  # C++ here, too, but what it defines has C's names
        pieces = [
            f'extern "C" {{\n{piece}\n}}\n' if part.own else piece for piece, part in zip(pieces, parts, strict=True)
        ]
    return own, "".join(pieces), first


def program_flags(own: source.Source, checked: bool, compiler: native.Compiler) -> tuple[str, ...]:
    """The flags of a program, without those that are for the course's own texts."""
    chosen = [flag for flag in flags.choose(own, (), checked, False, compiler) if not _OF_LEARNERS.match(flag)]
    if compiler.kind == "gcc" and compiler.major < 14 and not checked and _OF_FOUR.search(own.code):
        # Of a float4, wider vectors load what lies behind it, too: test_public_programs.
        chosen.append("-mprefer-vector-width=128")
    return (*chosen, "-w", "-DSIM_PROGRAM")


def meanings(checked: bool) -> tuple[str, ...]:
    """What CUDA's words mean to the compiler, once they have been read off the text."""
    empty = (f"-D__{word}__=" for word in ("global", "device", "host", "constant", "managed"))
    return (*empty, f"-D__shared__={_SHARED[checked]}")


def _ending(own: source.Source, first: Sequence[str], compiler: native.Compiler) -> str:
    """What is written behind the program: its main, its kernels by their addresses, its dynamic shared memory."""
    lines = ["SIM_PROGRAM_MAIN"] if any(f.name == "main" for f in own.all_tokens.functions) else []
    for number, (name, parameters) in enumerate(_by_address(own).items()):
        lines.append(f'static int sim_known_{number} = sim::know(&{name}, "{name}", "{",".join(parameters)}");')
    return text.expand("\n".join([*lines, *build.dynamic_lines(own)]), first, compiler)


def _by_address(own: source.Source) -> dict[str, list[str]]:
    """The kernels that cudaLaunchKernel may be given by a cast address: no templates, no overloads. Name -> parameters."""
    found: dict[str, list[str]] = {}
    for kernel in source.kernels(own).values():
        heads = [f for f in own.all_tokens.functions if f.name == kernel.name]
        spaces = declarations.namespaces(own, heads[0].start) if len(heads) == 1 and not kernel.template else None
        if spaces is not None:
            found["::".join(["", *spaces, kernel.name])] = [name for _, name in kernel.parameters]
    return found


def _refuse_large_arrays(library: Path, own: source.Source) -> None:
    """Raise CompileError for an array in shared memory that no GPU has room for, as ptxas does."""
    for symbol in symbols.shared_arrays(library):
        if symbol.size <= launch.STATIC_SHARED:
            continue
        name = symbols.plain_name(symbol.name)
        declared = re.search(rf"\b__shared__\b[^;{{}}]*\b({re.escape(name)})\s*\[", own.code)
        if not declared:  # the host's own, of a thread
            continue
        file, line = launches.place(own.text, declared.start(1))
        raise CompileError(
            f"{Path(file).name}, line {line}: the __shared__ array '{name}' takes {symbol.size:,} bytes; a GPU gives at most "
            f"{launch.STATIC_SHARED:,} to arrays of fixed size. Use `extern __shared__`, and pass the bytes at the launch.",
            line=line,
        )


def _compile(name: str, units: list[Path], chosen: tuple[str, ...], compiler: native.Compiler, checked: bool) -> Path:
    ways, depends = build.rewrites(checked, compiler)
    try:
        return native.build(name, units, chosen, depends, compiler, **ways)
    except native.CompileError as error:
        raise _explained(error.log, name) from None


def _explained(log: str, name: str) -> CompileError:
    """The compiler's first error, with the program's line."""
    errors = [line for line in log.splitlines() if re.search(r"\berror\b", line)]
    first = next((line for line in errors if str(runtime.INCLUDE) not in line), errors[0] if errors else log.strip())
    match = re.match(r"(.*?):(\d+):(?:\d+:)? *(?:fatal )?error: (.*)", first)
    if not match:
        return CompileError(f"{name} did not compile.\n{first}", log=log)
    file, line, said = match.groups()
    if missing := re.search(rf"['‘](?:{_OF_DRIVER.pattern})['’]", said):
        said = f"the driver's functions are not simulated, those of the runtime are ({said})"
    elif missing := re.search(r"['‘](cuda[A-Z]\w+|cublas\w+|cuC\w+|tex\dD\w*|surf\dD\w*)['’]", said):
        said = f"{missing[1]} is not simulated ({said})"
    return CompileError(f"{Path(file).name}, line {line}: {said}", log=log, line=int(line))


def load(program: Program) -> ctypes.CDLL:
    """Open a program's library. Raises CompileError for a function that it calls and that nothing defines."""
    try:
        return ctypes.CDLL(str(program.library))
    except OSError as error:
        symbol = build.undefined_symbol(error)
        if symbol is None:
            raise
    raise _undefined(program, symbols.plain_name(symbol))


def _undefined(program: Program, name: str) -> CompileError:
    own = source.Source(program.own.read_text(), program.files[0].name)
    where, line = program.files[0].name, None
    if found := re.search(rf"\b{re.escape(name)}\s*\(", own.code):
        file, line = launches.place(own.text, found.start())
        where = f"{Path(file).name}, line {line}"
    if _OF_DRIVER.fullmatch(name):
        said = f"the driver's functions are not simulated, those of the runtime are ({name} is called)"
    elif re.fullmatch(r"cuda[A-Z]\w+", name):
        said = f"{name} is not simulated"
    else:
        said = f"'{name}' is declared, but no file that was given has its body. Name the .cu or .cpp file that has it, too."
    return CompileError(f"{where}: {said}", line=line)
