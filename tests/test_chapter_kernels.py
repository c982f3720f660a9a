"""The kernels that stand in the chapters pass NVIDIA's own compiler too, so that they run as they are on a GPU."""

import ast
from pathlib import Path

import nbformat
import pytest

from course_lib.cuda import CompileError, nvrtc, source

pytestmark = pytest.mark.skipif(
    not nvrtc.available(),
    reason="NVRTC is not installed: pip install cupy-cuda13x nvidia-cuda-nvrtc nvidia-cuda-runtime",
)
CHAPTERS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("[0-9]*.ipynb"))


def kernels():
    """Each string of a code cell that holds whole kernels, and whether its cell expects a compile error."""
    for path in CHAPTERS:
        for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
            if cell.cell_type != "code" or "__global__" not in cell.source:
                continue
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    text = node.value
                    if "__global__" in text and text.count("{") == text.count("}"):
                        name = f"{path.stem.split('_')[0]}-cell{number}"
                        yield pytest.param(text, "CompileError" in cell.source, id=name)


FOUND = list(kernels())


def test_the_chapters_have_kernels():
    assert sum(kernel.id.startswith("04-") for kernel in FOUND) >= 8


@pytest.mark.parametrize(("text", "broken"), FOUND)
def test_nvidia_compiles_what_a_chapter_shows(text, broken):
    file = source.find(text)
    names = tuple(kernel.name for kernel in source.kernels(file).values() if not kernel.template)
    if broken:
        with pytest.raises(CompileError):
            nvrtc.compile_text(file, names, "sm_80")
    else:
        architecture = "sm_80" if "bf16" in text else "sm_75"  # bfloat16 and its tensor cores came later
        assert nvrtc.compile_text(file, names, architecture)[0][:4] == b"\x7fELF"
