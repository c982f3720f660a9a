"""A WGSL text that is launched on NumPy arrays: they are copied to the adapter, and what was written is copied back.

It is compiled and launched as the kernels of the device webgpu are; what it is given is checked first, in a learner's words.
"""

from __future__ import annotations

import copy
import re
import struct
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import paths
from course_lib.devices.webgpu import adapter, launching, source, storage
from course_lib.wgsl import scan
from course_lib.wgsl.errors import NoAdapterError, ShaderError, explained

TYPES = {"float32": "f32", "int32": "i32", "uint32": "u32"}
MOST_GROUPS = 65_535  # along one dimension, on any adapter


class Shader(launching.Kernel):
    """The entry point `name` of a WGSL text, or of a file: one that ends in .wgsl is looked up in kernels/.

    constants: as our kernels take them, TILE=16 or CAUSAL=False. Compiled at the first launch, or by `compile()`.
    """

    def __init__(self, text: str | Path, name: str, **constants: Any):
        try:
            super().__init__(
                text if str(text).endswith(".wgsl") else _kept(str(text), name), name, tuple(constants.items())
            )
        except FileNotFoundError as error:
            raise ShaderError(
                f"There is no file {Path(error.filename).name} in kernels/ or kernels/include/."
            ) from None
        except KeyError as error:
            raise ShaderError(
                f"The uniform buffer has the type {error.args[0]}, but no struct of that name is declared."
            ) from None

    def with_text(self, text: str) -> Shader:
        """The same with another text, whose lines come from where those of its own do."""
        other = copy.copy(self)
        other.source, other._compiled = source.declaring(text, self.source.lines), {}
        for made in ("used", "pipeline"):
            other.__dict__.pop(made, None)
        return other

    @cached_property
    def used(self) -> set[str]:
        """Names in the entry point and in the functions that it calls: only such bindings belong to it."""
        return scan.reached(self.source.text, self.name)

    @cached_property
    def pipeline(self) -> Any:
        if problem := adapter.problem():
            raise NoAdapterError(f"WGSL cannot run here, so this has no result. {problem}")
        return self.pipeline_for("auto")

    def compile(self) -> None:
        """Raises ShaderError, with a sentence and the file's own line, if the text is not WGSL or has no such entry point,
        NoAdapterError where nothing can run it."""
        self.pipeline  # noqa: B018  (compiled when it is first asked for)

    def __call__(self, groups: int | tuple[int, ...], **arguments: Any) -> None:
        """Run so many workgroups. Arrays (NumPy, contiguous) and numbers go by the names that the text declares.

        Raises ShaderError where the names or types do not fit.
        """
        self.compile()
        _check_groups(groups)
        arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
        for name, value in arguments.items():
            if name in arrays or name in self.source.buffers:
                _check_array(self.source, name, value)
        there = {name: storage.from_numpy(array) for name, array in arrays.items()}
        try:
            super().__call__(groups if isinstance(groups, tuple) else int(groups), **{**arguments, **there})
        except struct.error as error:
            given = ", ".join(f"{name}={value}" for name, value in arguments.items() if name not in arrays)
            raise ShaderError(
                f"A u32 is a whole number from 0 on, and an i32 a whole number; the launch gives {given}."
            ) from error
        for name, array in arrays.items():
            if self.source.buffers[name][1] and name in self.used:
                array[...] = storage.to_numpy(there[name])

    def workgroup_size(self) -> tuple[int, int, int]:
        """How many threads a workgroup has along x, y and z."""
        head = re.search(rf"@workgroup_size\(([^)]*)\)[^;{{}}]*?\bfn\s+{self.name}\b", self.source.code)
        known = scan.numbers(self.source.code)
        sizes = [scan.evaluated(size, known) or 1 for size in head[1].split(",") if size.strip()] if head else []
        return (*sizes, 1, 1, 1)[:3]

    def _compile(self, arguments: dict[str, Any]) -> launching.Compiled:
        """For these arguments, of which only those that the entry point uses are bound."""
        text = self.source
        arrays = [name for name in arguments if name in text.buffers]
        numbers = frozenset(arguments.keys() - text.buffers.keys())
        if numbers and numbers not in text.structs:
            raise ShaderError(
                f"The launch gives the numbers {', '.join(f'`{name}`' for name in arguments if name in numbers)}, but the text "
                "has no uniform struct with just these fields: keep `struct Args` and its binding as they were."
            )
        missing = [f"`{name}`" for name in text.buffers if name in self.used and name not in arrays]
        missing += [f"`{name}`" for name in text.uniforms if name in self.used and not numbers]
        if missing:
            raise ShaderError(f"The kernel uses {' and '.join(missing)}, which this launch does not give it.")
        used = any(name in self.used and fields == numbers for name, fields in text.uniforms.items())
        return launching.Compiled(
            self.pipeline,
            self.pipeline.get_bind_group_layout(0) if used or self.used.intersection(arrays) else None,
            text.structs[numbers] if used else None,
            [(name, *text.buffers[name]) for name in arrays if name in self.used],
        )

    def _refusal(self, said: str) -> ShaderError:
        sentence, line = explained(said, self.source.text.splitlines())
        if line is None:
            return ShaderError(f"This does not compile: {sentence}")
        file, number, code = self.source.line(line)
        return ShaderError(f"This does not compile. {file}, line {number}: {sentence}\n{number:4} | {code}", number)


def _kept(text: str, name: str) -> Path:
    """A text as a file of its own, which its lines and its includes are read from."""
    return paths.kept(paths.cache("shaders"), f"{name}.wgsl", text + "\n")


def _check_groups(groups: Any) -> None:
    """Raises ShaderError for a number of groups that no launch can have."""
    counts = groups if isinstance(groups, tuple) else (groups,)
    if len(counts) > 3 or not all(isinstance(count, Integral) and 0 <= count <= MOST_GROUPS for count in counts):
        raise ShaderError(
            f"A launch has up to three numbers of groups, each a whole number up to {MOST_GROUPS:,}, and no {groups!r}."
        )


def _check_array(text: source.Source, name: str, array: Any) -> None:
    """Raises ShaderError for what cannot be given as an array of this name."""
    if name not in text.buffers:
        raise ShaderError(
            f"The launch gives an array `{name}`, but the text has no storage buffer of that name: keep its binding."
        )
    if not isinstance(array, np.ndarray):
        raise ShaderError(f"`{name}` is a {type(array).__name__}, but must be a NumPy array.")
    if array.dtype.name not in TYPES:
        raise ShaderError(f"`{name}` must be an array of {' or '.join(TYPES)}, but is {array.dtype}: astype makes one.")
    if not array.flags.c_contiguous:
        raise ShaderError(f"The numbers of `{name}` do not lie in a row, as after `.T`: np.ascontiguousarray helps.")
    kinds = {declared: kind for _, _, declared, kind in source.STORAGE.findall(text.code)}
    kind = re.match(r"array<\s*(\w+)\s*[,>]", kinds[name])
    if kind and kind[1] in TYPES.values() and kind[1] != TYPES[array.dtype.name]:
        raise ShaderError(f"`{name}` is declared as an array of {kind[1]}, but was given {array.dtype}.")
