"""Checkpoints: everything a run needs to go on to the same bits, in one file that is whole or not there at all.

A file is a safetensors file. Its arrays are the weights ("model/NAME") and the optimiser's state ("optimiser/NAME"); its
metadata holds the rest as JSON: `facts` (whatever the caller gives) and a checksum for each part. It is written in a
folder aside, flushed to the disk and renamed, so a process killed at any moment, or a full disk, leaves the file before it
as it was. A file that was cut off or changed is refused.

Limit: one process writes to a folder at a time (training.py sees to that).
"""

import json
import os
import re
import shutil
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

FORMAT = "course checkpoint 1"
QUANTISED = (
    "course quantised 1"  # its arrays are codes and scales (serving/quantised.py): enough to write text, not to train
)

Arrays = dict[str, np.ndarray]


class CheckpointError(RuntimeError):
    """A checkpoint that could not be written or read, and what to do about it."""


@dataclass
class Checkpoint:
    """weights: `model.state()`. optimiser: `optimiser.state()`, {} if not asked for. facts: plain JSON values."""

    weights: Arrays
    optimiser: Arrays
    facts: dict


def save(path: Path, weights: Arrays, optimiser: Arrays, facts: dict, kind: str = FORMAT) -> None:
    """Put a checkpoint at `path`, in the place of the one that is there. Raises CheckpointError; then that one stays."""
    arrays = {f"model/{name}": array for name, array in weights.items()}
    arrays |= {f"optimiser/{name}": array for name, array in optimiser.items()}
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}  # safetensors trusts us in this
    text = json.dumps(facts)
    checksums = {name: zlib.crc32(array) for name, array in arrays.items()} | {"facts": zlib.crc32(text.encode())}
    metadata = {"format": kind, "facts": text, "checksums": json.dumps(checksums)}
    aside = path.parent / ".saving"
    try:
        shutil.rmtree(aside, ignore_errors=True)  # what a killed process left
        aside.mkdir()
        save_file(arrays, aside / path.name, metadata)
        _flush(aside / path.name)
        os.replace(aside / path.name, path)
        _flush(path.parent)  # the renaming itself
    except (OSError, SafetensorError) as error:
        size = sum(array.nbytes for array in arrays.values())
        before = "The checkpoint that was there is untouched. " if path.exists() else ""
        raise CheckpointError(
            f"The checkpoint {path} could not be written: {_reason(error)}. {before}A checkpoint needs "
            f"{size / 1e6:,.1f} MB of free space beside the old one."
        ) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def keep(source: Path, target: Path) -> None:
    """Let `target` hold what `source` holds now, also when `source` is replaced later. All or nothing."""
    aside = target.with_name(f".{target.name}")
    aside.unlink(missing_ok=True)
    try:
        try:
            os.link(source, aside)  # a second name for the same file: no copy
        except OSError:  # file systems without links
            shutil.copyfile(source, aside)
            _flush(aside)
        os.replace(aside, target)
    except OSError as error:
        raise CheckpointError(f"The checkpoint {target} could not be written: {_reason(error)}.") from None
    finally:
        aside.unlink(missing_ok=True)  # renaming one name of a file to another name of the same file leaves both


def load(path: Path, optimiser: bool = True, kinds: Collection[str] = (FORMAT,)) -> Checkpoint:
    """Read the checkpoint at `path`; without its optimiser state if that is not wanted. Raises CheckpointError.

    kinds: the formats that the caller can read."""
    if not path.is_file():
        raise CheckpointError(
            f"There is no checkpoint {path}. Give the folder of a run, or make one: course train --preset small --out runs/first"
        )
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") == QUANTISED and QUANTISED not in kinds:
                raise CheckpointError(
                    f"{path} holds quantised weights, which can write (course sample) and nothing else: give the run that they "
                    "were made of."
                )
            if metadata.get("format") not in kinds:
                raise CheckpointError(
                    f"{path} is no checkpoint that this version of the course can read: its format is "
                    f"{metadata.get('format', 'not given')!r}, expected {FORMAT!r}."
                )
            checksums = json.loads(metadata["checksums"])
            if zlib.crc32(metadata["facts"].encode()) != checksums.pop("facts") or set(file.keys()) != set(checksums):
                raise ValueError("its description does not fit its checksum")
            wanted = [name for name in checksums if optimiser or name.startswith("model/")]
            arrays = {name: file.get_tensor(name) for name in wanted}
            wrong = [name for name in wanted if zlib.crc32(np.asarray(arrays[name], order="C")) != checksums[name]]
            if wrong:
                raise ValueError(f"the checksum of {wrong[0]} does not fit")
            facts = json.loads(metadata["facts"])
    except OSError as error:
        raise CheckpointError(f"The checkpoint {path} could not be read: {_reason(error)}.") from None
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"The checkpoint {path} is damaged, cut off or changed ({error}).") from None
    return Checkpoint(_part(arrays, "model/"), _part(arrays, "optimiser/"), facts)


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _flush(path: Path) -> None:
    """Wait until what was written to a file, or to the listing of a folder, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    number = re.search(r"os error (\d+)", str(error))  # safetensors hides the errno in its text
    return os.strerror(int(number[1])) if number else str(error)
