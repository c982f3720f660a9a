"""From Python values to a kernel's parameters: types checked by name, arrays mirrored into guarded memory.

Arrays must be contiguous, writable and of the very dtype that the parameter points to. Arrays in ordinary memory are
copied into guarded memory for the launch and back afterwards; views that overlap share one copy.
"""

import ctypes
import struct
from typing import Any

import numpy as np

from course_lib.cuda import memory, runtime
from course_lib.cuda.errors import ArgumentError


class Parameter(ctypes.Structure):
    """entry.h: Parameter. `kind`: f float, i signed, u unsigned, b bool, h half, g bfloat16, s struct, v void."""

    _fields_ = [
        ("kind", ctypes.c_char),
        ("pointer", ctypes.c_bool),
        ("constant", ctypes.c_bool),
        ("bytes", ctypes.c_uint),
        ("element_bytes", ctypes.c_uint),
        ("alignment", ctypes.c_uint),
    ]


_WORDS = {"f": "float", "i": "int", "u": "uint"}
_CPP = {
    ("f", 4): "float", ("f", 8): "double", ("i", 4): "int", ("u", 4): "unsigned int", ("i", 8): "long long",
    ("u", 8): "unsigned long long (size_t)", ("i", 2): "short", ("u", 2): "unsigned short", ("i", 1): "char",
    ("u", 1): "unsigned char", ("b", 1): "bool", ("h", 2): "half", ("g", 2): "__nv_bfloat16", ("v", 0): "void",
}  # fmt: skip


def cpp_name(parameter: Parameter) -> str:
    """The parameter's type as a learner would write it."""
    kind, lanes = parameter.kind.decode(), 1
    if parameter.element_bytes and kind != "s":
        lanes = parameter.bytes // parameter.element_bytes
    name = _CPP.get((kind, parameter.element_bytes), f"a struct of {parameter.bytes} bytes")
    if lanes > 1:
        name = f"{name.split()[0]}{lanes}"
    return ("const " if parameter.pointer and parameter.constant else "") + name + ("*" if parameter.pointer else "")


def dtype_name(parameter: Parameter) -> str:
    """The NumPy dtype that belongs to a parameter, for messages."""
    kind = parameter.kind.decode()
    if kind in _WORDS:
        return f"{_WORDS[kind]}{8 * parameter.element_bytes}"
    return {"b": "bool", "h": "float16", "g": "bfloat16 (ml_dtypes)", "s": f"a struct of {parameter.bytes} bytes"}.get(
        kind, "any dtype"
    )


def dtype_fits(parameter: Parameter, dtype: np.dtype) -> bool:
    """Whether values of `dtype` are what the parameter is, or points to."""
    kind, size = parameter.kind.decode(), dtype.itemsize
    if kind == "v":
        return True
    if kind == "s":
        return size == parameter.bytes or dtype.itemsize == 1
    if kind == "g":
        return dtype.name == "bfloat16" or dtype == np.uint16
    if kind == "h":
        return dtype == np.float16
    if kind == "f" and dtype.kind == "c":
        return size == parameter.bytes
    if kind == "i" and parameter.element_bytes == 1 and dtype.kind in "uS":
        return size == 1
    return dtype.kind == kind and size == parameter.element_bytes and dtype.isnative


