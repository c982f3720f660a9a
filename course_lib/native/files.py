"""What was read from a file, remembered as long as it is the same file: each build asks it of the hundred headers."""

import hashlib
import os
import re
import time
from functools import cache
from pathlib import Path

TICK = 100_000_000  # nanoseconds; a file system's clock may stand still for some of them

Seen = tuple[str, int, int, int, int]


def as_it_is(path: Path) -> Seen:
    """The file as it is now: another value after whatever is written to it. Raises OSError."""
    now = os.stat(path)
    settled = time.time_ns() - now.st_ctime_ns > TICK  # else it could be written once more at the same time, as it were
    return str(path), now.st_ino, now.st_ctime_ns, now.st_size, 0 if settled else time.monotonic_ns()


@cache
def digest(file: Seen) -> str:
    """The SHA-256 of its content."""
    return hashlib.sha256(Path(file[0]).read_bytes()).hexdigest()


@cache
def words(files: tuple[Seen, ...]) -> frozenset[str]:
    """All words that stand in these files."""
    return frozenset(re.findall(r"\w+", "\n".join(Path(file[0]).read_text("utf-8", "replace") for file in files)))
