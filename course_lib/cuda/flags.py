"""How a `.cu` text is compiled for the simulator: the compiler's flags.

Three builds: the fast one; the checked one, in which the compiler calls a hook before every load and store (its thread
sanitizer's instrumentation, linked against the simulator's own hooks); and one that counts operations (flops.py).
"""

import re
import shutil
import subprocess
import sys
from functools import cache

from course_lib import native
from course_lib.cuda import runtime
from course_lib.cuda.declarations import device_variables
from course_lib.cuda.source import Source, include_folders, never_waits

COMMON = (
    "-fno-strict-aliasing",  # kernels read the same bytes under several types: test_punning
    "-fvisibility=hidden", "-fno-math-errno", "-fno-finite-loops",
    "-fno-delete-null-pointer-checks",  # else clang leaves out what goes through a pointer that is surely null
    "-Wall", "-Wno-unknown-pragmas", "-Wno-attributes", "-Wno-unused", "-Wno-parentheses",
    "-Werror=vla", "-Werror=multichar", "-Werror=format", "-Wno-format-zero-length",
    "-Wno-error=format-extra-args", "-Wno-error=format-security", "-fdiagnostics-color=never",
)  # fmt: skip
# A function that promises a value and ends without one stops there: else g++ runs on into other code.
TRAPPED = {
    "gcc": ("-fsanitize=return", "-fsanitize-undefined-trap-on-error"),
    "clang": ("-fsanitize=return", "-fsanitize-trap=return"),
}
PATTERN = "-ftrivial-auto-var-init=pattern"  # of variables without a value: uninitialised.py says why
FAST = (
    "-O3",
    "-march=native",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fno-semantic-interposition",
    "-ftls-model=local-dynamic",  # one look-up for all shared arrays of a function
)
CHECKED = (
    "-DSIM_CHECKED",
    "-gdwarf-4",  # addr2line of binutils 2.40 takes the first file of DWARF 5 for another
    "-fno-optimize-sibling-calls",  # a hook must return to the line that called it
    "-march=native",
    "-ffp-contract=fast",
    "-fsanitize=thread",
    "-nodefaultlibs",
)
COUNTED = ("-DSIM_COUNTED", "-O0", "-march=native", "-ffp-contract=off")  # flops.py says why
MIXES = re.compile(
    r"\*\s*(?:0x[0-9a-fA-F]{4,}|\d{5,})(?![\d.])|(?<![\d.])(?:0x[0-9a-fA-F]{4,}|\d{5,})[uUlL]*\s*\*"
)  # random numbers
APART = runtime.INCLUDE / "simulator" / "apart.ld"
SANITIZER = re.compile(r"-fsanitize(-recover|-trap)?=")
# One request is one load or store of the text, once per value: what is read twice in a row is counted as a GPU's compiler would
# leave it, once. So the checked build is optimised a little. With -O0 both compilers would count it twice, and neither would see
# where a pointer into a local array ends (test_lines, test_zoo: pointer_to_local_fault). Each flag names what fails without it.
CHECKED_BY_COMPILER = {
    "gcc": (
        "-O1",
        "-finline-small-functions", "-finline-functions",  # test_zoo: local_in_function_fault
        "-fno-tree-sra",  # else a vector access is taken apart: test_packs
        "-fno-tree-bit-ccp",  # else a misaligned address is taken for an aligned one: test_zoo, shared_double_fault
        # Not integer-divide-by-zero: g++ 12 then computes the index of (a ? x : y)[i / n] for x alone (test_values). The
        # processor tells of such a division itself (signals.cpp); an ARM one does not, and a 0 comes out.
        "-fsanitize=bounds-strict,object-size,return",
        "-fno-plt",  # a hook is called without a jump between: a tenth of a checked matrix product
    ),
    "clang": (
        "-O1",
        # null: an access that might call a handler keeps what was read before from being used again in each turn of a loop, as
        # the bounds of g++ do (test_lines). The handler leaves the pointer to the hook. Limit: what only a loop's condition reads
        # counts once under g++ and in each turn here; under zig 0.17 what is read in each turn counts once.
        "-fsanitize=array-bounds,object-size,return,integer-divide-by-zero,null",
        "-fsanitize-recover=array-bounds,object-size,integer-divide-by-zero,null",
        "-Wconditional-uninitialized",  # uninitialised.py tries what it suspects
        "-mllvm", "-hoist-common-insts=false", "-mllvm", "-sink-common-insts=false",
        "-mllvm", "-enable-tail-merge=false",  # each branch keeps its lines: test_lines
        "-gline-tables-only", "-gno-column-info",  # what is merged within a line keeps it
        "-mllvm", "-tsan-instrument-read-before-write=1",  # x += 1 is a read and a write
        "-mllvm", "-tsan-instrument-atomics=0",  # atomics.h calls the checker itself
        "-mllvm", "-tsan-instrument-func-entry-exit=0",  # nobody asks for them
    ),
}  # fmt: skip


