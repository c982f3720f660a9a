"""What every test shares: the `--peers` option, one deterministic Hypothesis profile, skips counted in a sentence."""

import importlib.util
import os
import shutil
import signal
from collections import Counter
from pathlib import Path

# Two workers on two cores: BLAS threads on top of them would only fight. Set before anything imports NumPy,
# and inherited by the kernels that run the notebooks and by every child process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "course",
    derandomize=True,  # the same examples on every run: a red test stays red until it is fixed
    max_examples=20,
    deadline=None,  # a busy machine is no bug
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("course")

# Quiet towards the network, and with WebGPU by a program where there is no GPU, for pages of this machine.
CHROMIUM = ["--no-sandbox", "--enable-unsafe-webgpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync"]  # fmt: skip

# What takes longest starts first: a module's tests stay on one worker, and none shall wait for them at the end.
LONGEST = ("test_verify.py", "test_notebooks_run.py", "test_engine_exercises.py", "test_bench_gpu.py", "test_web_browser.py",
           "test_zoo.py", "test_setup_doctor.py")  # fmt: skip

WEBGPU_CHAPTER = "18_webgpu.ipynb"

PEERS = ("torch", "tokenizers", "tiktoken", "transformers", "einops", "fla")
PEERS_REASON = "compares with PyTorch, transformers, tokenizers or tiktoken, which only make test PEERS=1 installs"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--peers", action="store_true", help="also compare with PyTorch, tokenizers and tiktoken")


def pytest_configure(config: pytest.Config) -> None:
    # A shell that starts the tests in the background has them ignore Ctrl-C, and so would every child they press it on.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    missing = [name for name in PEERS if importlib.util.find_spec(name) is None]
    if config.getoption("--peers") and missing:
        raise pytest.UsageError(f"--peers needs {', '.join(missing)}; make test PEERS=1 installs it.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if any(hasattr(item, "cell") for item in items):
        from course_lib import build  # here alone: it wants nbformat, which a rented machine with a card need not have

        # The cell of an exercise in a lecture is the reader's: no test of nbval's, so not a skipped one either; see
        # coach/test_notebooks_run.py.
        items[:] = [item for item in items if not hasattr(item, "cell") or build.is_run(item.cell)]
    cells = [item for item in items if item.path.name == WEBGPU_CHAPTER]
    if cells:
        from course_lib.devices.webgpu import adapter

        if problem := adapter.problem():
            for cell in cells:
                cell.add_marker(
                    pytest.mark.skip(reason=f"the chapter about WebGPU cannot run here. {problem}".rstrip("."))
                )
    items.sort(key=lambda item: item.path.name not in LONGEST and not hasattr(item, "cell"))  # else as they came
    if config.getoption("--peers"):
        return
    for item in items:
        if item.get_closest_marker("peers"):
            item.add_marker(pytest.mark.skip(reason=PEERS_REASON))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which notebooks are the reader's, where a test failed; and how many were skipped and why, so that none goes unseen."""
    if terminalreporter.stats.get("failed"):
        from course_lib.coach import update

        if changed := update.changed_notebooks():
            more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            terminalreporter.write_line("")
            terminalreporter.write_line(
                f"Not as they came with the course: {', '.join(changed[:3])}{more}. If you worked in them, tests fail for that "
                "alone. `.venv/bin/course update` sets your copies aside, and brings the course's own back."
            )
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    listed = "; ".join(f"{count} because: {reason}" for reason, count in reasons.most_common())
    noun = "test was" if len(skipped) == 1 else "tests were"
    terminalreporter.write_line("")
    terminalreporter.write_line(f"{len(skipped)} {noun} skipped: {listed}.")


def cache_below(folder: Path) -> Path:
    """A cache of its own for what is prepared; what was compiled is that of all."""
    from course_lib import paths

    (folder / "cache").mkdir()
    (folder / "cache" / "native").symlink_to(paths.cache("native"))
    return folder / "cache"


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The path of a file of 20,000 random words to train on, with a cache of its own beside it."""
    import numpy as np

    folder = tmp_path_factory.mktemp("text")
    words = np.random.default_rng(0).choice("the a cat dog sat ran on under red blue mat tree and then".split(), 20_000)
    (folder / "words.txt").write_text(" ".join(words))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_CACHE", str(cache_below(folder)))
        yield str(folder / "words.txt")


@pytest.fixture(scope="module")
def chromium():
    """The Chromium of this machine, without a window, driven by Playwright."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no Chromium on PATH")
    api = pytest.importorskip("playwright.sync_api", reason="Playwright comes with make test PEERS=1")
    with api.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture
def set_threads():
    """Of the compiled loops of the device `cpu`: how many threads share them, until the test ends."""
    from course_lib import devices, native
    from course_lib.devices.cpu import compiled

    devices.ops("cpu")
    yield compiled.loops.set_threads
    compiled.loops.set_threads(native.threads())


@pytest.fixture(
    params=[
        pytest.param("gcc", marks=pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")),
        pytest.param("clang", marks=pytest.mark.skipif(not shutil.which("clang++"), reason="clang++ is not installed")),
    ]
)
def compiler(request, monkeypatch):
    """The test runs once for each compiler of this machine: the one that builds its kernels."""
    monkeypatch.setenv("COURSE_COMPILER", request.param)
    return request.param
