"""`from course_lib import ...` and the folders: lazy, and the same whatever was imported before."""

import importlib
import importlib.util
import subprocess
import sys

import pytest

import course_lib
from course_lib import paths
from course_lib.benchmarks.gpu import kernel_tests
from course_lib.cli import house, models, site


def fresh(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=paths.ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_importing_the_course_imports_no_package():
    heavy = fresh("import sys, course_lib; print([name for name in ('numpy', 'typer', 'rich') if name in sys.modules])")
    assert heavy == "[]"


@pytest.mark.parametrize(
    "before", ["", "import course_lib.gradcheck\n", "from course_lib.gradcheck import gradcheck\n"]
)
def test_gradcheck_is_the_function_whatever_was_imported_before(before):
    """The submodule has the same name, and importing it binds that name to the module."""
    code = f"{before}from course_lib import gradcheck, Tensor, no_grad, available_devices; print(callable(gradcheck))"
    assert fresh(code) == "True"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Tensr'"):
        course_lib.Tensr  # noqa: B018


def test_all_names_are_listed():
    assert set(course_lib.__all__) <= set(dir(course_lib))


def test_the_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "elsewhere"))
    assert paths.cache("data") == tmp_path / "elsewhere/data"
    assert paths.cache("data").is_dir()
    monkeypatch.delenv("COURSE_CACHE")
    assert paths.cache("data") == paths.ROOT / ".cache/data"


def test_help_needs_nothing_heavy():
    loaded = fresh(
        "import sys, contextlib, io; from course_lib import cli\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): cli.app(['--help'])\n"
        "print([name for name in ('numpy', 'matplotlib', 'regex', 'jupyterlab') if name in sys.modules])"
    )
    assert loaded == "[]"


@pytest.mark.parametrize("name", ["nothing", "versions"])  # the latter is a module that is no benchmark
def test_a_mistake_at_the_keyboard_is_a_sentence(name):
    run = subprocess.run(
        [sys.executable, "-m", "course_lib.cli", "bench", name], cwd=paths.ROOT, capture_output=True, text=True
    )
    assert run.returncode == 1
    assert f"There is no benchmark named '{name}'" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("name", house.BENCHMARKS)
def test_every_benchmark_that_is_named_is_there(name):
    assert callable(importlib.import_module(f"course_lib.benchmarks.{name}").run)


def test_every_process_means_the_same_cache_wherever_it_stands(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.chdir("/")
    monkeypatch.setenv("COURSE_CACHE", "kept")
    assert paths.cache("native") == tmp_path / "kept" / "native"
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "elsewhere"))
    assert paths.cache("native") == tmp_path / "elsewhere" / "native"


@pytest.mark.parametrize(
    ("make", "missing", "extra"),
    [
        (site.build, "furo", "site"),
        (lambda: models.serve_api("runs/small"), "uvicorn", "serve"),
        (lambda: kernel_tests.ops("simulator"), "hypothesis", "test"),
    ],
)
def test_what_needs_packages_of_an_extra_says_which_and_how_to_get_them(make, missing, extra, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else name)
    with pytest.raises(RuntimeError, match=rf"needs {missing}, not installed here: .*pip install .*\[{extra}\]"):
        make()
