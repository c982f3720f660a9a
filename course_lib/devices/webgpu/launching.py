"""How a kernel of kernels/*.wgsl runs: compiled once for its constants, its arguments by name.

    kernel("gelu.wgsl", "gelu_forward")(groups, x=x, y=y, n=x.size)

Numbers that a kernel is given lie in small buffers that are kept by their content, and what binds buffers to a kernel is kept
too, so that a training step makes none after the first.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import replacing, watching
from ..layout import blocks
from . import commands, memory, source
from .adapter import device, explained, limit
from .commands import copied
from .memory import WORD, Array
from .source import ShaderError

UNIFORM = 0x40  # GPUBufferUsage
COMPUTE = 0x4  # GPUShaderStage
MOST_KEPT = 8192  # small buffers, and bindings

_uniforms: OrderedDict[bytes, Any] = OrderedDict()
_bindings: OrderedDict[tuple, Any] = OrderedDict()

counting, rehearsing = watching.counting, watching.rehearsing


@dataclass
class Compiled:
    """A kernel compiled for arguments of these names."""

    pipeline: Any
    layout: Any
    numbers: tuple[int, list[tuple[str, str]]] | None  # binding and fields of the struct
    arrays: list[tuple[str, int, bool]]  # name, binding, whether it is written


class Kernel:
    """A function of a WGSL file with its constants: kernels/`file`, or any file by its Path."""

    def __init__(self, file: str | Path, name: str, constants: tuple[tuple[str, object], ...]):
        self.file, self.name = file, name
        self.title = f"{name} of {file.name if isinstance(file, Path) else f'kernels/{file}'}"
        self.source = source.read(file, constants)
        self._compiled: dict[tuple[str, ...], Compiled] = {}  # by the arguments' names

    def __call__(self, groups: int | tuple[int, ...], **arguments) -> None:
        """Run so many workgroups, a number or (x, y, z), with arrays and numbers by the names that the file declares.

        One number of more than a dimension may hold is folded into rows: such a kernel counts its groups by `group_index`.
        """
        with explained(f"launching {self.title}"):
            grid = _grid(groups)
            if watching.launched(f"{self.file} {self.name}"):
                self._launch(grid, arguments)

    def _compile(self, arguments: dict) -> Compiled:
        """Compile. Raises ValueError for arguments that the file does not declare, ShaderError for what does not compile."""
        arrays = [name for name, value in arguments.items() if isinstance(value, Array)]
        numbers = frozenset(arguments.keys() - arrays)
        self.source.check(self.title, arrays, numbers)
        of_numbers = self.source.structs[numbers] if numbers else None
        of_arrays = [(name, *self.source.buffers[name]) for name in arrays]
        kinds = {at: "storage" if written else "read-only-storage" for _, at, written in of_arrays}
        if of_numbers:
            kinds[of_numbers[0]] = "uniform"
        entries = [{"binding": at, "visibility": COMPUTE, "buffer": {"type": kind}} for at, kind in kinds.items()]
        layout = device().create_bind_group_layout(entries=entries)
        return Compiled(self.pipeline_for(layout), layout, of_numbers, of_arrays)

    def pipeline_for(self, layout: Any) -> Any:
        """A compute pipeline; layout: what is bound to it, or "auto" for all that the function uses. Raises ShaderError."""
        import wgpu

        try:
            module = device().create_shader_module(code=self.source.text)
            if layout != "auto":
                layout = device().create_pipeline_layout(bind_group_layouts=[layout])
            return device().create_compute_pipeline(layout=layout, compute={"module": module, "entry_point": self.name})
        except wgpu.GPUError as error:
            if (refusal := self._refusal(str(error))) is None:
                raise
            raise refusal from error

    def _refusal(self, said: str) -> ShaderError | None:
        """What to raise where the compiler has said this; None if it is not about a line."""
        at = re.search(r"wgsl:(\d+):(\d+)", said)
        if not at:
            return None
        file, number, code = self.source.line(int(at[1]))
        found = re.search(r"error: ([^\n]*)", said)
        reason = found[1] if found else said
        message = f"{self.title} does not compile. {file}, line {number}: {reason}\n    {code}"
        return ShaderError(message, number)

    def _launch(self, grid: tuple[int, ...], arguments: dict) -> None:
        names = tuple(arguments)
        compiled = self._compiled.get(names)
        if compiled is None:
            compiled = self._compiled[names] = self._compile(arguments)
        bound = []
        if compiled.numbers:
            binding, fields = compiled.numbers
            bound.append((binding, _uniform(source.pack(fields, arguments)), 0, None))
        written = [arguments[name].memory for name, _, changed in compiled.arrays if changed]
        # WebGPU lets no launch read a buffer that it writes: what is read from one is copied away first.
        apart = [
            copied(arguments[name]) if not changed and arguments[name].memory in written else arguments[name]
            for name, _, changed in compiled.arrays
        ]
        for (_, binding, _), array in zip(compiled.arrays, apart, strict=True):
            bound.append((binding, array.memory.buffer, array.offset * WORD, max(array.size, 1) * WORD))
        run = commands.open_pass()
        run.set_pipeline(compiled.pipeline)
        if bound:
            run.set_bind_group(0, self._bind(compiled, bound))
        run.dispatch_workgroups(*grid)
        for memory_ in written:
            memory_.range = None
        commands.count()

    def _bind(self, compiled: Compiled, bound: list[tuple]) -> Any:
        key = (id(compiled), *((binding, id(buffer), offset, size) for binding, buffer, offset, size in bound))

        def make() -> Any:
            entries = [
                {"binding": binding, "resource": {"buffer": buffer, "offset": offset, "size": size or buffer.size}}
                for binding, buffer, offset, size in bound
            ]
            group = device().create_bind_group(layout=compiled.layout, entries=entries)
            return group, compiled, [buffer for _, buffer, _, _ in bound]  # kept alive, so that no id comes twice

        return _kept(_bindings, key, make)[0]


def kernel(file: str, name: str, **constants) -> Callable[..., None]:
    """The function `name` of kernels/`file`, or what was put in its place, compiled at its first launch for these constants."""
    return replacing.chosen(Kernel, file, name, tuple(constants.items()))


def _kept(store: OrderedDict, key: Any, make: Callable[[], Any]) -> Any:
    """What `store` has under the key, or what `make` makes; those requested longest ago are forgotten."""
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


def _give_up_bindings() -> None:
    """Forget which buffers were bound together, which keeps them alive."""
    commands.flush()
    _bindings.clear()


memory.on_shortage.append(_give_up_bindings)


def empty(like: Array, shape, dtype=None) -> Array:
    """A new array, of the dtype of `like` if none is given."""
    return memory.empty(shape, like.dtype if dtype is None else dtype)
