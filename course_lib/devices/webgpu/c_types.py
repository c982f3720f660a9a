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

NAMED = re.compile(r'"((?:WGPU\w+|u?int\d+_t|char) ?(?:\*|\[\]))"')  # in wgpu's own text: "WGPULimits *", "char []"


@cache
def learn() -> None:
    """Let cffi know the types that wgpu will ask for. Raises ImportError where wgpu is not installed."""
    from wgpu.backends.wgpu_native import _api, _helpers

    with contextlib.suppress(Exception):  # of another version: it learns them one by one, as it would have
        known, ffi = _api.ffi._parsed_types, _api.ffi
        text = inspect.getsource(_api) + inspect.getsource(_helpers)
        names = sorted(set(NAMED.findall(text)) - known.keys())
        pointers = dict.fromkeys(f"{name.rstrip('*[] ')} *" for name in names)
        found = ffi.typeof(f"void (*)({', '.join(pointers)})").args
        pointer_to = dict(zip(pointers, found, strict=True))
        for name in names:
            pointer = pointer_to[f"{name.rstrip('*[] ')} *"]
            made = ffi._backend.new_array_type(pointer, None) if name.endswith("]") else pointer
            known[name] = (made, False)  # no function
