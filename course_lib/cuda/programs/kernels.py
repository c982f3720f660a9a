"""The kernels of a file that holds host code, too, or of a text with inline PTX: `Kernel("prog.cu", "name")` launches one.

The text is compiled as a whole program is, with its main, which is never called; behind it stand entry points as behind a text
of the course. Limit: the host code must compile, so a header that is not there is refused.
"""

from collections.abc import Sequence
from pathlib import Path

from course_lib import lexer, native
from course_lib.cuda import build, flags, source
from course_lib.cuda.errors import CompileError
from course_lib.cuda.programs import build as programs
from course_lib.cuda.programs import inline_ptx, launches
from course_lib.cuda.programs import text as preprocessed


def translation_unit(
    text: source.Source, names: Sequence[str], variables: Sequence[str], options: Sequence[str], checked: bool, counted: bool,
    compiler: native.Compiler,
) -> tuple[Path, tuple[str, ...]]:  # fmt: skip
    """A file to compile and its flags. names, variables: what gets entry points, in order."""
    file, given = text.folder / text.name, list(options)
    if not text.host:
        file = build.keep(f'#line 1 "{text.name}"\n{text.text}', ".cu")
        given += [f"-I{folder}" for folder in source.include_folders(text)]
    own, whole, first = programs.rewritten(file, given, checked, compiler)
    if not text.host:
        _refuse_hosts_assembly(text, own)
    lines = [f"SIM_KERNEL({number}, {name})" for number, name in enumerate(names)]
    lines += [f"SIM_GLOBAL({number}, {name})" for number, name in enumerate(variables)]
    ending = preprocessed.expand("\n".join([*lines, *build.dynamic_lines(own)]), first, compiler)
    content = f'{whole}# 1 "{build.ENTRIES}"\n{ending}'
    chosen = (
        programs.program_flags(own, checked, compiler) if not counted else flags.choose(own, (), False, True, compiler)
    )
    return build.keep(content, ".cpp"), (*chosen, *programs.meanings(checked), "-DSIM_PROGRAM")


def _refuse_hosts_assembly(text: source.Source, own: source.Source) -> None:
    """Raise CompileError for assembly that is not PTX: NVRTC takes no other, and here it would run on this machine."""
    left = inline_ptx.rewrite(own.text)
    if found := source.ASSEMBLY.search(lexer.read(left).code):
        file, line = launches.place(left, found.start())
        shown = text.text.splitlines()[line - 1].strip() if file == text.name else ""
        raise CompileError(
            f"{file}:{line}: This asm statement is not PTX, a GPU's instructions.\n    {shown}", line=line
        )
