"""`course lab`: the address that it prints answers with chapter 00, to who has the token, and nothing phones home."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from course_lib import lab
from course_lib.coach import catalogue
from course_lib.paths import ROOT


def test_a_port_that_is_taken_is_passed_over():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert lab.free_port(port) > port


def test_no_free_port_is_a_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(RuntimeError, match="No free port"):
            lab.free_port(taken.getsockname()[1], tries=1)


@pytest.mark.parametrize(
    "environment, opens", [({}, False), ({"DISPLAY": ":0"}, True), ({"WAYLAND_DISPLAY": "w"}, True)]
)
def test_a_browser_opens_only_where_there_is_a_desktop(monkeypatch, environment, opens):
    monkeypatch.setattr(lab.platform, "system", lambda: "Linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert lab.has_browser() is opens


def test_lectures_are_trusted_so_that_their_players_run(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    chapter = nbformat.read(ROOT / "notebooks" / "06_reductions.ipynb", as_version=4)
    assert not NotebookNotary().check_signature(chapter)
    lab.trust_lectures()
    assert NotebookNotary().check_signature(chapter)


def test_a_damaged_lecture_keeps_no_other_from_being_opened(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "05_elementwise.ipynb").write_text("<<<<<<< HEAD\n")
    shutil.copy(ROOT / "notebooks" / "06_reductions.ipynb", folder)
    monkeypatch.setattr(lab, "ROOT", tmp_path)
    lab.trust_lectures()
    assert NotebookNotary().check_signature(nbformat.read(folder / "06_reductions.ipynb", as_version=4))


def test_settings_lie_where_jupyterlab_reads_defaults(tmp_path):
    lab.write_settings(tmp_path)
    written = json.loads((tmp_path / "share/jupyter/lab/settings/overrides.json").read_text())
    assert written["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """`course lab` as a learner without a browser starts it, with Jupyter folders of its own; gives base URL and token."""
    home = tmp_path_factory.mktemp("home")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "DISPLAY"))}
    environment |= {"HOME": str(home)}
    process = subprocess.Popen(
        [sys.executable, "-m", "course_lib.cli", "lab", "--no-browser"], cwd=ROOT, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        base, token = re.search(
            r"(http://127\.0\.0\.1:\d+)/lab/tree/notebooks/00_start_here\.ipynb\?token=(\w+)", line
        ).groups()
        for _ in range(300):
            try:
                get(f"{base}/api/status?token={token}")
                break
            except OSError:
                assert process.poll() is None, "the server ended"
                time.sleep(0.2)
        yield base, token
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:  # it waits for a kernel that is busy: nobody needs either any more
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read().decode()


def test_the_printed_address_answers(server):
    base, token = server
    page = get(f"{base}/lab/tree/{lab.FIRST_CHAPTER}?token={token}")
    assert "<title>JupyterLab</title>" in page
    assert json.loads(get(f"{base}/api/contents/{lab.FIRST_CHAPTER}?token={token}"))["type"] == "notebook"


def test_the_colours_of_exercise_cells_are_installed(server):
    base, token = server
    page = get(f"{base}/lab?token={token}")
    assert '"name": "course-exercises"' in page
    languages = json.loads(get(f"{base}/lab/extensions/course-exercises/languages.json?token={token}"))
    assert languages == {name: exercise.language for name in catalogue.names()
                         if (exercise := catalogue.load(name)).is_kernel}  # fmt: skip


def test_nobody_enters_without_the_token(server):
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(f"{server[0]}/api/contents/notebooks")
    assert refused.value.code == 403


def test_the_kernel_of_the_notebooks_is_there(server):
    base, token = server
    assert "python3" in json.loads(get(f"{base}/api/kernelspecs?token={token}"))["kernelspecs"]


def test_news_and_update_checks_are_off(server):
    base, token = server
    plugin = "@jupyterlab/apputils-extension:notification"
    settings = json.loads(get(f"{base}/lab/api/settings/{plugin}?token={token}"))["schema"]["properties"]
    assert settings["fetchNews"]["default"] == "false"
    assert settings["checkForUpdates"]["default"] is False
    assert json.loads(get(f"{base}/lab/api/news?token={token}"))["news"] == []


@pytest.mark.slow
def test_a_browser_shows_the_chapter_and_asks_nobody_else(server, chromium):
    """The notebook is open, its kernel is ready, no question about news stands in the way, no other host was asked."""
    base, token = server
    asked, page = set(), chromium.new_page()
    page.on("request", lambda request: asked.add(request.url.split("/")[2] if "://" in request.url else "inline"))
    page.goto(f"{base}/lab/tree/{lab.FIRST_CHAPTER}?token={token}", timeout=120_000)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", state="attached", timeout=120_000)
    assert page.locator(".Toastify__toast, .jp-Dialog").count() == 0
    page.close()
    assert {host for host in asked if not host.startswith("127.0.0.1")} <= {"inline"}
