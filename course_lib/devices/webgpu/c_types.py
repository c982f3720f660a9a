"""Spares wgpu most of its start: the C types that it names are read in one go.

wgpu asks cffi for types by their names, about 30 in a process that launches a kernel. For each new name cffi's parser reads the
400 names of wgpu.h again, 50 to 100 ms. A function that takes all of them is read once, and knows each. What cffi remembers is
its own affair (`_parsed_types`): where that changes, nothing is spared, and nothing fails.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from functools import cache

NAMED = re.compile(r'"(WGPU\w+)( ?(?:\* ?|\[\]))?"')  # in wgpu's own text: "WGPULimits *", "WGPUCommandBuffer[]"


@cache
def learn() -> None:
    """Let cffi know the types that wgpu will ask for. Raises ImportError where wgpu is not installed."""
    from wgpu.backends.wgpu_native import _api, _helpers, extras

    with contextlib.suppress(Exception):  # of another version: it learns them one by one, as it would have
        ffi, text = _api.ffi, "".join(map(inspect.getsource, (_api, _helpers, extras)))
        declared = set(ffi.list_types()[0])
        found = sorted({(name, ending or " *") for name, ending in NAMED.findall(text) if name in declared})
        names = list(dict.fromkeys(name for name, _ in found))
        pointers = ffi.typeof(f"void (*)({', '.join(f'{name} *' for name in names)})").args
        pointer_to = dict(zip(names, pointers, strict=True))
        for name, ending in found:
            pointer = pointer_to[name]
            made = ffi._backend.new_array_type(pointer, None) if ending.endswith("]") else pointer
            ffi._parsed_types.setdefault(name + ending, (made, False))  # no function
