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
from course_lib.cuda.parameters import Parameter, cpp_name, dtype_fits, dtype_name, plain

LARGEST_ALIGNMENT = 256  # of a struct passed by value


class Signature:
    """A kernel's parameters, and room for one set of values: the simulator runs one launch at a time.

    `addresses` points to the values, in order, and `pointer_names` to the names of those that are pointers.
    """

    def __init__(self, kernel: str, parameters: list[Parameter], names: list[str]):
        self.kernel, self.parameters, self.names = kernel, parameters, names
        self.codes = [plain(parameter)[0] for parameter in parameters]
        self.known = [(parameter.pointer, set(plain(parameter)[1])) for parameter in parameters]
        layout, offset, offsets = "<", 0, []
        for parameter, code in zip(parameters, self.codes, strict=True):
            padding = -offset % (8 if parameter.pointer else parameter.alignment)
            layout += f"{padding}x{code}"
            offsets.append(offset + padding)
            offset = offsets[-1] + struct.calcsize("<" + code)
        self._layout = struct.Struct(layout)
        self._room = (ctypes.c_char * (offset + LARGEST_ALIGNMENT))()
        begin = ctypes.addressof(self._room)
        self._skipped = -begin % LARGEST_ALIGNMENT
        count = max(1, len(parameters))
        self.addresses = (ctypes.c_void_p * count)(*(begin + self._skipped + offset for offset in offsets))
        pointers = (name.encode() if p.pointer else None for p, name in zip(parameters, names, strict=True))
        self.pointer_names = (ctypes.c_char_p * count)(*pointers)

    def store(self, values: list[Any]) -> None:
        """Put the values where `addresses` points. Raises struct.error or OverflowError for one that does not fit."""
        self._layout.pack_into(self._room, self._skipped, *values)

    def where(self, position: int) -> str:
        """How a message names a parameter."""
        return (
            f"{self.kernel}: argument {position + 1}, '{self.names[position]}' ({cpp_name(self.parameters[position])})"
        )


class Arguments:
    """The converted arguments of one launch, stored in the signature's room; `finish` copies mirrors back."""

    def __init__(self, signature: Signature, values: Any, checked: bool):
        kernel, parameters = signature.kernel, signature.parameters
        if isinstance(values, (np.ndarray, int, float)) or not hasattr(values, "__len__"):
            raise ArgumentError(
                f"{kernel}: the arguments go in a tuple, also when there is only one: kernel(grid, block, (x,))."
            )
        if len(values) != len(parameters):
            listed = ", ".join(f"{cpp_name(p)} {n}" for p, n in zip(parameters, signature.names, strict=True))
            raise ArgumentError(
                f"{kernel} takes {len(parameters)} arguments ({listed}), {len(values)} were given: "
                f"{', '.join(_describe(v) for v in values) or 'none'}."
            )
        self._signature, self._checked = signature, checked
        self._mirrors: list[_Mirror] = []
        self._pending: list[tuple[int, np.ndarray, bool]] = []
        self._values: list[Any] = []
        for (pointer, known), value in zip(signature.known, values, strict=True):
            # The common cases first: an array in device memory of a dtype that was there before, a plain number.
            if pointer:
                if type(value) is np.ndarray and value.dtype in known and value.flags.carray:
                    start = memory.address(value)
                    if memory.is_device_address(start):
                        self._values.append(start)
                        continue
            elif type(value) in known:
                self._values.append(value)
                continue
            self._values.append(self._convert(len(self._values), value))
        if self._pending:
            self._mirror_pending()
        try:
            signature.store(self._values)
        except (struct.error, OverflowError):
            self.release()
            for position, value in enumerate(values):
                self._convert(position, value)  # raises with a sentence for the one that does not fit
            raise

    def _convert(self, position: int, value: Any) -> Any:
        """A value as `Signature.store` takes it. Raises ArgumentError with a sentence."""
        parameter = self._signature.parameters[position]
        if parameter.pointer:
            return self._pointer(position, parameter, value)
        raw, code = _scalar(self._signature.where(position), parameter, value), self._signature.codes[position]
        return raw if code.endswith("s") else struct.unpack("<" + code, raw)[0]

    def _pointer(self, position: int, parameter: Parameter, value: Any) -> int:
        where, name = self._signature.where(position), self._signature.names[position]
        if value is None:
            return 0
        if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
            number = int(value)
            if not self._checked and number and not memory.is_device_address(number):
                raise ArgumentError(
                    f"{where}: the number {number:#x} is no address in device memory. Pass the array itself, or put it "
                    f"there first: course_lib.cuda.asarray(x)."
                )
            return number % 2**64
        if not isinstance(value, np.ndarray):
            raise ArgumentError(
                f"{where} needs an array of {dtype_name(parameter)}; {_describe(value)} was given. Make one: "
                f"np.array({name}, dtype={_astype(parameter)})."
            )
        if not dtype_fits(parameter, value.dtype):
            raise ArgumentError(
                f"{where} points to {dtype_name(parameter)}, but the array holds {value.dtype}. "
                + (
                    f"Convert it: {name}.astype({_astype(parameter)})."
                    if parameter.constant
                    else f"Make it of that type: np.empty({name}.shape, {_astype(parameter)}). (A copy that astype makes would "
                    "get the results.)"
                )
            )
        self._signature.known[position][1].add(value.dtype)
        if not value.flags.c_contiguous:
            raise ArgumentError(
                f"{where}: the array is not contiguous (shape {value.shape}, strides {value.strides}): a kernel sees flat "
                f"memory. Pass np.ascontiguousarray({name})."
            )
        if not value.flags.writeable:
            raise ArgumentError(f"{where}: the array is read-only. Pass {name}.copy().")
        if memory.is_device(value):
            return memory.address(value)
        self._pending.append((position, value, parameter.constant))
        return 0

    def _mirror_pending(self) -> None:
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
            for start, _, position, _, _ in group:
                self._values[position] = mirror.start + start - low

    def overrun(self) -> str:
        """Where a kernel wrote beside an array, in words, as far as the bytes around each array tell; or nothing."""
        altered = runtime.library().sim_altered
        for (pointer, _), name, value in zip(self._signature.known, self._signature.names, self._values, strict=True):
            if pointer and (side := altered(value)):
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


def _scalar(where: str, parameter: Parameter, value: Any) -> bytes:
    """The bytes of a parameter passed by value."""
    kind, size = parameter.kind.decode(), parameter.bytes
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
    return raw


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
