"""The kernels that stand in the chapters pass NVIDIA's own compiler too, so that they run as they are on a GPU."""

import ast
import contextlib
import types
from pathlib import Path

import nbformat
import pytest

from course_lib import build
from course_lib.cuda import CompileError, nvrtc, source
from tests.nvrtc_here import needs_nvrtc

pytestmark = needs_nvrtc
CHAPTERS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("[0-9]*.ipynb"))


class Launchable:
    """What a recorded Kernel is in the place of: something that can be launched, and has a text."""

    def __init__(self, text: str):
        self.source = types.SimpleNamespace(text=text)

    def __call__(self, *launch, **options):
        pass


def kernels():
    """Text and name of each kernel that a chapter makes, and whether its cell expects a compile error.

    Texts are put together from pieces, so the statements that make them are run, with a Kernel that only writes down what it
    gets. Nothing is imported: a statement that needs more than strings fails, and is passed over.
    """
    for path in CHAPTERS:
        found: list[tuple[str, str]] = []

        def record(text, name, *options, found=found):
            found.append((text, name))
            return Launchable(text)

        space = {"Kernel": record}
        seen = set()
        for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
            if not build.is_run(cell):
                continue
            for statement in ast.parse(cell.source).body:
                if not isinstance(statement, ast.Import | ast.ImportFrom):
                    with contextlib.suppress(Exception):
                        exec(compile(ast.Module([statement], []), path.name, "exec"), space)
            for text, name in found:
                if "__global__" in text and (text, name) not in seen:
                    seen.add((text, name))
                    mark = f"{path.stem.split('_')[0]}-cell{number}-{name}"
                    yield pytest.param(text, name, "CompileError" in cell.source, id=mark)
            found.clear()


FOUND = list(kernels())


def test_the_chapters_have_kernels():
    assert sum(kernel.id.startswith("04-") for kernel in FOUND) >= 8


@pytest.mark.parametrize(("text", "name", "broken"), FOUND)
def test_nvidia_compiles_what_a_chapter_shows(text, name, broken):
    file, names = source.find(text), (name,)
    if broken:
        with pytest.raises(CompileError):
            nvrtc.compile_text(file, names, "sm_80")
    else:
        architecture = "sm_80" if "bf16" in text else "sm_75"  # bfloat16 and its tensor cores came later
        assert nvrtc.compile_text(file, names, architecture)[0][:4] == b"\x7fELF"
