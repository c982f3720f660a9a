"""Native code: find a C++ compiler, build a shared library, keep it on disk, load it through ctypes. The lowest room.

    library = native.load("loops", [folder / "loops.cpp"], flags=("-O3", "-march=native"))

The first call compiles; later ones, in any process, find the library in the cache by the content of its sources, the
compiler and the flags. Two processes may build the same thing at once, and a damaged entry is built again.

Limits: Linux and macOS. C++17 without OpenMP (Apple's clang and zig have none; its threads spin while they wait).
COURSE_COMPILER=none|gcc|clang|zig in the environment forces a choice, CXX names a compiler.
"""

from course_lib.native.building import CompileError, NoCompiler, build, cache_folder, load, messages, precompile
from course_lib.native.compiler import Compiler, find_compiler
from course_lib.native.thread_count import Choice, candidates, follow, on_trial, step, threads

__all__ = [
    "Choice",
    "CompileError",
    "Compiler",
    "NoCompiler",
    "build",
    "cache_folder",
    "candidates",
    "find_compiler",
    "follow",
    "load",
    "messages",
    "on_trial",
    "precompile",
    "step",
    "threads",
]
