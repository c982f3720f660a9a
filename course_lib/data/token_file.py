"""Token files: ids in a binary file that is mapped into memory, so that a corpus may be larger than memory.

    64 bytes of header   magic "COURSETK", version, bytes per id, number of ids, SHA-256 of the ids
    the ids              little-endian, 2 bytes each if the vocabulary has at most 65,536 entries, else 4

Opening checks the length and the checksum (about a second per gigabyte), so a file that was cut off or changed is refused.
"""

import hashlib
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

MAGIC, VERSION = b"COURSETK", 1
HEADER = struct.Struct("<8sIIQ32s8x")  # 64 bytes
CHUNK = 1 << 24  # bytes hashed at a time


class DamagedFile(ValueError):
    """A prepared file that is not what was written."""


def write(path: Path, chunks: Iterable[Sequence[int] | np.ndarray], vocab_size: int) -> int:
    """Write the ids of all chunks, one after the other; returns how many there are."""
    dtype = np.dtype("<u2" if vocab_size <= 1 << 16 else "<u4")
    digest, count = hashlib.sha256(), 0
    with open(path, "wb") as file:
        file.write(bytes(HEADER.size))  # zeros until all is written: a file without a header is refused
        for chunk in chunks:
            data = np.asarray(chunk, dtype).tobytes()
            digest.update(data)
            count += len(chunk)
            file.write(data)
        file.seek(0)
        file.write(HEADER.pack(MAGIC, VERSION, dtype.itemsize, count, digest.digest()))
    return count


def read(path: Path) -> np.ndarray:
    """The ids (n,), uint16 or uint32, read-only and mapped into memory. Raises DamagedFile."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        header = file.read(HEADER.size)
        magic, version, width, count, expected = HEADER.unpack(header.ljust(HEADER.size, b"\0"))
        if magic != MAGIC or width not in (2, 4):
            raise DamagedFile(f"{path} is damaged or no token file: its header is not one")
        if version != VERSION:
            raise DamagedFile(f"{path} is a token file of version {version}; this course reads version {VERSION}")
        if size != HEADER.size + count * width:
            raise DamagedFile(
                f"{path} is cut off or too long: its header promises {count:,} ids in {HEADER.size + count * width:,} "
                f"bytes, and it has {size:,} bytes"
            )
        digest = hashlib.sha256()
        while data := file.read(CHUNK):
            digest.update(data)
    if digest.digest() != expected:
        raise DamagedFile(f"{path} is damaged: its checksum does not fit")
    return np.memmap(path, f"<u{width}", "r", HEADER.size, (count,)) if count else np.empty(0, f"<u{width}")


def positions(tokens: np.ndarray, token: int) -> np.ndarray:
    """Where `token` stands in `tokens` (n,): ascending int64, found without a copy of the whole."""
    found = [np.flatnonzero(tokens[at : at + CHUNK] == token) + at for at in range(0, len(tokens), CHUNK)]
    return np.concatenate(found) if found else np.empty(0, np.int64)
