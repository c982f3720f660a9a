"""The GPU that WebGPU finds: what it is, its limits, and what goes wrong with it as sentences.

wgpu is imported when the device is first asked for. Of the limits that matter here, what the adapter offers is
asked for, since WebGPU gives the smallest otherwise.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.devices.webgpu import c_types
from course_lib.paths import pip_command

# What the kernels want, at least; WebGPU promises these to every page.
NEEDED = {
    "max-compute-invocations-per-workgroup": 256,
    "max-compute-workgroup-storage-size": 16384,
    "max-storage-buffers-per-shader-stage": 8,
}

DRM = Path("/sys/class/drm")  # where Linux lists what draws
NO_GPU = (
    "bochs",
    "cirrus",
    "vgem",
    "virtio_gpu",
    "vkms",
    "vmwgfx",
)  # drivers that draw in software, or into a host's window

WANTED = (
    *NEEDED, "max-buffer-size", "max-storage-buffer-binding-size", "max-compute-workgroup-size-x",
    "max-compute-workgroups-per-dimension", "min-storage-buffer-offset-alignment",
)  # fmt: skip


@cache
def _adapter() -> Any:
    """The adapter, or None where no graphics driver offers one."""
    import wgpu
    from wgpu.backends.wgpu_native.extras import set_instance_extras

    c_types.learn()
    set_instance_extras(backends=["Primary"])  # Vulkan, Metal and Direct3D 12: OpenGL computes too little
    # Drivers on Linux complain on stderr where no desktop has set this, though nothing is shown.
    quiet = "XDG_RUNTIME_DIR" not in os.environ
    if quiet:
        os.environ["XDG_RUNTIME_DIR"] = tempfile.gettempdir()
    try:
        return wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except RuntimeError:  # what wgpu raises where there is none
        return None
    finally:
        if quiet:
            del os.environ["XDG_RUNTIME_DIR"]


@cache
def problem() -> str:
    """Why this machine cannot compute with WebGPU; empty if it can."""
    if importlib.util.find_spec("wgpu") is None:
        return f"The package wgpu is not installed. In a terminal, in the folder of the course: {pip_command('webgpu')}"
    try:
        found = _adapter()
    except Exception as error:  # a driver may fail in ways of its own
        return f"wgpu does not start here: {error}"
    if found is None:
        return "No graphics driver of this machine offers a WebGPU adapter."
    short = [
        f"{name} is {found.limits[name]}, not {size}" for name, size in NEEDED.items() if found.limits[name] < size
    ]
    return f"The adapter {adapter_name()} offers too little: {', '.join(short)}." if short else ""


def adapter_name() -> str:
    """What the adapter is called, and the interface that it is reached by: "Apple M2 (Metal)"."""
    info = _adapter().info
    kind = ", software on the CPU" if in_software() else ""
    return f"{info['device'] or info['vendor']} ({info['backend_type']}{kind})"


def in_software() -> bool:
    """Whether the adapter is no GPU, but a program that computes on the CPU, as Mesa's llvmpipe and SwiftShader are."""
    return _adapter().info["adapter_type"] == "CPU"


def problem_as_gpu() -> str:
    """Why this device would be no faster than the CPU here, and what to do if that can be changed; empty if it has a GPU."""
    if importlib.util.find_spec("wgpu") is None:
        if sys.platform != "darwin" and not graphics_driver():
            return "No other GPU shows itself."
        return f"To train on the GPU here through WebGPU, install the package wgpu: {pip_command('webgpu')}"
    if problem():
        return problem()
    return f"WebGPU finds no GPU, only {adapter_name()}." if in_software() else ""


def graphics_driver() -> str:
    """The name of the Linux driver of a GPU that may compute; empty where there is none, and on other systems."""
    for card in sorted(DRM.glob("renderD*")):
        with suppress(OSError):
            driver = (card / "device/driver").resolve(strict=True).name
            if driver not in NO_GPU:
                return driver
    return ""


class NoDeviceError(RuntimeError):
    """Nothing here computes with WebGPU. A notebook shows the sentence alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@cache
def device() -> Any:
    """The GPUDevice. Raises NoDeviceError where there is none, with the reason."""
    if problem():
        raise NoDeviceError(f"The device webgpu cannot be used here; the device cpu can. {problem()}")
    return _adapter().request_device_sync(required_limits=asked_limits())


def asked_limits() -> dict[str, int]:
    """The limits that a device is asked for: all that the adapter offers."""
    return {name: _adapter().limits[name] for name in WANTED}


def limit(name: str) -> int:
    """A limit of the adapter by its name in WebGPU, in words with hyphens: limit("max-buffer-size")."""
    return device().limits[name]


@contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turns what wgpu raises inside the `with` block into MemoryError or RuntimeError with a sentence.

    doing: what was tried, as a phrase that ends the sentence "The GPU ... while ..."
    """
    import wgpu

    try:
        yield
    except wgpu.GPUOutOfMemoryError as error:
        raise MemoryError(
            f"The GPU {adapter_name()} has no memory left while {doing}: use a smaller batch or context. What was saved "
            "last can be continued with --resume."
        ) from error
    except wgpu.GPUError as error:
        if "lost" in str(error).lower():
            raise RuntimeError(
                f"The GPU {adapter_name()} was lost while {doing}: its driver was reset, or it was taken away. Start "
                "Python again; what was saved last can be continued with --resume."
            ) from error
        raise RuntimeError(f"WebGPU refused while {doing}: {error}") from error