class Arguments:
    """The converted arguments of one launch. `addresses` points to the values, in order; `finish` copies mirrors back."""

    def __init__(self, kernel: str, parameters: list[Parameter], names: list[str], values: Any, checked: bool):
        if isinstance(values, (np.ndarray, int, float)) or not hasattr(values, "__len__"):
            raise ArgumentError(
                f"{kernel}: the arguments go in a tuple, also when there is only one: kernel(grid, block, (x,))."
            )
        if len(values) != len(parameters):
            signature = ", ".join(f"{cpp_name(p)} {n}" for p, n in zip(parameters, names, strict=True))
            raise ArgumentError(
                f"{kernel} takes {len(parameters)} arguments ({signature}), {len(values)} were given: "
                f"{', '.join(_describe(v) for v in values) or 'none'}."
            )
        self._kernel, self._checked = kernel, checked
        self._storage: list[Any] = []
        self._mirrors: list[_Mirror] = []
        self._pending: list[tuple[int, np.ndarray, bool]] = []
        self._arrays: dict[int, str] = {}  # where the launch's arrays begin, and their names
        for position, (parameter, name, value) in enumerate(zip(parameters, names, values, strict=True)):
            where = f"{kernel}: argument {position + 1}, '{name}' ({cpp_name(parameter)})"
            if parameter.pointer:
                self._storage.append(self._pointer(where, name, parameter, value, position))
            else:
                self._storage.append(_scalar(where, parameter, value))
        self._mirror_pending(names)
        self.addresses = (ctypes.c_void_p * max(1, len(parameters)))(*(ctypes.addressof(s) for s in self._storage))

    def _pointer(self, where: str, name: str, parameter: Parameter, value: Any, position: int):
        if value is None:
            return ctypes.c_uint64(0)
        if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
            number = int(value)
            if not self._checked and number and not memory.is_device_address(number):
                raise ArgumentError(
                    f"{where}: the number {number:#x} is no address in device memory. Pass the array itself, or put it "
                    f"there first: course_lib.cuda.asarray(x)."
                )
            return ctypes.c_uint64(number % 2**64)
        if not isinstance(value, np.ndarray):
            raise ArgumentError(
                f"{where} needs an array of {dtype_name(parameter)}; {_describe(value)} was given. Make one: "
                f"np.array({name}, dtype={_astype(parameter)})."
            )
        if not dtype_fits(parameter, value.dtype):
            raise ArgumentError(
                f"{where} points to {dtype_name(parameter)}, but the array holds {value.dtype}. Convert it: "
                f"{name}.astype({_astype(parameter)})."
            )
        if not value.flags.c_contiguous:
            raise ArgumentError(
                f"{where}: the array is not contiguous (shape {value.shape}, strides {value.strides}): a kernel sees flat "
                f"memory. Pass np.ascontiguousarray({name})."
            )
        if not value.flags.writeable:
            raise ArgumentError(f"{where}: the array is read-only. Pass {name}.copy().")
        if memory.is_device(value):
            start = memory.address(value)
            self._arrays[start] = name
            runtime.library().sim_name(start, name.encode())
            return ctypes.c_uint64(start)
        self._pending.append((position, value, parameter.constant))
        return ctypes.c_uint64(0)

    def _mirror_pending(self, names: list[str]) -> None:
        """Copy the arrays of ordinary memory into guarded memory, overlapping ones together."""
        spans = [
            (memory.address(array), memory.address(array) + array.nbytes, position, array, constant)
            for position, array, constant in self._pending
        ]
        spans.sort(key=lambda span: span[:3])
        groups: list[list] = []
        for span in spans:
            if groups and span[0] < max(other[1] for other in groups[-1]):
                groups[-1].append(span)
            else:
                groups.append([span])
        for group in groups:
            low, high = group[0][0], max(span[1] for span in group)
            mirror = _Mirror(low, high - low, [s[3] for s in group], all(span[4] for span in group))
            self._mirrors.append(mirror)
            self._arrays[mirror.start] = names[group[0][2]]
            for start, _, position, _, _ in group:
                self._storage[position].value = mirror.start + start - low
            runtime.library().sim_name(mirror.start, names[group[0][2]].encode())

    def overrun(self) -> str:
        """Where a kernel wrote beside an array, in words, as far as the bytes around each array tell; or nothing."""
        altered = runtime.library().sim_altered
        for start, name in self._arrays.items():
            if side := altered(start):
                return f"past the end of the array '{name}'" if side == 1 else f"before the start of the array '{name}'"
        return ""

    def finish(self) -> None:
        """Copy what the kernel may have written back to the learner's arrays, and free the mirrors."""
        for mirror in self._mirrors:
            mirror.copy_back()
        self.release()

    def release(self) -> None:
        for mirror in self._mirrors:
            mirror.free()
        self._mirrors = []


