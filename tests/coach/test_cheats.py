"""What an answer may try: none of it passes, none of it reaches the next verdict or the learner's files."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from course_lib import guard
from course_lib.coach import sandbox, state
from course_lib.coach import verdict as verdicts
from course_lib.paths import ROOT

from .conftest import piece

HEAD = "def repeated_axes(shape, to):\n"
WRONG = HEAD + "    return (42,)\n"


@pytest.mark.parametrize(
    "text",
    [
        "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'{}\\n')\n    except OSError: pass\n" + WRONG,
        "import os, pickle\nfake = pickle.dumps({'result': (0,)})\nfor fd in range(3, 64):\n    try:\n"
        "        os.write(fd, bytes(16) + len(fake).to_bytes(8, 'little') + fake)\n    except OSError:\n        pass\n" + WRONG,
        "import os\nos.closerange(3, 64)\n" + WRONG,
        "import sys\nsys.stdout.write('{\"verdict\": {\"passed\": true}}\\n')\n" + WRONG,
        "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + WRONG,
    ],
    ids=["lines", "a forged message", "closed", "printed", "kills the judge"],
)  # fmt: skip
def test_what_is_written_anywhere_shifts_no_verdict(ask, text):
    """Once every later verdict was the one before it, so that a wrong answer was recorded as passed."""
    verdict = ask(text)
    assert not verdict.passed
    if "fd" in text or "closerange" in text:
        assert "the connection over which its results are sent" in verdict.why
    for _ in range(2):
        assert ask(piece("repeated_axes").solution).passed
        other = ask(piece("warmup_linear").blank, "warmup_linear")
        assert not other.passed and other.name == "warmup_linear"


@pytest.mark.parametrize(
    "text",
    [
        # from the library, under its own name or another
        "from course_lib.tensor.shapes import repeated_axes",
        "from course_lib.tensor import shapes\n" + HEAD + "    return shapes.repeated_axes(shape, to)",
        "import importlib\n" + HEAD
        + "    return getattr(importlib.import_module('course_lib.tensor.shapes'), 'repeated_' + 'axes')(shape, to)",
        # what the judge compares with
        "from course_lib.coach import catalogue\n" + HEAD
        + "    e = catalogue.load('repeated_axes')\n    from course_lib.coach import answers\n"
        "    holder, name = answers.resolve(e.target)\n    return getattr(holder, name)(shape, to)",
        # a caller's frame
        "import sys\n" + HEAD + "    frame = sys._getframe()\n    while frame:\n"
        "        for key in ('expected', 'want'):\n            if key in frame.f_locals:\n"
        "                found = frame.f_locals[key]\n                return found[0] if key == 'want' else found\n"
        "        frame = frame.f_back\n    return (42,)",
        # what compares
        "import numpy as np\nnp.allclose = np.array_equal = lambda *a, **k: True\n" + WRONG,
        "from course_lib.coach import compare, diagnosis\ncompare.difference = lambda *a, **k: None\n" + WRONG,
        "from course_lib.coach.outcome import Outcome\nOutcome.right = property(lambda self: True)\n" + WRONG,
        "from course_lib.coach import judge\njudge.judge = lambda *a, **k: {'passed': True}\n" + WRONG,
        # a result that equals everything
        "class Yes(tuple):\n    def __eq__(self, other): return True\n    __hash__ = None\n" + HEAD + "    return Yes()",
        "class Yes:\n    def __eq__(self, other): return True\n    def __reduce__(self): return (print, ('reached',))\n"
        + HEAD + "    return Yes()",
    ],
)  # fmt: skip
def test_what_is_right_is_out_of_reach(ask, text):
    verdict = ask(text)
    assert not verdict.passed, verdicts.text(verdict)
    assert "reached" not in verdict.printed


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_an_op_of_the_library_is_no_answer(ask, device):
    text = "from course_lib.devices import ops\ndef softmax_backward(dy, y):\n    return "
    verdict = ask(f"{text}ops({device!r}).softmax_backward(dy, y)", "softmax_backward")
    assert not verdict.passed and "this calls ours" in verdict.why, verdicts.text(verdict)


@pytest.mark.parametrize(
    "opens",
    [
        f"open({str(ROOT / 'course_lib/tensor/shapes.py')!r}).read()",
        f"open({str(ROOT / 'solutions/01_tensors.py')!r}).read()",
        "__import__('inspect').getsource(__import__('course_lib.tensor.shapes').tensor.shapes.repeated_axes)",
    ],
    ids=["the library", "a solution", "getsource"],
)
def test_an_answer_that_reads_our_text_is_told_so(ask, opens):
    text = f"text = {opens}\n" + piece("repeated_axes").solution
    verdict = ask(text)
    assert not verdict.passed and "this uses ours: the text of " in verdict.why, verdicts.text(verdict)


def test_an_answer_may_import_what_imports_our_files(ask):
    assert ask("import course_lib.generation\n" + piece("repeated_axes").solution).passed


def test_the_pieces_that_a_task_gives_may_be_called(ask):
    """The block of chapter 14 is made of the library's layers: only what the task asks for must be written."""
    assert ask(piece("block_forward").solution, "block_forward").passed


