"""Published limits and peaks of six NVIDIA cards: what `--gpu` names.

Where the figures come from, and how each was compared:

- Limits of a multiprocessor are those of the CUDA C++ Programming Guide, "Compute Capabilities", and agree with the table in
  NVIDIA's own library (CCCL, libcudacxx/include/cuda/__device/arch_traits.h, at 004ad19).
- Multiprocessors, clocks, bus, caches: NVIDIA's architecture paper or data sheet named with the card. Those of the T4, and of the
  A100 but for its memory, agree with published outputs of deviceQuery. The others were compared with copies of the data sheets'
  tables on other sites, not with the documents.
- bandwidth = 2 memory clocks x bus / 8, and float32 = 2 clocks x lanes x multiprocessors: tests/simulator/test_profile.py.

Peaks are at the boost clock, which a card under load may not hold. None was measured here.
"""

import ctypes
from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """One card. Clocks in kHz; bandwidth in bytes/s and float32 operations/s (an fma as 2) are peaks; memory in bytes."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    threads: int  # for each multiprocessor, as the next four
    blocks: int
    registers: int
    shared: int
    shared_per_block: int  # with cudaFuncSetAttribute; what is left of `shared` for each block is the driver's
    clock: int
    memory_clock: int
    bus: int  # bits
    l2: int
    memory: int
    bandwidth: float
    float32: float
    source: str


_KB, _MB, _GB = 1 << 10, 1 << 20, 1 << 30
CARDS = {
    "a100": Card("NVIDIA A100-SXM4-80GB", (8, 0), 108, 2048, 32, 65536, 164 * _KB, 163 * _KB, 1410000, 1593000, 5120,
                 40 * _MB, 80 * _GB, 2039e9, 19.5e12, "NVIDIA A100 Tensor Core GPU Architecture; A100 80GB data sheet"),
    "h100": Card("NVIDIA H100 80GB HBM3", (9, 0), 132, 2048, 32, 65536, 228 * _KB, 227 * _KB, 1980000, 2619000, 5120,
                 50 * _MB, 80 * _GB, 3352e9, 66.9e12, "NVIDIA H100 Tensor Core GPU Architecture"),
    "rtx4090": Card("NVIDIA GeForce RTX 4090", (8, 9), 128, 1536, 24, 65536, 100 * _KB, 99 * _KB, 2520000, 10501000, 384,
                    72 * _MB, 24 * _GB, 1008e9, 82.6e12, "NVIDIA Ada GPU Architecture"),
    "a6000": Card("NVIDIA RTX A6000", (8, 6), 84, 1536, 16, 65536, 100 * _KB, 99 * _KB, 1800000, 8001000, 384,
                  6 * _MB, 48 * _GB, 768e9, 38.7e12, "NVIDIA Ampere GA102 GPU Architecture; RTX A6000 data sheet"),
    "t4": Card("Tesla T4", (7, 5), 40, 1024, 16, 65536, 64 * _KB, 64 * _KB, 1590000, 5001000, 256, 4 * _MB, 16 * _GB,
               320e9, 8.1e12, "NVIDIA Turing GPU Architecture; T4 data sheet"),
    "orin": Card("Jetson AGX Orin 64GB", (8, 7), 16, 1536, 16, 65536, 164 * _KB, 163 * _KB, 1300000, 3200000, 256,
                 4 * _MB, 64 * _GB, 204.8e9, 5.3e12, "NVIDIA Jetson AGX Orin Series data sheet"),
}  # fmt: skip


def find(name: str) -> Card:
    """The card of that name, in any spelling: `RTX 4090`, `rtx-4090`. Raises ValueError with the names there are."""
    key = "".join(letter for letter in name.lower() if letter.isalnum())
    if key not in CARDS:
        raise ValueError(f"There is no card named {name!r} in the table. Choose one of: {', '.join(CARDS)}.")
    return CARDS[key]


class Described(ctypes.Structure):
    """program.h: SimCard."""

    _fields_ = [
        ("name", ctypes.c_char * 64),
        *((name, ctypes.c_int) for name in (
            "major", "minor", "multiprocessors", "threads", "blocks", "registers", "clock", "memory_clock", "bus", "l2",
        )),
        ("memory", ctypes.c_int64),
        ("shared", ctypes.c_int64),
        ("shared_per_block", ctypes.c_int64),
    ]  # fmt: skip


def describe(card: Card) -> Described:
    """What a program's cudaGetDeviceProperties is made from."""
    major, minor = card.capability
    return Described(
        card.name.encode(), major, minor, card.multiprocessors, card.threads, card.blocks, card.registers, card.clock,
        card.memory_clock, card.bus, card.l2, card.memory, card.shared, card.shared_per_block,
    )  # fmt: skip
