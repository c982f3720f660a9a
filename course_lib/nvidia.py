"""What the NVIDIA driver of this machine says, asked through the driver's own library; nothing needs to be installed.

Promises: never fails; a machine without a driver, or a driver without a GPU, is `None`.
Source: CUDA driver API, cuDriverGetVersion and cuDeviceGetAttribute.
"""

import ctypes
from dataclasses import dataclass

COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR = 75, 76  # CUdevice_attribute


@dataclass(frozen=True)
class Gpu:
    """The first GPU: its name, compute capability, and the newest CUDA that the driver runs, each as (major, minor)."""

    name: str
    capability: tuple[int, int]
    cuda: tuple[int, int]


def gpu() -> Gpu | None:
    """The first NVIDIA GPU, or None."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    version, count, device = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return None
    name = ctypes.create_string_buffer(256)
    driver.cuDriverGetVersion(ctypes.byref(version))
    driver.cuDeviceGet(ctypes.byref(device), 0)
    driver.cuDeviceGetName(name, len(name), device)
    major, minor = ctypes.c_int(), ctypes.c_int()
    driver.cuDeviceGetAttribute(ctypes.byref(major), COMPUTE_CAPABILITY_MAJOR, device)
    driver.cuDeviceGetAttribute(ctypes.byref(minor), COMPUTE_CAPABILITY_MINOR, device)
    return Gpu(
        name.value.decode(errors="replace"),
        (major.value, minor.value),
        (version.value // 1000, version.value % 1000 // 10),
    )


def cupy_extra() -> str | None:
    """The extra of pyproject.toml whose CuPy fits this machine's driver, or None without a GPU or with too old a driver."""
    found = gpu()
    return None if found is None or found.cuda[0] < 12 else extra_for(found)


def extra_for(found: Gpu) -> str:
    """The extra for a card: "cuda" (CUDA 13), or "cuda12". CUDA 13 begins at compute capability 7.5 (Turing)."""
    return "cuda" if found.cuda[0] >= 13 and found.capability >= (7, 5) else "cuda12"
