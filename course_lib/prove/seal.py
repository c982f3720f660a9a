"""SHA-256 over what a proof was made with, and over what it says, so that results can be pasted, collected and compared."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

from course_lib.paths import ROOT

FOLDERS = ("course_lib", "kernels", "tests")
TEXTS = {".py", ".cu", ".cuh", ".cpp", ".h"}


def sources(root: Path = ROOT) -> str:
    """One sum over the names and contents of all code in FOLDERS."""
    total = hashlib.sha256()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in TEXTS and path.is_file():
                total.update(f"{path.relative_to(root).as_posix()}\0{_sum(path.read_bytes())}\n".encode())
    return total.hexdigest()


def commit(root: Path = ROOT) -> str:
    """The commit of the clone, `+` behind it if files were changed since; "unknown" without git."""
    words = [["git", "rev-parse", "HEAD"], ["git", "status", "--porcelain", "--untracked-files=no"]]
    try:
        head, changed = (
            subprocess.run(one, cwd=root, capture_output=True, text=True, check=True).stdout.strip() for one in words
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed else "")


def seal(result: dict[str, Any]) -> dict[str, Any]:
    """The result with the sum over all else that is in it."""
    return {**result, "sha256": _of(result)}


def holds(result: dict[str, Any]) -> bool:
    """Whether a sealed result is as it was sealed."""
    return result.get("sha256") == _of(result)


def _of(result: dict[str, Any]) -> str:
    rest = {key: value for key, value in result.items() if key != "sha256"}
    return _sum(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
