"""Spares wgpu most of its start: the C types that it names are read in one go.

wgpu asks cffi for types by their names, about 40 in a process that launches a kernel. For each new name cffi's parser reads the
400 names of wgpu.h again, 40 to 100 ms. A function that takes all of them is read once, and knows each. What cffi remembers is
its own affair (`_parsed_types`): where that changes, nothing is spared, and nothing fails.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from functools import cache

# In wgpu's own text: "WGPULimits *", "WGPUCommandBuffer[]", "uint8_t []", "uintptr_t"; callback("void(WGPUDevice const *, ...)"
NAMED = re.compile(r'"(WGPU\w+|char|u?int\w*_t)( ?(?:\* ?|\[\]))?"')
CALLED = re.compile(r'callback\(\s*"void\(([^"]+)\)"')


@cache
def learn() -> None:
    """Let cffi know the types that wgpu will ask for. Raises ImportError where wgpu is not installed."""
    from wgpu.backends.wgpu_native import _api, _helpers, extras

    with contextlib.suppress(Exception):  # of another version: it learns them one by one, as it would have
        ffi, text = _api.ffi, "".join(map(inspect.getsource, (_api, _helpers, extras)))
        declared = set(ffi.list_types()[0])
        known = [(name, end) for name, end in NAMED.findall(text) if name in declared or not name.startswith("WGPU")]
        names = list(dict.fromkeys(name for name, _ in known))
        called = [
            taken for taken in dict.fromkeys(CALLED.findall(text)) if set(re.findall(r"WGPU\w+", taken)) <= declared
        ]
        every = [*(f"{name} *" for name in names), *(f"void (*)({taken})" for taken in called)]
        learned = ffi.typeof(f"void (*)({', '.join(every)})").args
        pointer_to = dict(zip(names, learned, strict=False))
        for name, end in set(known):
            pointer = pointer_to[name]
            if end.endswith("]"):
                made = ffi._backend.new_array_type(pointer, None)
            elif end or name.startswith("WGPU"):  # of a struct that is named alone it wants a pointer
                made, end = pointer, end or " *"
            else:
                made = pointer.item
            ffi._parsed_types.setdefault(name + end, (made, False))  # no function
        for taken, made in zip(called, learned[len(names) :], strict=True):
            ffi._parsed_types.setdefault(f"void({taken})", (made, True))
