"""How a kernel of kernels/*.wgsl runs: compiled once for its constants, its arguments by name, many launches handed in together.

    kernel("gelu.wgsl", "gelu_forward")(groups, x=x, y=y, n=x.size)

Launches are written down and handed to the GPU some hundred at a time, or when somebody asks for a value. Numbers that a kernel
is given lie in small buffers that are kept by their content, and what binds buffers to a kernel is kept too, so that a training
step makes none after the first.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any

from ..gpu.launching import blocks
from . import memory, source
from .adapter import device, explained, limit
from .memory import COPY_DST, WORD, Array

UNIFORM, MAP_READ = 0x40, 0x1  # GPUBufferUsage
TOGETHER = 256  # launches handed in at once
MOST_KEPT = 8192  # small buffers, and bindings

_encoder: Any = None
_pass: Any = None
_pending = 0
_uniforms: OrderedDict[bytes, Any] = OrderedDict()
_bindings: OrderedDict[tuple, Any] = OrderedDict()


class Kernel:
    """A function of a WGSL file with its constants."""

    def __init__(self, file: str, name: str, constants: tuple[tuple[str, object], ...]):
        self.file, self.name = file, name
        self.source = source.read(file, constants)
        self._pipeline: Any = None

    @property
    def pipeline(self) -> Any:
        """Compiled at the first launch. Raises RuntimeError with the line of the file that does not compile."""
        if self._pipeline is None:
            self._pipeline = compile(self.source, self.file, self.name)
            self.layout = self._pipeline.get_bind_group_layout(0)
        return self._pipeline

    def __call__(self, groups: int | tuple[int, ...], **arguments) -> None:
        """Run so many workgroups, a number or (x, y, z), with arrays and numbers by the names that the file declares.

        One number of more than a dimension may hold is folded into rows: such a kernel counts its groups by `group_index`.
        """
        with explained(f"launching {self.name} of kernels/{self.file}"):
            self._launch(groups, arguments)

    def _launch(self, groups: int | tuple[int, ...], arguments: dict) -> None:
        numbers = {name: value for name, value in arguments.items() if not isinstance(value, Array)}
        arrays = {name: value for name, value in arguments.items() if isinstance(value, Array)}
        binding, fields = self.source.structs[frozenset(numbers)]
        pipeline, grid = self.pipeline, _grid(groups)
        arrays = self._apart(arrays)
        bound = [(binding, _uniform(source.pack(fields, numbers)), 0, None)]
        bound += [
            (self.source.buffers[name][0], array.memory.buffer, array.offset * WORD, max(array.size, 1) * WORD)
            for name, array in arrays.items()
        ]
        run = _open_pass()
        run.set_pipeline(pipeline)
        run.set_bind_group(0, self._bind(bound))
        run.dispatch_workgroups(*grid)
        for name, array in arrays.items():
            if self.source.buffers[name][1]:
                array.memory.range = None
        _count()

    def _apart(self, arrays: dict[str, Array]) -> dict[str, Array]:
        """WebGPU lets no launch read a buffer that it writes: what is read from one is copied away first."""
        written = [array.memory for name, array in arrays.items() if self.source.buffers[name][1]]
        return {
            name: copied(array) if not self.source.buffers[name][1] and array.memory in written else array
            for name, array in arrays.items()
        }

    def _bind(self, bound: list[tuple]) -> Any:
        key = (id(self), *((binding, id(buffer), offset, size) for binding, buffer, offset, size in bound))

        def make() -> Any:
            entries = [
                {"binding": binding, "resource": {"buffer": buffer, "offset": offset, "size": size or buffer.size}}
                for binding, buffer, offset, size in bound
            ]
            group = device().create_bind_group(layout=self.layout, entries=entries)
            return group, self, [buffer for _, buffer, _, _ in bound]  # kept alive, so that no id comes twice

        return _kept(_bindings, key, make)[0]


@cache
def _kernel(file: str, name: str, constants: tuple[tuple[str, object], ...]) -> Kernel:
    return Kernel(file, name, constants)


def kernel(file: str, name: str, **constants) -> Kernel:
    """The function `name` of kernels/`file`, compiled at its first launch for these constants."""
    return _kernel(file, name, tuple(constants.items()))


def compile(text: source.Source, file: str, name: str) -> Any:
    """A compute pipeline. Raises RuntimeError with the file and the line of what does not compile."""
    import wgpu

    try:
        module = device().create_shader_module(code=text.text)
        return device().create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": name})
    except wgpu.GPUError as error:
        said = str(error)
        at = re.search(r"wgsl:(\d+):(\d+)", said)
        if not at:
            raise
        where, number = text.lines[min(int(at[1]), len(text.lines)) - 1]
        line = text.text.splitlines()[int(at[1]) - 1].strip()
        reason = re.search(r"error: ([^\n]*)", said)
        raise RuntimeError(
            f"{name} of kernels/{file} does not compile. {where}, line {number}: {reason[1] if reason else said}\n    {line}"
        ) from error


def _kept(store: OrderedDict, key: Any, make: Callable[[], Any]) -> Any:
    """What `store` has under the key, or what `make` makes; the ones that nobody asked for longest are forgotten."""
    if key in store:
        store.move_to_end(key)
    else:
        store[key] = make()
        if len(store) > MOST_KEPT:
            store.popitem(last=False)
    return store[key]


def _uniform(content: bytes) -> Any:
    return _kept(_uniforms, content, lambda: device().create_buffer_with_data(data=content, usage=UNIFORM))


def _grid(groups: int | tuple[int, ...]) -> tuple[int, ...]:
    most = limit("max-compute-workgroups-per-dimension")
    if isinstance(groups, int):
        return (groups,) if groups <= most else (most, blocks(groups, most))
    for size in groups:
        if size > most:
            raise ValueError(
                f"A launch of {groups} workgroups is more than the adapter takes along one dimension, {most} "
                "(max-compute-workgroups-per-dimension): use a smaller batch or context."
            )
    return groups


def _open_pass() -> Any:
    global _encoder, _pass
    if _encoder is None:
        _encoder = device().create_command_encoder()
    if _pass is None:
        _pass = _encoder.begin_compute_pass()
    return _pass


def _close_pass() -> Any:
    """The encoder, outside of a compute pass: where copies are written down."""
    global _pass
    if _pass is None and _encoder is None:
        _open_pass()
    if _pass is not None:
        _pass.end()
        _pass = None
    return _encoder


def _count() -> None:
    global _pending
    _pending += 1
    if _pending >= TOGETHER:
        flush()


def flush() -> None:
    """Hand in what was written down."""
    global _encoder, _pending
    if _encoder is None:
        return
    encoder = _close_pass()
    _encoder, _pending = None, 0
    with explained("running kernels"):
        device().queue.submit([encoder.finish()])


def _give_up_bindings() -> None:
    """Forget which buffers were bound together, which keeps them alive."""
    flush()
    _bindings.clear()


memory.on_shortage.append(_give_up_bindings)


def empty(like: Array, shape, dtype=None) -> Array:
    """A new array, of the dtype of `like` unless told otherwise."""
    return memory.empty(shape, like.dtype if dtype is None else dtype)


def copied(x: Array) -> Array:
    """A new array with the same content."""
    result = memory.empty(x.shape, x.dtype)
    if x.size:
        with explained("copying an array"):
            _close_pass().copy_buffer_to_buffer(
                x.memory.buffer, x.offset * WORD, result.memory.buffer, 0, x.size * WORD
            )
            _count()
    result.memory.range = x.memory.range
    return result


def upload(array: Array, content: bytes) -> None:
    """Bytes of the host into the memory of an array."""
    flush()  # what was written down may still use this memory for an array that is gone
    with explained("copying an array to the GPU"):
        device().queue.write_buffer(array.memory.buffer, array.offset * WORD, content)


@cache
def _staging(size: int) -> Any:
    return device().create_buffer(size=size, usage=COPY_DST | MAP_READ)


def read_back(array: Array) -> bytes:
    """The content of an array, after everything that was launched before."""
    size = array.size * WORD
    with explained("copying an array from the GPU"):
        staging = _staging(memory.size_class(size))
        _close_pass().copy_buffer_to_buffer(array.memory.buffer, array.offset * WORD, staging, 0, size)
        flush()
        staging.map_sync("READ", 0, size)
        try:
            return bytes(staging.read_mapped(0, size, copy=False))
        finally:
            staging.unmap()
