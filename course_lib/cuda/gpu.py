"""The same launch call on an NVIDIA GPU: NVRTC compiles the text, CuPy launches it.

Tested without a GPU are the compilation (tests/simulator/test_nvrtc.py) and, with stand-ins for the arrays and the driver, what
is handed to CuPy (tests/simulator/test_gpu_launch.py). What ran on a card: kernels/H100.md.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.cuda import launch, nvrtc, source
from course_lib.cuda.errors import ArgumentError

SCALARS = {
    "float": np.float32, "double": np.float64, "int": np.int32, "unsigned int": np.uint32, "unsigned": np.uint32,
    "short": np.int16, "unsigned short": np.uint16, "char": np.int8, "signed char": np.int8, "unsigned char": np.uint8,
    "long long": np.int64, "unsigned long long": np.uint64, "size_t": np.uint64, "bool": np.bool_, "long": np.int64,
    "unsigned long": np.uint64, "int64_t": np.int64, "uint64_t": np.uint64, "int32_t": np.int32, "uint32_t": np.uint32,
    "uint8_t": np.uint8, "int8_t": np.int8, "half": np.float16, "__half": np.float16,
}  # fmt: skip
WITHOUT_OPT_IN = 48 << 10
MOST_SHARED_MEMORY = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES of CUDA's driver API


class GpuKernel:
    """A kernel on the GPU. Compiled once per architecture, when first launched."""

    def __init__(self, kernel):
        self._kernel = kernel
        self._types = [kind for kind, _ in kernel._declaration.parameters] if kernel._declaration else []
        self._functions: dict[str, tuple[Any, Any]] = {}

    def __call__(self, grid: Any, block: Any, args: Sequence[Any], shared_mem: int = 0) -> None:
        """Launch on the current stream. Python numbers become the parameters' types, as on the simulator."""
        name = self._kernel.name
        grid = launch.extent(name, "grid", grid, launch.GRID_LIMITS)
        block = launch.extent(name, "block", block, launch.BLOCK_LIMITS)
        launch.check_limits(
            name, (1, 1, 1), block, shared_mem, static=0
        )  # the limit on the grid is the simulator's own
        function = self._function()[1]
        if shared_mem > WITHOUT_OPT_IN:
            import cupy

            cupy.cuda.driver.funcSetAttribute(function.ptr, MOST_SHARED_MEMORY, shared_mem)
        whole = {"enable_cooperative_groups": True} if source.waits_for_grid(self._kernel.source) else {}
        function(grid, block, self._convert(args), shared_mem=shared_mem, **whole)

    def upload(self, variable: str, values: Any) -> None:
        """Write into a `__constant__` or `__device__` variable of the module."""
        import cupy

        data = cupy.ascontiguousarray(values)
        parts = variable.split("::")
        mangled = "_ZN" + "".join(f"{len(part)}{part}" for part in parts) + "E"  # Itanium C++ ABI, section 5.1.3
        pointer = self._function()[0].get_global_var(mangled if len(parts) > 1 else variable)
        cupy.cuda.runtime.memcpy(int(pointer), data.data.ptr, data.nbytes, cupy.cuda.runtime.memcpyDeviceToDevice)

    def _function(self) -> tuple[Any, Any]:
        architecture = nvrtc.architecture_of_device()
        if architecture not in self._functions:
            import cupy

            kernel = self._kernel
            cubin, names = nvrtc.kept(kernel.source, (kernel.name,), architecture, kernel.options)
            module = cupy.cuda.function.Module()
            module.load(cubin)
            self._functions[architecture] = (module, module.get_function(names[kernel.name]))
        return self._functions[architecture]

    def _convert(self, args: Sequence[Any]) -> tuple[Any, ...]:
        if self._types and len(args) != len(self._types):
            raise ArgumentError(f"{self._kernel.name} takes {len(self._types)} arguments; {len(args)} were given.")
        return tuple(self._scalar(i, value) for i, value in enumerate(args))

    def _scalar(self, position: int, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            raise ArgumentError(
                f"{self._kernel.name}: argument {position + 1} is a NumPy array among CuPy arrays. Put it on the GPU too: "
                f"cupy.asarray(x)."
            )
        if isinstance(value, np.void):
            return np.asarray(value)  # a struct, which CuPy takes as an array without axes
        if not isinstance(value, (bool, int, float)) or position >= len(self._types):
            return value
        kind = re.sub(r"\b(const|volatile|__restrict__|struct)\b", "", self._types[position]).strip()
        if "*" in kind or kind not in SCALARS:
            return value
        if isinstance(value, float) and np.issubdtype(SCALARS[kind], np.integer):
            raise ArgumentError(
                f"{self._kernel.name}: argument {position + 1} is an integer ({kind}); {value!r} is a float."
            )
        try:
            return SCALARS[kind](value)
        except OverflowError as error:
            raise ArgumentError(f"{self._kernel.name}: argument {position + 1} ({kind}): {error}") from None
