"""The table of contents of kernels/: what the header of each file says, as kernels/README.md.

    python -m course_lib.cuda.contents        writes it anew

A header is the opening comment of a `.cu` file: a first line that says what the file computes, then paragraphs that begin
with a word and a colon, "Promise: ...", "Limits: ...", "Bytes: ...", "FLOPs: ...", "Architectures: ...", "Chapter: ...".
"""

import re
from dataclasses import dataclass
from pathlib import Path

from course_lib.cuda import source

FIELDS = ("Promise", "Limits", "Bytes", "FLOPs", "Architectures", "Chapter")
README = source.KERNELS / "README.md"
OPENING = """\
# The kernels

Every operation that the model trains on, in CUDA C++: the same text runs on the simulator and on an NVIDIA GPU. One operation
per file, forward next to backward. A file whose name has a number is one version of several, from naive to fast, and says what it
gained. Each begins with what it promises, where its limits are, and the bytes and floating-point operations that it costs;
course_lib/devices/gpu/ launches them. This page is made from those headers: `python -m course_lib.cuda.contents`.

A file that ends in `.wgsl` does the same in WGSL, for any GPU that WebGPU reaches, and names its twin in its first lines;
course_lib/devices/webgpu/ launches it.

| file | what it computes | kernels | chapter |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Header:
    """What stands at the top of a `.cu` file."""

    title: str
    fields: dict[str, str]


def header(text: str) -> Header:
    """Read the opening comment of a file. What is missing is missing from `fields`."""
    opening = re.match(r"(?:[ \t]*//[^\n]*\n)*", text).group()
    words = " ".join(line.strip().removeprefix("//").strip() for line in opening.splitlines())
    title = opening.partition("\n")[0].removeprefix("//").strip()
    parts = re.split(rf"(?:^|\s)({'|'.join(FIELDS)}): ", words)
    return Header(title, {name: value.strip() for name, value in zip(parts[1::2], parts[2::2], strict=True)})


def files() -> list[Path]:
    """Every kernel file, in reading order: versions by their number."""
    number = lambda path: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.stem)]  # noqa: E731
    return sorted(source.KERNELS.glob("*.cu"), key=number)


def contents() -> str:
    """The page."""
    rows = []
    for path in files():
        found = header(path.read_text())
        names = ", ".join(f"`{name}`" for name in source.kernels(source.find(path)))
        rows.append(
            f"| [{path.name}]({path.name}) | {_cell(found.title)} | {names} | {_cell(found.fields['Chapter'])} |\n"
        )
    helpers = []
    for path in sorted((source.KERNELS / "include").glob("*.cuh")):
        helpers.append(f"| [{path.name}](include/{path.name}) | {_cell(header(path.read_text()).title)} |\n")
    return OPENING + "".join(rows) + "\nShared by several:\n\n| file | what is in it |\n|---|---|\n" + "".join(helpers)


def _cell(text: str) -> str:
    return text.rstrip(".").replace("|", "\\|")


if __name__ == "__main__":
    README.write_text(contents())
