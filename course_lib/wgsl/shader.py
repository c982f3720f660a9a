"""A WGSL text that is launched on NumPy arrays: they are copied to the adapter, and what was written is copied back."""

from __future__ import annotations

import hashlib
import re
import struct
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import lexer, paths
from course_lib.devices.webgpu import adapter, source
from course_lib.wgsl import scan
from course_lib.wgsl.errors import NoAdapterError, ShaderError, explained

TYPES = {"float32": "f32", "int32": "i32", "uint32": "u32"}
UNIFORM_STRUCT = re.compile(r"var<uniform> (\w+): (\w+);")
MOST_GROUPS = 65_535  # along one dimension, on any adapter
STORAGE, COPY_SRC, COPY_DST, UNIFORM = 0x80, 0x4, 0x8, 0x40  # GPUBufferUsage


class Shader:
    """The entry point `name` of a WGSL text, or of a file: one that ends in .wgsl is looked up in kernels/.

    constants: as our kernels take them, TILE=16 or CAUSAL=False. Compiled at the first launch, or by `compile()`.
    """

    def __init__(self, text: str | Path, name: str, **constants: Any):
        self.name = name
        self.file = str(text) if str(text).endswith(".wgsl") else str(_kept(str(text), name))
        try:
            self.source = source.read(self.file, tuple(constants.items()))
        except FileNotFoundError as error:
            raise ShaderError(
                f"There is no file {Path(error.filename).name} in kernels/ or kernels/include/."
            ) from None
        except KeyError as error:
            raise ShaderError(
                f"The uniform buffer has the type {error.args[0]}, but no struct of that name is declared."
            ) from None

    @cached_property
    def used(self) -> set[str]:
        """Names in the entry point and in the functions that it calls: only such bindings belong to it."""
        return scan.reached(self.source.text, self.name)

    @cached_property
    def pipeline(self) -> Any:
        return compiled(self.source, self.name)

    def compile(self) -> None:
        """Raises ShaderError, with a sentence and the line, if the text is not WGSL or has no such entry point."""
        self.pipeline  # noqa: B018  (compiled when it is first asked for)

    def __call__(self, groups: int | tuple[int, ...], **arguments: Any) -> None:
        """Run so many workgroups. Arrays (NumPy, contiguous) and numbers go by the names that the text declares.

        Raises ShaderError where the names or types do not fit.
        """
        launch(self.pipeline, self, groups, arguments)

    def workgroup_size(self) -> tuple[int, int, int]:
        """How many threads a workgroup has along x, y and z."""
        head = re.search(rf"@workgroup_size\(([^)]*)\)[^;{{}}]*?\bfn\s+{self.name}\b", self.source.text)
        known = scan.numbers(lexer.read(self.source.text, wgsl=True).code)
        sizes = [scan.evaluated(size, known) or 1 for size in head[1].split(",") if size.strip()] if head else []
        return (*sizes, 1, 1, 1)[:3]


def _kept(text: str, name: str) -> Path:
    """A text as a file of its own, which its lines and its includes are read from."""
    folder = paths.cache("shaders") / hashlib.sha256(text.encode()).hexdigest()[:16]
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.wgsl"
    if not file.exists():
        paths.write_whole(file, text + "\n")
    return file


def compiled(text: source.Source, name: str) -> Any:
    """A compute pipeline. Raises ShaderError with the file's own line, NoAdapterError where nothing can run it."""
    if problem := adapter.problem():
        raise NoAdapterError(f"WGSL cannot run here, so this has no result. {problem}")
    device = adapter.device()
    import wgpu

    try:
        module = device.create_shader_module(code=text.text)
        return device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": name})
    except wgpu.GPUError as error:
        rows = text.text.splitlines()
        sentence, line = explained(str(error), rows)
        if line is None:
            raise ShaderError(f"This does not compile: {sentence}") from error
        file, number = text.lines[min(line, len(text.lines)) - 1]
        code = rows[line - 1].strip() if line <= len(rows) else ""
        raise ShaderError(
            f"This does not compile. {file}, line {number}: {sentence}\n{number:4} | {code}", number
        ) from error


