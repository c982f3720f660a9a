"""The symbols of a compiled kernel library: where its shared arrays lie in the block's memory, and how large they are.

Reads ELF (Linux) directly; a library of another format has no symbols here, and names and limits of shared arrays are
then not known.
"""

import ctypes
import re
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STT_OBJECT, STT_FUNC, STT_TLS = 1, 2, 6


@dataclass(frozen=True)
class Symbol:
    """One entry of the symbol table. For a shared array `value` is its offset in the thread-local image."""

    name: str
    kind: int
    value: int
    size: int


@cache
def table(path: Path) -> tuple[tuple[Symbol, ...], int]:
    """(symbols, size of the thread-local image) of an ELF library; nothing for other formats."""
    data = path.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        return (), 0
    offset, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    symbols: list[Symbol] = []
    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        strings = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index, value, length = struct.unpack_from("<IBBHQQ", data, at)
            if index:
                end = data.index(b"\0", strings + name)
                symbols.append(Symbol(data[strings + name : end].decode(), info & 15, value, length))
    program, entry_size, entries = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    image = 0
    for i in range(entries):
        header = struct.unpack_from("<IIQQQQQQ", data, program + i * entry_size)
        if header[0] == 7:  # PT_TLS
            image = header[6]
    return tuple(symbols), image


def plain_name(mangled: str) -> str:
    """The array's own name: `_ZZ6kernelPfE4tile` is `tile`."""
    if not mangled.startswith("_Z"):
        return mangled
    best = mangled
    for match in re.finditer(r"E(\d+)", mangled):
        length = int(match.group(1))
        name = mangled[match.end() : match.end() + length]
        if len(name) == length and re.fullmatch(r"[A-Za-z_]\w*", name):
            best = name
    return best


def static_shared(library, name: str) -> int:
    """Bytes of `__shared__` arrays of fixed size that a kernel uses, its device functions included."""
    return _static_shared(library.path, _kernel_symbol(library, name), _kernel_symbols(library))


def _kernel_symbol(library, name: str) -> str | None:
    return _symbol_at(library, library.kernels[name])


_known: dict[tuple, str | None] = {}


def _symbol_at(library, number: int) -> str | None:
    key = (library.path, number)
    if key not in _known:
        function = getattr(library.handle, f"sim_kernel_{number}")
        function.restype = ctypes.c_void_p
        address = function() - base(library.handle)
        names = [s.name for s in table(library.path)[0] if s.kind == STT_FUNC and s.value == address]
        _known[key] = names[0] if names else None
    return _known[key]


def _kernel_symbols(library) -> tuple[str, ...]:
    return tuple(filter(None, (_symbol_at(library, number) for number in library.kernels.values())))


@cache
def _static_shared(path: Path, kernel: str | None, kernels: tuple[str, ...]) -> int:
    total = 0
    for symbol in table(path)[0]:
        if symbol.kind != STT_TLS or not symbol.name.startswith("_ZZ"):
            continue
        owners = [k for k in kernels if symbol.name.startswith("_ZZ" + k.removeprefix("_Z") + "E") or
                  symbol.name.startswith(f"_ZZ{len(k)}{k}") or symbol.name.startswith(f"_ZZ{k}E")]  # fmt: skip
        if not owners or kernel in owners:
            total += symbol.size
    return total


@cache
def loaded_bytes(path: Path) -> int:
    """How far a library reaches in memory from where it is loaded."""
    data = path.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        return len(data) + (64 << 20)
    program, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQQQ", data, program + i * size) for i in range(count)]
    return max(header[3] + header[6] for header in headers if header[0] == 1)  # PT_LOAD


class _DlInfo(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def base(handle: ctypes.CDLL) -> int:
    """Where a library is loaded."""
    info = _DlInfo()
    function = ctypes.cast(handle.sim_kernel_0, ctypes.c_void_p)
    dladdr = ctypes.CDLL(None).dladdr
    dladdr.argtypes = [ctypes.c_void_p, ctypes.POINTER(_DlInfo)]
    dladdr(function, ctypes.byref(info))
    return info.base or 0
