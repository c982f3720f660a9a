"""What a kernel takes of a multiprocessor, read from the cubin that NVIDIA's compiler makes of it. Needs NVRTC, but no GPU.

A cubin is an ELF file. Its section .nv.info holds for each kernel the registers of a thread (attribute 0x2f: a symbol and a
number) and its stack (0x11). NVIDIA does not document this section. The numbers are those of `ptxas -v`: with that of CUDA 13.5
they were compared for all versions of matmul on sm_75, sm_80, sm_86, sm_89 and sm_90, and agreed.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from course_lib.cuda import nvrtc
from course_lib.cuda.errors import CompileError

REGISTERS, FRAME = 0x2F, 0x11  # attributes of .nv.info
_SIZED = 4  # the format of an attribute whose value has a length
_SECTION = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr


@dataclass(frozen=True)
class Resources:
    """Of one thread. registers: of 32 bits. stack: bytes of local memory, spilled registers among them."""

    registers: int
    stack: int


def resources(kernel: Any, architecture: str) -> Resources | None:
    """Those of a Kernel for sm_NN; None where NVRTC is missing or refuses the text, as it does host code and later cards."""
    if not nvrtc.available():
        return None
    try:
        cubin, names = nvrtc.kept(kernel.source, (kernel.name,), architecture, kernel.options)
    except CompileError:
        return None
    return read(cubin, names[kernel.name])


def read(cubin: bytes, name: str) -> Resources:
    """The resources of the kernel `name`, as C++ has mangled it. Raises ValueError if the cubin does not name it."""
    sections = dict(_sections(cubin))
    found = {REGISTERS: 0, FRAME: 0}
    for attribute, values in _attributes(cubin, sections[".nv.info"]):
        if attribute in found and _symbol(cubin, sections, values[0]) == name:
            found[attribute] = values[1]
    if not found[REGISTERS]:
        raise ValueError(f"This cubin does not say how many registers {name} takes.")
    return Resources(found[REGISTERS], found[FRAME])


def _sections(elf: bytes) -> Iterator[tuple[str, tuple]]:
    """(name, header) of each section."""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [_SECTION.unpack_from(elf, table + i * size) for i in range(count)]
    for header in headers:
        yield _text(elf, headers[names][4] + header[0]), header


def _attributes(elf: bytes, header: tuple) -> Iterator[tuple[int, tuple[int, ...]]]:
    at, end = header[4], header[4] + header[5]
    while at < end:
        form, attribute, value = struct.unpack_from("<BBH", elf, at)
        at += 4
        if form == _SIZED:
            yield attribute, struct.unpack_from(f"<{value // 4}I", elf, at)
            at += value


def _symbol(elf: bytes, sections: dict[str, tuple], number: int) -> str:
    (name,) = struct.unpack_from("<I", elf, sections[".symtab"][4] + 24 * number)
    return _text(elf, sections[".strtab"][4] + name)


def _text(elf: bytes, at: int) -> str:
    return elf[at : elf.index(b"\0", at)].decode()
