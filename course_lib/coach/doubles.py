"""A note on constants of 64 bits in a kernel that passed: right, and slow on many GPUs.

A constant such as 0.5 is a double in C++, and where it meets a float, both are computed as doubles. A multiprocessor does from
half as many of those each clock (sm_80, sm_90) down to one in 64 (sm_86, sm_89): NVIDIA, CUDA C++ Programming Guide, table of
arithmetic throughput.
"""

from __future__ import annotations

import re

from course_lib import lexer

CONSTANT = re.compile(r"(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")


def note(text: str) -> str:
    """One sentence about the first constant of 64 bits in a text of CUDA C++ that names no double itself; "" if there is none."""
    words = lexer.read(text).words
    found = next((word for word in words if word.kind == lexer.NUMBER and CONSTANT.fullmatch(word.text)), None)
    if found is None or any(word.text == "double" for word in words):
        return ""
    return (
        f"Line {found.line}: `{found.text}` is a double. Where it meets a float, both are computed in 64 bits, which takes 2 to "
        f"64 times as long on a GPU. Write `{found.text if set('.eE') & set(found.text) else found.text + '.'}f`."
    )
