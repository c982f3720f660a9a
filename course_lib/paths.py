"""Where the course's files lie.

Promises: `ROOT` is the folder that was cloned; `cache(name)` is an existing folder for what can be made again; a file that
`write_whole` writes is never seen half written; `pip_command` says how to add to what is installed.
Limit: the course runs from its clone (an editable install), since notebooks and kernels lie beside the library.
"""

import os
import shlex
import sys
import threading
from pathlib import Path

ROOT: Path = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"


def cache(name: str) -> Path:
    """The folder `name` below $COURSE_CACHE, or below `<clone>/.cache`; made if it is not there yet."""
    folder = Path(os.environ.get("COURSE_CACHE") or ROOT / ".cache") / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def pip_command(extra: str) -> str:
    """How to install an extra of pyproject.toml, typed in the course's folder."""
    python = ".venv/bin/python" if Path(sys.prefix) == VENV else shlex.quote(sys.executable)
    return f"{python} -m pip install -e '.[{extra}]'"


def write_whole(path: Path, content: str | bytes) -> None:
    """Write aside and rename, so that a reader finds the old content or the new one. Text becomes UTF-8.

    Processes and threads may write the same file at once: each writes aside under a name of its own.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    aside.write_bytes(content.encode() if isinstance(content, str) else content)
    aside.replace(path)
