"""Count the floating-point operations of a launch: how often each basic block ran, times the operations in it.

A further build is made for this, without optimisation, so that each operation in the text is one instruction in the
library: nothing is fused, shared, vectorised or moved, whichever compiler it is. The compiler calls the runtime at the
start of each basic block; the instructions come from a disassembler.

What counts: an addition, subtraction, multiplication, division or square root 1, an fma 2, a function (expf, tanhf, powf,
rsqrtf, fmaxf ...) 1, in float, double, half and bfloat16; a product on tensor cores 2 M N K; an atomicAdd of floats 1.
Comparisons, conversions, signs, floor and its like do not count, nor what the compiler works out beforehand (2.0f / 3.0f).
"""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.cuda import launch, runtime, symbols, variables
from course_lib.cuda.errors import KernelError
from course_lib.cuda.kernel import Kernel

ONCE = re.compile(
    r"v?(?:add|sub|mul|div|sqrt|max|min)s[sd]$"  # x86
    r"|f(?:add|sub|mul|nmul|div|sqrt|max|min|maxnm|minnm)$"  # ARM
)
TWICE = re.compile(r"vfn?m(?:add|sub)\d+s[sd]$|fn?m(?:add|sub)$")
FUNCTIONS = frozenset(
    f"{name}{suffix}"
    for suffix in ("", "f")
    for name in """acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp2 exp10 expm1 fdim fmax fmin fmod
    hypot lgamma log log10 log1p log2 pow remainder sin sinh sqrt tan tanh tgamma""".split()
)
OPERATION = "sim_operation"  # the section of our own functions that count as one operation: language.h
_INSTRUCTION = re.compile(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)")
_CALLED = re.compile(r"([0-9a-f]+) <([^>@+]+)(?:@plt)?>")


class _BlockCount(ctypes.Structure):
    """flops.cpp: BlockCount."""

    _fields_ = [("address", ctypes.c_uint64), ("count", ctypes.c_uint64)]


def tool() -> str | None:
    """The disassembler, or None."""
    return next((name for name in ("objdump", "llvm-objdump") if shutil.which(name)), None)


def count(
    kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], shared_mem: int = 0, timeout: float | None = 60
) -> int:
    """Floating-point operations of one launch, which is run for this: results are in the arrays afterwards.

    Raises KernelError where no disassembler (objdump, llvm-objdump) is found, and what a launch raises.
    """
    if tool() is None:
        raise KernelError("Counting operations needs a disassembler: install binutils (`sudo apt install binutils`).")
    library = kernel.compiled(checked=False, counted=True)
    variables.copy(kernel.compiled(checked=True), library)
    lib, first = runtime.library(), ctypes.POINTER(_BlockCount)()
    lib.sim_block_counts.argtypes = [ctypes.POINTER(ctypes.POINTER(_BlockCount))]
    with runtime.LAUNCH_LOCK:
        lib.sim_count_blocks()
        launch.launch(library, kernel.name, kernel.parameter_names, grid, block, args, shared_mem, timeout, 0)
        length = lib.sim_block_counts(ctypes.byref(first))
        counts = {first[i].address: first[i].count for i in range(length) if first[i].address}
    if not counts:
        raise KernelError(f"{kernel.name} has too many basic blocks for its operations to be counted.")
    base, weights = symbols.base(library.handle), operations(library.path)
    return sum(times * weights.get(address - base, 0) for address, times in counts.items())


@cache
def operations(library: Path) -> dict[int, int]:
    """Operations in each basic block of a counting library, by the address behind the call at its start."""
    listing = subprocess.run([tool(), "-d", "--no-show-raw-insn", str(library)], capture_output=True, text=True).stdout
    ours = _addresses(listing)
    found: dict[int, int] = {}
    current, begins, counts, before = 0, False, True, ""
    for line in listing.splitlines():
        if line.startswith("Disassembly of section"):
            counts = "section sim_" not in line
        match = _INSTRUCTION.match(line)
        if not match:
            if line.endswith(">:"):
                current = 0  # another function
            continue
        address, mnemonic, operands = int(match.group(1), 16), match.group(2), match.group(3)
        if begins:
            current, begins = address, False
            found[current] = 0
        called = _CALLED.search(operands) if mnemonic in ("call", "callq", "bl") else None
        if called and called.group(2) == "__sanitizer_cov_trace_pc":
            begins = True
        elif current and counts:
            found[current] += _operations(mnemonic, operands, before, called, ours)
        before = mnemonic
    return found


def _operations(mnemonic: str, operands: str, before: str, called: re.Match | None, ours: set[int]) -> int:
    """How many operations one instruction is."""
    if called:
        if called.group(2) in ("fma", "fmaf"):
            return 2
        return int(called.group(2) in FUNCTIONS or int(called.group(1), 16) in ours)
    if TWICE.match(mnemonic):
        return 2
    registers = operands.split(",")
    if "cvtsi2s" in before and "adds" in mnemonic and len({register.strip() for register in registers}) == 1:
        return 0  # part of how x86 converts large unsigned integers
    return int(bool(ONCE.match(mnemonic)))


def _addresses(listing: str) -> set[int]:
    """Where our own functions that count as one operation begin."""
    _, found, section = listing.partition(f"Disassembly of section {OPERATION}:")
    body = section.partition("Disassembly of section")[0] if found else ""
    return {int(match, 16) for match in re.findall(r"(?m)^([0-9a-f]+) <[^>]+>:", body)}
