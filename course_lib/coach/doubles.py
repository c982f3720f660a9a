"""A note on constants of 64 bits in a kernel that passed: right, and slow on many GPUs.

A constant such as 0.5 is a double in C++, and where it meets a float, both are computed as doubles. A multiprocessor does from
half as many of those each clock (sm_80, sm_90) down to one in 64 (sm_86, sm_89): NVIDIA, CUDA C++ Programming Guide, table of
arithmetic throughput.
"""

from __future__ import annotations

import re

NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
CONSTANT = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])|(?<![\w.])\d+[eE][+-]?\d+(?![\w.])")


def note(text: str) -> str:
    """One sentence about the first constant of 64 bits in a text of CUDA C++ that names no double itself; "" if there is none."""
    code = NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)  # lines stay where they are
    found = CONSTANT.search(code)
    if found is None or re.search(r"\bdouble\b", code):
        return ""
    line = code.count("\n", 0, found.start()) + 1
    number = found[0] if re.search(r"[.eE]", found[0]) else f"{found[0]}."
    return (
        f"Line {line}: `{found[0]}` is a double. Where it meets a float, both are computed in 64 bits, which takes 2 to 64 times "
        f"as long on a GPU. Write `{number}f`."
    )
