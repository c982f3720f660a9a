"""The types of a kernel's parameters: their names for people, and which dtypes and numbers belong to them."""

import ctypes

import numpy as np


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


# What Python and NumPy values a parameter takes as they are, and how struct writes them.
_PLAIN = {
    ("f", 4): ("f", {float, int, np.float32}), ("f", 8): ("d", {float, int, np.float64}),
    ("h", 2): ("e", {float, int, np.float16}), ("b", 1): ("?", {bool, np.bool_}),
    ("i", 1): ("b", {int, np.int8}), ("u", 1): ("B", {int, np.uint8}),
    ("i", 2): ("h", {int, np.int16}), ("u", 2): ("H", {int, np.uint16}),
    ("i", 4): ("i", {int, np.int32}), ("u", 4): ("I", {int, np.uint32}),
    ("i", 8): ("q", {int, np.int64}), ("u", 8): ("Q", {int, np.uint64}),
}  # fmt: skip


def plain(parameter: Parameter) -> tuple[str, set]:
    """struct's code for a parameter, and the types whose values need no second look (of pointers none: dtypes, learnt)."""
    if parameter.pointer:
        return "Q", set()
    if parameter.bytes != parameter.element_bytes:
        return f"{parameter.bytes}s", set()
    return _PLAIN.get((parameter.kind.decode(), parameter.bytes), (f"{parameter.bytes}s", set()))