def launch(
    pipeline: Any, shader: Shader, groups, arguments: dict[str, Any], extra: dict[int, Any] | None = None
) -> None:
    """Copy arrays there, run, and copy what was written back. extra: binding -> GPUBuffer."""
    device, text = adapter.device(), shader.source
    _check_launch(text, groups, arguments)
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    bound = dict(extra or {})
    if numbers := {name: value for name, value in arguments.items() if name not in arrays}:
        name, binding, packed = _packed(text, numbers)
        if name in shader.used:
            bound[binding] = device.create_buffer_with_data(data=packed, usage=UNIFORM)
    written = []
    for name, array in arrays.items():
        place, writable = _declared(text, name, array)
        if name not in shader.used:
            continue
        data = array if array.size else np.zeros(1, np.uint32)
        bound[place] = device.create_buffer_with_data(data=data, usage=STORAGE | COPY_SRC)
        if writable and array.size:
            written.append((array, bound[place]))
    missing = [f"`{name}`" for name in text.buffers if name in shader.used and name not in arrays]
    missing += [f"`{name}`" for name, _ in UNIFORM_STRUCT.findall(text.text) if name in shader.used and not numbers]
    if missing:
        raise ShaderError(f"The kernel uses {' and '.join(missing)}, which this launch does not give it.")
    entries = [
        {"binding": place, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
        for place, buffer in bound.items()
    ]
    encoder = device.create_command_encoder()
    run = encoder.begin_compute_pass()
    run.set_pipeline(pipeline)
    if entries:
        run.set_bind_group(0, device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries))
    run.dispatch_workgroups(*(groups if isinstance(groups, tuple) else (groups,)))
    run.end()
    device.queue.submit([encoder.finish()])
    for array, buffer in written:
        array[...] = np.frombuffer(device.queue.read_buffer(buffer), array.dtype).reshape(array.shape)


def _check_launch(text: source.Source, groups: Any, arguments: dict[str, Any]) -> None:
    """Raises ShaderError for a number of groups or an argument that no launch can take."""
    counts = groups if isinstance(groups, tuple) else (groups,)
    if len(counts) > 3 or not all(isinstance(count, Integral) and 0 <= count <= MOST_GROUPS for count in counts):
        raise ShaderError(
            f"A launch has up to three numbers of groups, each a whole number up to {MOST_GROUPS:,}, and no {groups!r}."
        )
    for name, value in arguments.items():
        if name in text.buffers and not isinstance(value, np.ndarray):
            raise ShaderError(f"`{name}` is a {type(value).__name__}, but must be a NumPy array.")


def _packed(text: source.Source, numbers: dict[str, Any]) -> tuple[str, int, bytes]:
    """Name, binding and content of the uniform struct with these fields."""
    found = text.structs.get(frozenset(numbers))
    if found is None:
        raise ShaderError(
            f"The launch gives the numbers {', '.join(f'`{name}`' for name in numbers)}, but the text has no uniform struct with "
            "just these fields: keep `struct Args` and its binding as they were."
        )
    name = next(
        name for name, fields in UNIFORM_STRUCT.findall(text.text) if _fields(text.text, fields) == set(numbers)
    )
    try:
        return name, found[0], source.pack(found[1], numbers)
    except struct.error as error:
        given = ", ".join(f"{field}={value}" for field, value in numbers.items())
        raise ShaderError(
            f"A u32 is a whole number from 0 on, and an i32 a whole number; the launch gives {given}."
        ) from error


def _fields(text: str, struct: str) -> set[str]:
    return set(re.findall(r"(\w+)\s*:", re.search(rf"struct {struct} \{{([^}}]*)\}}", text)[1]))


def _declared(text: source.Source, name: str, array: np.ndarray) -> tuple[int, bool]:
    """Binding of a storage buffer, and whether it is written."""
    if name not in text.buffers:
        raise ShaderError(
            f"The launch gives an array `{name}`, but the text has no storage buffer of that name: keep its binding."
        )
    if array.dtype.name not in TYPES:
        raise ShaderError(f"`{name}` must be an array of {' or '.join(TYPES)}, but is {array.dtype}: astype makes one.")
    if not array.flags.c_contiguous:
        raise ShaderError(f"The numbers of `{name}` do not lie in a row, as after `.T`: np.ascontiguousarray helps.")
    kind = re.search(rf"\b{name}: array<(\w+)", text.text)
    if kind and kind[1] in TYPES.values() and kind[1] != TYPES[array.dtype.name]:
        raise ShaderError(f"`{name}` is declared as an array of {kind[1]}, but was given {array.dtype}.")
    return text.buffers[name]
