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

from course_lib.cuda import calls
from course_lib.cuda.source import Source

STT_OBJECT, STT_FUNC, STT_TLS = 1, 2, 6
INDICES = {"_ZL9threadIdx", "_ZL8blockIdx", "_ZL8blockDim", "_ZL7gridDim"}  # thread-local, but not shared: index.h


@dataclass(frozen=True)
class Symbol:
    """One entry of the symbol table. For a shared array `value` is its offset in the thread-local image."""

    name: str
    kind: int
    value: int
    size: int
    section: str
    limit: int  # where its section ends


@cache
def table(path: Path) -> tuple[tuple[Symbol, ...], int]:
    """(symbols, size of the thread-local image) of an ELF library; nothing for other formats."""
    data = path.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        return (), 0
    offset, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    names = sections[struct.unpack_from("<H", data, 62)[0]][4]
    symbols: list[Symbol] = []

    def text(at: int) -> str:
        return data[at : data.index(b"\0", at)].decode()

    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        strings = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index, value, length = struct.unpack_from("<IBBHQQ", data, at)
            if index:
                home = sections[index] if index < count else sections[0]
                where = text(names + home[0]), home[3] + home[5]
                symbols.append(Symbol(text(strings + name), info & 15, value, length, *where))
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
    if match := re.match(r"_ZL?(\d+)(\w+)$", mangled):  # at file scope
        return match.group(2)[: int(match.group(1))]
    if mangled.startswith("_ZN"):
        return _owner("_Z" + mangled[1:])
    best = mangled
    for match in re.finditer(r"E(\d+)", mangled):
        length = int(match.group(1))
        name = mangled[match.end() : match.end() + length]
        if len(name) == length and re.fullmatch(r"[A-Za-z_]\w*", name):
            best = name
    return best


def shared_arrays(path: Path) -> list[Symbol]:
    """The `__shared__` arrays of fixed size in a library, those at file scope included."""
    symbols = [s for s in table(path)[0] if s.kind == STT_TLS]
    dynamic = {s.value for s in symbols if s.name == "sim_dynamic"}  # others at its place are other names for it
    ours = re.compile(r"(^|\d)sim_|^_ZGV")
    return [s for s in symbols if s.value not in dynamic and not ours.search(s.name) and s.name not in INDICES]


def variables(path: Path) -> tuple[list[tuple[Symbol, str]], int]:
    """What lies where a kernel may write, by place, and where that memory ends.

    That is variables at file scope, static ones and, without a name, what is not the kernel's.
    """
    memory = (".data", ".bss", ".sim_data", ".sim_bss")  # apart.ld
    found = [s for s in table(path)[0] if s.kind == STT_OBJECT and s.section in memory and s.size]
    ours = re.compile(r"(^|\d)sim_|^_ZGV|^__|^completed\.\d+$|^DW\.")
    named = [(s, "" if ours.search(s.name) else plain_name(s.name)) for s in sorted(found, key=lambda s: s.value)]
    return named, max((s.limit for s in found), default=0)


def static_shared(library, name: str) -> int:
    """Bytes of `__shared__` arrays of fixed size that a kernel uses, those of the device functions it calls included."""
    return _static_shared(library.path, library.source, name, _kernel_symbol(library, name), _kernel_symbols(library))


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
def _static_shared(path: Path, text: Source, name: str, kernel: str | None, kernels: tuple[str, ...]) -> int:
    total, of_functions = 0, {}
    for symbol in shared_arrays(path):
        if kernel in (owners := [k for k in kernels if _lies_in(symbol.name, k)]):
            total += symbol.size
        elif not owners and _may_use(text, name.split("<")[0].split("::")[-1].strip(), symbol.name):
            # of a template all instances in the library are here, and no name says which of them this kernel calls
            array = _owner(symbol.name), plain_name(symbol.name)
            of_functions[array] = max(symbol.size, of_functions.get(array, 0))
    return total + sum(of_functions.values())


def _lies_in(symbol: str, kernel: str) -> bool:
    """Whether an array's symbol is that of a variable inside the function with this symbol."""
    return symbol.startswith(("_ZZ" + kernel.removeprefix("_Z") + "E", f"_ZZ{len(kernel)}{kernel}", f"_ZZ{kernel}E"))


def _may_use(text: Source, kernel: str, symbol: str) -> bool:
    """Whether a kernel may use an array that is not its own: of a device function that it calls, or at file scope."""
    functions = calls.functions(text)
    reached = calls.reached(text, kernel)
    if not symbol.startswith("_ZZ"):
        return any(plain_name(symbol) in functions.get(name, ()) for name in reached)
    owner = _owner(symbol)
    return owner not in functions or owner in reached  # what cannot be told counts


def _owner(symbol: str) -> str:
    """The function in which a variable lies: `sum` of `_ZZN4tool3sumIfEET_S1_E5cache`."""
    rest, owner = re.sub(r"^_ZZ(N?[KVrO]*)L?", "", symbol), ""
    while match := re.match(r"L?(\d+)", rest):
        start = match.end()
        owner, rest = rest[start : start + int(match.group(1))], rest[start + int(match.group(1)) :]
        if not symbol.startswith("_ZZN"):
            break
    return owner


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
