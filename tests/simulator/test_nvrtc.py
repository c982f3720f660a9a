"""Every `.cu` of the repository passes NVIDIA's own compiler, for every architecture that its header names. No GPU needed."""

import numpy as np
import pytest

from course_lib import paths
from course_lib.cuda import CompileError, Kernel, nvrtc, source
from tests.nvrtc_here import needs_nvrtc

pytestmark = needs_nvrtc
FOLDERS = ("kernels", "course_lib", "tests", "exercises", "solutions")
OTHERS = {"mine", "programs"}  # the learner's; whole programs, which NVRTC does not take
FILES = sorted(path for folder in FOLDERS for path in (paths.ROOT / folder).rglob("*.cu") if not OTHERS & {*path.parts})
HEAVY = "cooperative_groups"  # NVIDIA's headers take seconds


def cases():
    for path in FILES:
        text = source.find(path)
        for architecture in nvrtc.architectures(text):
            marks = [pytest.mark.slow] if HEAVY in text.text and architecture != "sm_80" else []
            yield pytest.param(path, architecture, id=f"{path.stem}-{architecture}", marks=marks)


@pytest.mark.parametrize(("path", "architecture"), list(cases()))
def test_nvidia_compiles_it(path, architecture):
    text = source.find(path)
    names = tuple(kernel.name for kernel in source.kernels(text).values() if not kernel.template)
    cubin, lowered = nvrtc.compile_text(text, names, architecture)
    assert cubin[:4] == b"\x7fELF" and set(lowered) == set(names)


def test_template_instances_and_the_simulators_limits():
    text = source.find("template <int N> __global__ void f(float* y) { y[threadIdx.x] = N + INFINITY; }")
    _, lowered = nvrtc.compile_text(text, ("f<32>",), "sm_80")
    assert "32" in lowered["f<32>"]


def test_errors_have_the_learners_lines_and_a_sentence():
    text = source.find(
        'extern "C" __global__ void f(const float* x) {\n    int i = threadidx.x;\n    x[0] = 1.0f;\n}\n'
    )
    with pytest.raises(CompileError) as caught:
        nvrtc.compile_text(text, ("f",), "sm_80")
    message = str(caught.value)
    assert "line 2" in message and "spelled threadIdx" in message and "line 3" in message and "`const`" in message


def test_what_nvidia_refuses_passes_here_neither():
    """Overloads that CUDA does not have, and what a GPU's compiler does not know."""
    y = np.zeros(1, np.int64)
    for body in ("atomicAdd((long long*)y, 1ll);", "y[0] = nonsense(1);"):
        code = f'extern "C" __global__ void f(long long* y) {{ {body} }}'
        with pytest.raises(CompileError):
            nvrtc.compile_text(source.find(code), ("f",), "sm_80")
        with pytest.raises(CompileError):
            Kernel(code, "f")((1,), (1,), (y,))


def test_what_was_compiled_once_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(nvrtc.native, "cache_folder", lambda: tmp_path)
    text = source.find("template <int N> __global__ void f(float* y) { y[threadIdx.x] = N; }")
    first = nvrtc.kept(text, ("f<8>",), "sm_80")
    with monkeypatch.context() as patch:
        patch.setattr(nvrtc, "compile_text", lambda *_: pytest.fail("compiled again"))
        assert nvrtc.kept(text, ("f<8>",), "sm_80") == first
    assert first[0][:4] == b"\x7fELF"
    assert nvrtc.kept(text, ("f<9>",), "sm_80")[1].keys() == {"f<9>"}
    (tmp_path / "cubins" / next((tmp_path / "cubins").iterdir()).name).write_bytes(b"{cut")
    assert nvrtc.kept(text, ("f<8>",), "sm_80") == first and nvrtc.kept(text, ("f<9>",), "sm_80")[0][:4] == b"\x7fELF"
