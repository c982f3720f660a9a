"""The ops of the devices `simulator` and `cuda`: our own kernels in kernels/*.cu, and the code that launches them, written once.

launching.py                         kernels, new arrays, what was launched
choices.py                           tile and warp choices, one place per op
storage.py elementwise.py views.py selections.py         copies, broadcasting, picks by index
fused.py reductions.py softmax.py normalisation.py dropout.py products.py attention.py rope.py embedding.py loss.py
optimiser.py                         the ops of the model
mixed.py chain.py                    products in bfloat16; linear layers with what follows them in one launch
decoding.py                          generation: a cache that grows, and one query that looks at it
arena.py                             memory of a training step, planned
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

FILES = """
    storage elementwise selections fused reductions softmax normalisation dropout products attention mixed rope embedding
    loss chain optimiser decoding
""".split()  # mixed comes after what it covers


def ops() -> dict[str, Callable]:
    """Every op that begins with an array, by its name."""
    files = [import_module(f"{__name__}.{name}") for name in FILES]
    return {op: getattr(file, op) for file in files for op in file.__all__}