class _Mirror:
    """A stretch of ordinary memory, copied into a slot for one launch."""

    def __init__(self, low: int, size: int, arrays: list[np.ndarray], constant: bool):
        self.low, self.size, self.constant, self._arrays = low, size, constant, arrays
        self.start = memory.allocate(size, memory.FOR_CALLER)
        ctypes.memmove(self.start, low, size)

    def copy_back(self) -> None:
        if not self.constant:
            ctypes.memmove(self.low, self.start, self.size)

    def free(self) -> None:
        runtime.library().sim_free(self.start)


def _astype(parameter: Parameter) -> str:
    name = dtype_name(parameter)
    return f"np.{name}" if name[-1].isdigit() else name


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    return f"{value!r} ({type(value).__name__})" if len(repr(value)) < 40 else type(value).__name__


def _scalar(where: str, parameter: Parameter, value: Any):
    """The bytes of a parameter passed by value."""
    kind, size = parameter.kind.decode(), parameter.bytes
    buffer = (ctypes.c_char * (size + 16))()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.ndarray):
        raise ArgumentError(f"{where} is a single value, not an array; an array of shape {value.shape} was given.")
    if isinstance(value, (np.generic, bytes)):
        raw = value if isinstance(value, bytes) else value.tobytes()
        fits = len(raw) == size and (kind == "s" or isinstance(value, bytes) or dtype_fits(parameter, value.dtype))
        if not fits or (isinstance(value, bytes) and kind != "s"):
            raise ArgumentError(
                f"{where} needs {dtype_name(parameter)}; {_describe(value)} was given. A plain Python number is converted: "
                f"int(...) or float(...)."
            )
    elif kind != "s" and parameter.bytes > parameter.element_bytes and isinstance(value, (tuple, list)):
        lanes = size // parameter.element_bytes
        if len(value) != lanes:
            raise ArgumentError(f"{where} needs {lanes} numbers; {len(value)} were given.")
        raw = b"".join(_number(where, parameter, part) for part in value)
    elif isinstance(value, (bool, int, float)):
        raw = _number(where, parameter, value)
        if len(raw) != size:
            raise ArgumentError(f"{where} needs {size // len(raw)} numbers in a tuple; {value!r} was given.")
    else:
        raise ArgumentError(f"{where} needs {dtype_name(parameter)}; {_describe(value)} was given.")
    ctypes.memmove(buffer, raw, size)
    return buffer


def _number(where: str, parameter: Parameter, value: Any) -> bytes:
    """A Python number as one component of a parameter, range checked."""
    kind, size = parameter.kind.decode(), parameter.element_bytes
    if kind in "iu":
        if isinstance(value, float):
            raise ArgumentError(f"{where} is an integer; {value!r} is a float. Pass int({value!r}) if that is meant.")
        low, high = (-(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1) if kind == "i" else (0, 2 ** (8 * size) - 1)
        if not low <= value <= high:
            raise ArgumentError(f"{where} holds numbers from {low} to {high}; {value} does not fit.")
        return int(value).to_bytes(size, "little", signed=kind == "i")
    if kind == "b":
        if value not in (0, 1):
            raise ArgumentError(f"{where} is True or False; {value!r} was given.")
        return struct.pack("<?", bool(value))
    if kind in "fh":
        try:
            return struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], value)
        except OverflowError:
            raise ArgumentError(f"{where}: {value!r} is too large for this type.") from None
    if kind == "g":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF).to_bytes(2, "little")
    raise ArgumentError(
        f"{where} is a struct: pass a NumPy structured scalar of {parameter.bytes} bytes; {value!r} was given."
    )