needs_a_guard = pytest.mark.skipif(
    bool(guard.problem()), reason="this system cannot shut a process off from files: it has no Landlock"
)


@needs_a_guard
@pytest.mark.parametrize("how", ["unlink", "write", "rename", "subprocess"])
def test_files_of_the_learner_are_out_of_reach(ask, tmp_path, how):
    canary = tmp_path / "canary.txt"
    canary.write_text("alive")
    state.save("scale", "an answer")
    other = state.answer_file("scale")
    before = other.read_text()
    for file in (canary, other):
        act = {
            "unlink": f"os.unlink({str(file)!r})",
            "write": f"open({str(file)!r}, 'w').write('dead')",
            "rename": f"os.rename({str(file)!r}, 'mine')",
            "subprocess": f"import subprocess; subprocess.run(['rm', '-f', {str(file)!r}])",
        }[how]
        text = f"import os\ntry:\n    {act}\nexcept OSError as error:\n    print(error)\n"
        assert ask(text + piece("repeated_axes").solution).passed, "a right answer passes all the same"
    assert canary.read_text() == "alive" and other.read_text() == before


@needs_a_guard
def test_an_answer_has_a_folder_of_its_own(ask):
    text = """import pathlib, tempfile
pathlib.Path("mine.txt").write_text("here")
with tempfile.NamedTemporaryFile() as file:
    file.write(b"there")
print(pathlib.Path.cwd())
"""
    verdict = ask(text + piece("repeated_axes").solution)
    folder = Path(verdict.printed.strip())
    assert verdict.passed and not folder.exists() and not folder.with_suffix(".printed").exists()


SCALE = "__global__ void scale(const float* x, float* y, float s, int n) {"


@pytest.mark.parametrize(
    "text, name",
    [
        ('static int gone = remove("canary.txt");\n', "remove"),
        ("#include <thread>\nstatic std::thread other([] {});\n", "thread"),
        ('struct Early { Early() { system("true"); } } early;\n', "system"),
        ('#include <fstream>\nstatic std::ofstream file("canary.txt");\n', "fstream"),
        ('extern "C" int unlink(const char*);\nstatic int gone = unlink("canary.txt");\n', "unlink"),
        ("__attribute__((constructor)) void early() {}\n", "constructor"),
    ],
)
def test_host_code_in_a_kernel_is_refused_by_name(ask, text, name):
    verdict = ask(text + piece("scale").solution, "scale")
    assert not verdict.passed and not verdict.loaded, verdicts.text(verdict)
    assert re.search(rf"line \d.*{name}|{name}.*host", verdict.why, re.DOTALL), verdict.why


