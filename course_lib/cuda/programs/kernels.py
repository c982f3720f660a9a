"""The kernels of a file that holds host code, too: `Kernel("prog.cu", "name")` launches one from Python.

The file is compiled as a whole program is, its main among it, which nobody calls; behind it stand entry points as behind a text
of the course. Limit: the host code must compile, so a header that is not there is refused.
"""

from collections.abc import Sequence
from pathlib import Path

from course_lib import native
from course_lib.cuda import build, flags, source
from course_lib.cuda.programs import build as programs
from course_lib.cuda.programs import text as preprocessed


def translation_unit(
    text: source.Source, names: Sequence[str], variables: Sequence[str], options: Sequence[str], checked: bool, counted: bool,
    compiler: native.Compiler,
) -> tuple[Path, tuple[str, ...]]:  # fmt: skip
    """A file to compile and its flags. names, variables: what gets entry points, in order."""
    own, whole, first = programs.rewritten([text.folder / text.name], options, checked, compiler)
    lines = [f"SIM_KERNEL({number}, {name})" for number, name in enumerate(names)]
    lines += [f"SIM_GLOBAL({number}, {name})" for number, name in enumerate(variables)]
    ending = preprocessed.expand("\n".join([*lines, *build.dynamic_lines(own)]), first, compiler)
    content = f'{whole}# 1 "{build.ENTRIES}"\n{ending}'
    chosen = (
        programs.program_flags(own, checked, compiler) if not counted else flags.choose(own, (), False, True, compiler)
    )
    return build.keep(content, ".cpp"), (*chosen, *programs.meanings(checked), "-DSIM_PROGRAM")
