"""Text from files, in chunks: UTF-8 or a sentence that names the file and the byte, never a guess.

A byte order mark is dropped, and line ends become "\\n". Nothing else is changed.
"""

import codecs
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

CHUNK = 1 << 20  # bytes read at a time


class TextError(ValueError):
    """Text that cannot be read or is too little, and what to do about it."""


def files(path: str | os.PathLike) -> list[Path]:
    """The file itself; or all files in a folder and below, in order of their names, hidden ones left out."""
    path = Path(path)
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise FileNotFoundError(
            f"there is no file or folder {path}: give the path of a UTF-8 text, or of a folder of them"
        )
    inside = [p for p in path.rglob("*") if not any(part.startswith(".") for part in p.relative_to(path).parts)]
    found = sorted(p for p in inside if p.is_file())
    if not found:
        raise TextError(f"the folder {path} holds no files: put UTF-8 texts into it, or give another path")
    return found


def chunks(path: Path) -> Iterator[str]:
    """The text of one file, about a megabyte at a time. Raises TextError where it is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines = io.IncrementalNewlineDecoder(None, translate=True)
    offset = 0  # of the byte where the decoder stands, those it still holds included
    with open(path, "rb") as file:
        while True:
            data = file.read(CHUNK)
            held = len(decoder.getstate()[0])
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                raise TextError(_not_utf8(path, offset - held + error.start, error)) from None
            offset += len(data)
            text = lines.decode(text, final=not data)
            if text:
                yield text
            if not data:
                return


def documents(parts: Iterable[str], separator: str) -> Iterator[str]:
    """The documents of a text in chunks that has `separator` between them; without white space around them."""
    rest = ""
    for part in parts:
        *whole, rest = (rest + part).split(separator)
        yield from filter(None, map(str.strip, whole))
    if last := rest.strip():
        yield last


def beginning(paths: Iterable[Path], size: int) -> list[str]:
    """The first `size` bytes of the files, as one text per file; a character cut in half at the end is dropped."""
    texts = []
    for path in paths:
        text = []
        for chunk in chunks(path):
            data = chunk.encode()
            text.append(data[:size].decode(errors="ignore"))
            size -= len(data)
            if size <= 0:
                return [*texts, "".join(text)]
        texts.append("".join(text))
    return texts


def _not_utf8(path: Path, offset: int, error: UnicodeDecodeError) -> str:
    wrong = error.object[error.start]
    with open(path, "rb") as file:
        utf16 = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    looks = " (it looks like UTF-16)" if utf16 else ""
    return (
        f"{path} is not UTF-8{looks}: byte {offset:,} (0x{wrong:02x}) cannot stand there. "
        "Save the file as UTF-8 in your editor, or convert it: iconv -f ISO-8859-1 -t UTF-8 OLD > NEW"
    )
