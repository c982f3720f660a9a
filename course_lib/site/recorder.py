"""What an exercise's `call` does with a kernel, noted without running one: launches, their arrays, which of them are looked at.

A Recorder stands in place of the kernel and computes nothing. Its `place` says where a result of `call` lies among the arrays:
an array or a part of it, in any steps; a copy of one; the sum of one's rows; the float32 numbers of one in bfloat16; or a list
of these. What is no part of an array is found by its content, after a call whose launches filled the arrays with random numbers.
A structure by value may hold arrays' addresses, which have 4 bytes in the page: it is laid out anew, and the page puts them in.
"""

import base64
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

from course_lib.coach.shared_cases import of_bfloat16_bits
from course_lib.cuda import memory

POINTER = 4  # bytes, in the page
MOST_PARTS = 16  # results that are stacked into one


class Recorder:
    """Called in place of a kernel: notes the launches. fill: whether a launch writes random numbers into all arrays."""

    def __init__(self, defines: str, default: str, fill: bool = False):
        self.defines, self.default = defines, default
        self.launches: list[dict] = []
        self.roots: list[np.ndarray] = []
        self.known: list[bytes] = []
        self.allocated: list[np.ndarray] = []  # all arrays of the device, which a structure may point to
        self.random = np.random.default_rng(0) if fill else None

    def result_of(self, call: Callable, *inputs: Any) -> Any:
        """What `call` returns, which launches this in place of the kernel."""
        allocate = memory._allocate

        def noted(*how):
            self.allocated.append(allocate(*how))
            return self.allocated[-1]

        with mock.patch.object(memory, "_allocate", noted):
            return call(self, *inputs)

    def __call__(self, grid, block, args, shared_mem: int = 0, **options: Any) -> None:
        self._launch(self.default, grid, block, args, shared_mem)

    def instance(self, arguments: str):
        """One instance of a template."""
        given = arguments if "<" in arguments else f"{self.defines}<{arguments}>"
        name = given if arguments else self.defines
        return lambda grid, block, args, shared_mem=0, **options: self._launch(name, grid, block, args, shared_mem)

    def _launch(self, name: str, grid, block, args, shared: int) -> None:
        written: list[dict] = []
        given = [self._argument(value, written) for value in args]
        launch = {"kernel": name, "grid": _three(grid), "block": _three(block), "shared": int(shared), "args": given}
        self._note({**launch, "set": written})

    def _note(self, launch: dict) -> None:
        self.launches.append(launch)
        if self.random is not None:
            for number, root in enumerate(self.roots):
                _fill(root, self.random)
                self.known[number] = root.tobytes()

    def _argument(self, value: Any, written: list[dict]) -> Any:
        if value is None:
            return None
        if isinstance(value, np.void | np.ndarray) and value.dtype.names and not value.shape:
            return self._structure(np.asarray(value), written)
        if isinstance(value, np.ndarray):
            return {**self._pointer(value, written), "dtype": value.dtype.name, "shape": list(value.shape)}
        return {"number": _number(value.item() if isinstance(value, np.generic) else value)}

    def _pointer(self, array: np.ndarray, written: list[dict]) -> dict:
        """Where an array lies: {array, offset}. What is new in it is noted in `written`."""
        root = _root(array)
        number = next((i for i, one in enumerate(self.roots) if one is root or np.shares_memory(one, root)), None)
        if number is None:
            number = len(self.roots)
            self.roots.append(root)
            self.known.append(b"")
        content = root.tobytes()
        if content != self.known[number]:
            self.known[number] = content
            written.append({"array": number, **_content(root)})
        return {"array": number, "offset": memory.address(array) - memory.address(self.roots[number])}

    def _structure(self, value: np.ndarray, written: list[dict]) -> dict:
        """A structure by value as the page lays it out: its bytes, and `pointers`, [where in it, array, offset]."""
        if not any(value.dtype[name].base == np.uint64 for name in value.dtype.names):
            return {"struct": encoded(value), "pointers": []}
        content, pointers, alignment = bytearray(), [], 1
        for name in value.dtype.names:
            field = np.atleast_1d(value[name])
            is_pointer = field.dtype == np.uint64
            size = POINTER if is_pointer else field.dtype.alignment
            alignment = max(alignment, size)
            content += bytes(-len(content) % size)
            if is_pointer:
                for i, address in enumerate(field.ravel()):
                    if address:
                        found = self._pointer(self._array_at(int(address)), written)
                        pointers.append([len(content) + POINTER * i, found["array"], found["offset"]])
                content += bytes(POINTER * field.size)
            else:
                content += field.tobytes()
        content += bytes(-len(content) % alignment)
        return {"struct": encoded(np.frombuffer(bytes(content), np.uint8)), "pointers": pointers}

    def _array_at(self, address: int) -> np.ndarray:
        """The array of the device in which an address lies, from there on."""
        for array in self.allocated:
            begin = memory.address(array)
            if begin <= address < begin + array.nbytes:
                return array.reshape(-1)[(address - begin) // array.itemsize :]
        raise LookupError(f"A structure holds the address {address:#x}, where no array lies.")

    def place(self, result: Any) -> Any:
        """Where a result of `call` lies, or a list of such; None where it is made from the arrays in another way than the head of
        this file says. {array, offset, dtype, shape}, offset in bytes; strides: of what is not contiguous, in bytes; rows: how
        many are summed, and the bytes from one to the next."""
        if isinstance(result, tuple | list):
            return [self.place(one) for one in result]
        if not isinstance(result, np.ndarray) or not result.size:
            return None
        for number, root in enumerate(self.roots):
            if np.shares_memory(root, result):
                where = {"array": number, "offset": memory.address(result) - memory.address(root)}
                where |= {"dtype": result.dtype.name, "shape": list(result.shape)}
                return where if result.flags.c_contiguous else {**where, "strides": list(result.strides)}
        return self._by_content(result) if self.random is not None else None

    def _by_content(self, result: np.ndarray) -> Any:
        for number, root in enumerate(self.roots):
            where = {"array": number, "offset": 0, "dtype": result.dtype.name, "shape": list(result.shape)}
            if root.dtype == result.dtype and root.tobytes() == result.tobytes():
                return where
            if root.dtype == np.uint16 and root.size == result.size and np.array_equal(of_bfloat16_bits(root), result):
                return {**where, "dtype": "bfloat16"}
        for array in self.allocated:  # in their shapes
            number = next((i for i, root in enumerate(self.roots) if root is _root(array)), None)
            if number is None or array.ndim != 2 or result.ndim != 1 or array.dtype != result.dtype:
                continue
            sums = array.sum(0)
            for at in range(len(sums) - len(result) + 1):
                if np.array_equal(sums[at : at + len(result)], result):
                    return {
                        "array": number,
                        "offset": at * array.itemsize,
                        "dtype": result.dtype.name,
                        "shape": list(result.shape),
                        "rows": [len(array), array.strides[0]],
                    }
        if result.ndim > 1 and len(result) <= MOST_PARTS:
            parts = [self._by_content(one) for one in result]
            return None if None in parts else parts
        return None


class ShaderRecorder(Recorder):
    """The same in place of a Shader, which takes arrays and numbers by their names."""

    def __call__(self, groups, **arguments: Any) -> None:
        self._launch_shader(self.default, groups, arguments)

    def instance(self, arguments: str):
        """The entry point with constants, or another one: NAME<CONSTANTS>."""
        name = arguments if "<" in arguments else f"{self.defines}<{arguments}>" if arguments else self.defines
        return lambda groups, **given: self._launch_shader(name, groups, given)

    def _launch_shader(self, name: str, groups, arguments: dict) -> None:
        written: list[dict] = []
        given = {}
        for key, value in arguments.items():
            if isinstance(value, np.ndarray):
                given[key] = {**self._pointer(value, written), "bytes": value.nbytes}
            else:
                numbers = value if isinstance(value, tuple | list) else [value]
                given[key] = {"numbers": [_number(np.asarray(one).item()) for one in numbers]}
        self._note({"kernel": name, "grid": _three(groups), "args": given, "set": written})


def is_placed(place: Any) -> bool:
    """Whether all of a result was found."""
    return all(map(is_placed, place)) if isinstance(place, list) else place is not None


def encoded(array: np.ndarray) -> str:
    """An array's bytes as base64."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _root(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _fill(array: np.ndarray, random: np.random.Generator) -> None:
    """Random numbers; small ones where they are whole, which are no NaN as the bits of a bfloat16."""
    if array.dtype.kind == "f":
        array[...] = random.normal(size=array.shape)
    elif array.dtype.kind in "iu":
        array[...] = random.integers(0, 100, size=array.shape)


def _three(size) -> list[int]:
    return [*map(int, np.atleast_1d(size)), 1, 1][:3]


def _number(value: float | int) -> float | int | str:
    """As JavaScript reads it: what JSON cannot hold, or JavaScript would round, as text."""
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(value) if isinstance(value, int) and abs(value) >= 2**53 else value


def _content(array: np.ndarray) -> dict:
    """An array's bytes; what `empty` has left is not stored."""
    words = np.frombuffer(array.tobytes()[: array.nbytes // 4 * 4], np.uint32)
    if len(words) and (words == memory.UNWRITTEN).all():
        return {"empty": array.nbytes}
    return {"zeros": array.nbytes} if not any(array.tobytes()) else {"bytes": encoded(array)}
