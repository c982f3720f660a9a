"""`Kernel(code, name)(grid, block, args)`: the one launch call, in the shape of a CuPy RawKernel."""

from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.cuda import build, launch, source
from course_lib.cuda.errors import KernelError


class Kernel:
    """A kernel of a `.cu` file, or of a string of source.

    code: a Path, or a str that ends in `.cu` (looked up in the working folder, then in kernels/), else the source itself.
    name: the kernel's name, or a template instance such as "matmul<32>".
    options: compiler options in the style of NVRTC: "-DTILE=16", "-Ifolder".
    host: whether a file may hold host code (main, launches, cudaMalloc), which is then passed over; a source never may.

    Nothing is compiled before the first launch. Launching with CuPy arrays goes to the GPU, with NumPy arrays to the
    simulator; both take the same text. Raises KernelError at construction if the file does not exist or declares no such
    kernel, CompileError and KernelError at launches.
    """

    def __init__(self, code: str | Path, name: str, options: Sequence[str] = (), host: bool = True):
        self.source = source.find(code, host)
        self.name = name
        self.options = tuple(options)
        declared = source.kernels(self.source)
        self._declaration = declared.get(name.split("<")[0].split("::")[-1].strip())
        if self._declaration is None and not _has_kernel_macro(self.source):
            known = ", ".join(declared) or "none (a kernel begins with `__global__ void`)"
            raise KernelError(f"{self.source.name} declares no kernel named {name!r}. Its kernels: {known}.")
        if self._declaration and self._declaration.template and "<" not in name:
            raise KernelError(
                f"{name} in {self.source.name} is a template: name one instance of it, such as {name + '<32>'!r}."
            )
        self._module = module_of(self.source, self.options)
        self._module.want(name)
        self._gpu: Any = None

    def __call__(
        self,
        grid: Sequence[int] | int,
        block: Sequence[int] | int,
        args: Sequence[Any],
        shared_mem: int = 0,
        timeout: float | None = 60,
        seed: int = 0,
    ) -> None:
        """Run the kernel and wait for its end.

        grid, block: one to three numbers. shared_mem: bytes of `extern __shared__` memory. timeout: seconds, None for
        ever (simulator only). seed: not 0 shuffles the order of lanes, warps and blocks (simulator only).

        A kernel in whose file something waits gives the same bits in every order of its threads, unless it races. In
        other files threads run side by side in vectors where nothing is shuffled, and expf, logf, tanhf and sums that
        end in an fma may differ from a shuffled run in the last bits, about 1e-6 of the value.
        """
        if isinstance(args, (tuple, list)) and any(is_cupy(value) for value in args):
            self._on_gpu()(grid, block, args, shared_mem)
            return
        launch.launch(
            self.compiled(checked=False), self.name, self.parameter_names, grid, block, args,
            shared_mem, timeout, seed,
        )  # fmt: skip

    def compiled(self, checked: bool, counted: bool = False) -> build.Library:
        """The library with this kernel for the simulator, compiled now if it was not yet."""
        return self._module.library(self.name, checked, counted)

    @cached_property
    def parameter_names(self) -> list[str]:
        return [name for _, name in self._declaration.parameters] if self._declaration else []

    @property
    def line(self) -> int:
        """The line of the kernel's declaration in its file, 0 if it is not there (in an include, made by a macro)."""
        line = self._declaration.line if self._declaration else 0
        return line if line <= len(self.source.text.splitlines()) else 0

    def upload(self, variable: str, values: Any) -> None:
        """Write `values` into a `__constant__` or `__device__` variable of the file, before a launch.

        The variable belongs to all kernels of the file that were compiled together. Raises KernelError for an unknown
        name or a size that does not fit.
        """
        if is_cupy(values):
            self._on_gpu().upload(variable, values)
            return
        from course_lib.cuda import variables

        variables.upload(self._module, self.name, variable, np.asarray(values))

    def _on_gpu(self):
        if self._gpu is None:
            from course_lib.cuda import gpu

            self._gpu = gpu.GpuKernel(self)
        return self._gpu

    def __repr__(self) -> str:
        return f"Kernel({self.source.name!r}, {self.name!r})"


def module_of(text: source.Source, options: tuple[str, ...]) -> build.Module:
    """The module of a text; one with host code or PTX is translated as whole programs are, which stand above build.py."""
    if not text.as_program:
        return build.module(text, options, None)
    from course_lib.cuda.programs import kernels

    return build.module(text, options, kernels.translation_unit)


def is_cupy(value: Any) -> bool:
    """Whether `value` is an array on an NVIDIA GPU, found out without importing CuPy."""
    return _of_cupy(type(value))


@cache
def _of_cupy(kind: type) -> bool:
    return kind.__module__.split(".")[0] == "cupy"


def _has_kernel_macro(text: source.Source) -> bool:
    return any("__global__" in line for line in text.everything.splitlines() if line.lstrip().startswith("#define"))
