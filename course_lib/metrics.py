"""The log of a run: `metrics.jsonl`, one JSON object a line, in the order of steps.

    step, loss, lr, grad_norm, tokens_per_s, and val_loss where it was measured (losses in nats per token)

Each line reaches the file as soon as it is written, so a killed run loses at most half a line; readers skip that half.
"""

import errno
import json
import os
from io import FileIO
from pathlib import Path
from typing import Any

Record = dict[str, Any]

NAME = "metrics.jsonl"


def read(path: str | os.PathLike) -> list[Record]:
    """The records of a log, or of the run in a folder; up to the first line that is not one."""
    try:  # and not whether it is a folder first: a run that starts just then makes it one
        lines = _lines(Path(path, NAME))
    except NotADirectoryError:
        lines = _lines(Path(path))
    return [record for record, _ in lines]


def open_at(path: Path, step: int) -> FileIO:
    """The log, open for writing after the last record whose step is at most `step`; what follows it is cut off."""
    if path.exists():
        ends = [end for record, end in _lines(path) if record["step"] <= step]
        os.truncate(path, ends[-1] if ends else 0)
    return open(path, "ab", buffering=0)


def write(log: FileIO, record: Record) -> None:
    """Add one record. Raises OSError."""
    line = (json.dumps(record) + "\n").encode()
    if log.write(line) != len(line):  # a disk that is almost full takes what fits
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _lines(path: Path) -> list[tuple[Record, int]]:
    """Each whole record, with the position in the file after it."""
    found, position = [], 0
    with open(path, "rb") as file:
        for line in file:
            try:
                record = json.loads(line)
                if not line.endswith(b"\n") or not isinstance(record["step"], int):
                    break
            except (ValueError, KeyError, TypeError):
                break
            position += len(line)
            found.append((record, position))
    return found