def test_a_kernel_leaves_its_const_inputs_alone(ask):
    text = (
        SCALE
        + """
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = s * x[i];
        ((float*)x)[i] = 0.0f;
    }
}"""
    )
    verdict = ask(text, "scale")
    assert not verdict.passed and verdict.why.startswith("Your kernel changes `x`."), verdicts.text(verdict)
    assert not ask(text.replace("const float* x", "float* x").replace("((float*)x)", "x"), "scale").passed


def test_a_kernel_includes_no_finished_piece(ask):
    verdict = ask('#include "unary.cu"\n' + piece("scale").solution, "scale")
    assert not verdict.passed and "unary.cu" in verdict.why


@pytest.mark.parametrize(
    "body, says",
    [
        (
            "    room[: y.size] = right.ravel()\n    return room[: y.size].reshape(y.shape)",
            "the memory of the result before",
        ),
        ("    y[...] = right\n    return y", "`y` was changed by your code"),
    ],
)
def test_the_result_of_an_op_is_a_new_array(ask, body, says):
    text = f"""room = np.empty(1 << 16)
def softmax_backward(dy, y):
    global room
    room = room.astype(y.dtype) if room.dtype != y.dtype else room
    right = y * (dy - (dy * y).sum(axis=-1, keepdims=True))
{body}"""
    verdict = ask(text, "softmax_backward")
    assert not verdict.passed and says in verdict.why, verdicts.text(verdict)


@pytest.mark.parametrize(
    "text, kind",
    [
        ("    return np.matrix([[0]])", "matrix"),
        ("    return np.ma.masked_array([0])", "MaskedArray"),
        ("    return (one for one in (0,))", "generator"),
        ("    return np.array([object()])", "objects"),
        ("    return lambda: 0", "function"),
    ],
)
def test_what_is_no_plain_data_is_named(ask, text, kind):
    verdict = ask(HEAD + text)
    assert not verdict.passed and kind in verdicts.text(verdict), verdicts.text(verdict)


def test_what_comes_from_a_sandbox_is_data_alone():
    import os
    import pickle

    from course_lib.coach import plain

    class Evil:
        def __reduce__(self):
            return os.system, ("true",)

    with pytest.raises(plain.NotPlain):
        plain.loads(pickle.dumps(Evil()))
    with pytest.raises(plain.NotPlain):
        plain.loads(b"nonsense")
    value = {"a": [1, 2.5, None, True, "text", b"bytes", (1j, {3}), range(3)]}
    assert plain.loads(pickle.dumps(plain.as_plain(value))) == value


def test_a_process_is_ended_with_all_that_it_started(ask):
    text = "import subprocess\nprint(subprocess.Popen(['sleep', '60']).pid)\n" + piece("repeated_axes").solution
    pid = int(ask(text).printed)
    deadline = time.monotonic() + 30
    while alive(pid) and time.monotonic() < deadline:  # killed already, but the system takes its time
        time.sleep(0.01)
    assert not alive(pid)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_where_a_fork_is_not_safe_a_process_is_started_ahead(monkeypatch):
    monkeypatch.setattr(sandbox, "FRESH", True)
    from course_lib.coach import judge as judging

    for text, passes in ((piece("repeated_axes").solution, True), ("import os\nos._exit(5)", False)) * 2:
        verdict = judging.judge({"name": "repeated_axes", "text": text})
        assert verdict["passed"] == passes and (passes or "status 5" in verdict["why"])


def test_our_ring_is_found_on_virtual_ranks_too(ask):
    """They are threads, in which a profile function of the main thread sees nothing."""
    text = "def ring_all_reduce(communicator, x):\n    return ring.ring_all_reduce(communicator, x)\n"
    verdict = ask(text, "ring_all_reduce")
    assert not verdict.passed and "calls ours: course_lib.parallel.ring.ring_all_reduce" in verdict.why
