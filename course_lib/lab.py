"""Opens JupyterLab on chapter 00: what `make lab` and `course lab` do.

Promises: a free port, an address that is printed whether or not a browser opens, a token as Jupyter wants it, and no
call to the outside: news, update checks and the extension manager's look-ups are off.
"""

import json
import os
import platform
import secrets
import shutil
import socket
import sys
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary

from course_lib import environment
from course_lib.paths import ROOT, need_clone

FIRST_CHAPTER = "notebooks/00_start_here.ipynb"
FIRST_PORT = 8888

# What a learner's JupyterLab starts with; a choice made in its settings menu wins over these.
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Markdown Preview"}},  # the glossary
}


def free_port(first: int = FIRST_PORT, tries: int = 100) -> int:
    """The first port from `first` on that nobody listens to on this machine."""
    for port in range(first, first + tries):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError(f"No free port from {first} to {first + tries - 1}: close a few Jupyter servers and try again.")


def has_browser() -> bool:
    """Whether a window could open: on a Mac, or in a desktop session. A browser inside the terminal is no help."""
    return platform.system() == "Darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def write_settings(prefix: Path = Path(sys.prefix)) -> None:
    """Put SETTINGS where JupyterLab looks for the defaults of one environment."""
    folder = prefix / "share/jupyter/lab/settings"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "overrides.json").write_text(json.dumps(SETTINGS, indent=1))


def colour_exercises(prefix: Path = Path(sys.prefix)) -> None:
    """Put our extension where JupyterLab looks for those of one environment: a kernel's exercise cell is no Python."""
    from course_lib.coach import catalogue

    folder = prefix / "share/jupyter/labextensions/course-exercises"
    shutil.copytree(Path(__file__).parent / "labextension", folder, dirs_exist_ok=True)
    (folder / "languages.json").write_text(json.dumps(catalogue.languages()))


def trust_lectures() -> None:
    """Sign the lectures, so that what moves in their stored outputs runs before a cell does: Jupyter starts no script that
    comes with a file, unless its owner trusts it, and their code is run here anyway."""
    notary = NotebookNotary()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        try:
            notary.sign(nbformat.read(path, as_version=4))
        except Exception:  # damaged: JupyterLab says so when it is opened
            continue


def command(port: int, browser: bool) -> list[str]:
    """The command line that starts the server for this course."""
    line = [sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    line += [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url=/lab/tree/{FIRST_CHAPTER}", "--log-level=WARN"]
    line += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    line += ["--LabApp.extension_manager=readonly"]
    if not browser:
        line.append("--no-browser")
    if os.geteuid() == 0:
        line.append("--allow-root")  # a container's only user, often
    return line


def start(browser: bool = True) -> None:
    """Become the JupyterLab server; does not return. The token travels by environment, out of sight of `ps`."""
    need_clone()
    write_settings()
    environment.teach_ipython(Path(sys.prefix))
    trust_lectures()
    token = os.environ.setdefault("JUPYTER_TOKEN", secrets.token_hex(24))
    own = str(Path(sys.executable).parent)  # so that its terminals know `course`
    os.environ["PATH"] = os.pathsep.join([own, os.environ.get("PATH", os.defpath)])
    opens = browser and has_browser()
    from course_lib.coach import copies

    colour_exercises()
    for sentence in copies.refresh():  # your exercises are opened in exercises/mine
        print(sentence, flush=True)
    port = free_port()  # last, so that no other program takes it meanwhile
    print(
        f"The course is at   http://127.0.0.1:{port}/lab/tree/{FIRST_CHAPTER}?token={token}\n"
        f"{'Your browser opens there in a moment.' if opens else 'Open this address in a browser.'}"
        " Leave this terminal open; Ctrl-C, twice, stops the course.",
        flush=True,
    )
    os.execv(sys.executable, command(port, opens))