def choose(
    text: Source, options: tuple[str, ...], checked: bool, counted: bool, compiler: native.Compiler
) -> tuple[str, ...]:
    """The flags of a text's fast, checked or counted build."""
    flags, kind = [*COMMON, f"-I{runtime.INCLUDE}"], compiler.kind
    if kind != "gcc":
        flags.append("-Wno-c++11-narrowing")  # float4{n, n, n, n} of integers: g++ and NVRTC take it
        flags.append(PATTERN)  # else it takes it that no lane hands a variable without a value to a shuffle
    if kind == "gcc":
        flags.append("-fno-extern-tls-init")  # else `extern __shared__` of a class calls what is not there
        flags.append("-fno-gnu-unique")  # else two builds share variables of templates, which each has to itself
    if kind != "zig" and sys.platform == "linux":
        flags.append("-fstack-clash-protection")  # a large local array meets the page below a stack, not the next stack
    if re.search(r"\b__shared__\s+alignas\b", text.everything):
        flags.append("-DSIM_ALIGNAS_ANYWHERE")
    if MIXES.search(text.everything):
        flags.append("-fwrapv")  # it reckons with overflow, as on a GPU; everywhere it would cost flash attention 40 %
    flags += [f"-I{folder}" for folder in include_folders(text)]
    flags += CHECKED if checked else COUNTED if counted else FAST
    if not checked:
        flags += TRAPPED["gcc" if kind == "gcc" else "clang"]
    if counted:
        flags.append("-fsanitize-coverage=" + ("trace-pc" if kind == "gcc" else "bb,no-prune,trace-pc"))
    elif checked:
        flags += CHECKED_BY_COMPILER["gcc" if kind == "gcc" else "clang"]
        if kind == "gcc" and compiler.major >= 12:
            flags.append(PATTERN)
        if kind != "zig" and device_variables(text) and _is_gnu_linker():
            flags += ["-fdata-sections", f"-Wl,-T,{APART}"]
        if kind == "clang" and sys.platform == "linux":
            flags.append("-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset")  # up to clang 14 it calls them unseen
    elif never_waits(text):
        flags.append("-DSIM_NEVER_WAITS")
    flags += [option for option in options if option.startswith(("-D", "-I", "-U"))]
    flags += runtime.machine_flags()
    if kind == "zig":  # else it links a sanitizer of its own, whose hooks would be called instead of ours
        flags.append("-fstrict-flex-arrays=3")  # the last array of a struct has the length that it says
        flags = [part for flag in flags for part in (["-Xclang", flag] if SANITIZER.match(flag) else [flag])]
    if sys.platform == "darwin":
        built = runtime.path()  # its thread-local variables are not found by name alone there
        flags += [str(built), f"-Wl,-rpath,{built.parent}"]
    return tuple(flags)


@cache
def _is_gnu_linker() -> bool:
    """Whether the linker takes a script that adds to its own."""
    linker = shutil.which("ld") if sys.platform == "linux" else None
    return linker is not None and "GNU ld" in subprocess.run([linker, "-v"], capture_output=True, text=True).stdout
