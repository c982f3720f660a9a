"""Where the course's files lie.

Promises: `ROOT` is the folder that was cloned; `cache(name)` is an existing folder for what can be made again, and what is made
there within `alone(name)` is made by one process at a time; a file that `write_whole` writes is never seen half written;
`pip_command` says how to add to what is installed, and `require` that something must be.
Limit: notebooks, exercises and what judges them need the clone. Installed without it (`pip install .`), the library works, with
its kernels inside it and its cache where the system keeps such things.
"""

import contextlib
import hashlib
import importlib.util
import os
import shlex
import sys
import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

LIBRARY = Path(str(files("course_lib"))).resolve()
ROOT: Path = LIBRARY.parent
IS_CLONE = (ROOT / "pyproject.toml").is_file() and (ROOT / "notebooks").is_dir()
KERNELS = (ROOT if IS_CLONE else LIBRARY) / "kernels"
VENV = ROOT / ".venv"


def cache(name: str) -> Path:
    """The folder `name` below $COURSE_CACHE, or below `<clone>/.cache`; made if it is not there yet.

    A relative $COURSE_CACHE counts from the clone, not from where a process happens to stand: all must mean one folder."""
    folder = ROOT / (os.environ.get("COURSE_CACHE") or (".cache" if IS_CLONE else _of_the_system())) / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """One build at a time in this folder of the cache: what one has made there, the next need not make too."""
    import fcntl  # Windows has none

    with open(cache(name) / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def need_clone() -> None:
    """Raises RuntimeError where the library was installed without the notebooks and exercises."""
    if not IS_CLONE:
        raise RuntimeError(
            f"Notebooks, exercises and solutions lie in the clone of the course; this is its library alone, in {LIBRARY}. "
            "Clone the repository and type there: make lab"
        )


def _of_the_system() -> Path:
    import pooch

    return pooch.os_cache("language-model-course")


def pip_command(extra: str) -> str:
    """How to install an extra of pyproject.toml, typed in the course's folder."""
    python = ".venv/bin/python" if Path(sys.prefix) == VENV else shlex.quote(sys.executable)
    return f"{python} -m pip install -e '.[{extra}]'"


def require(extra: str, packages: tuple[str, ...], what: str) -> None:
    """Raise RuntimeError if what is done next needs packages of an extra that are not here; nothing is imported."""
    if missing := [name for name in packages if importlib.util.find_spec(name) is None]:
        raise RuntimeError(f"{what} needs {', '.join(missing)}, not installed here: {pip_command(extra)}")


def kept(folder: Path, name: str, content: str) -> Path:
    """A file `name` of this content, in a folder below `folder` that only this content has."""
    own = folder / hashlib.sha256(content.encode()).hexdigest()[:16]
    own.mkdir(exist_ok=True)
    if not (file := own / name).exists():
        write_whole(file, content)  # another process or thread may be writing the same
    return file


def write_whole(path: Path, content: str | bytes) -> None:
    """Write aside and rename, so that a reader finds the old content or the new one. Text becomes UTF-8.

    Processes and threads may write the same file at once: each writes aside under a name of its own.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    aside.write_bytes(content.encode() if isinstance(content, str) else content)
    aside.replace(path)
