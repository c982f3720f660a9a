"""The ops of the devices `simulator` and `cuda`: our own kernels in kernels/*.cu, and the code that launches them, written once.

launching.py                         kernels, new arrays, what was launched
configuration.py product_tiles.py attention_tiles.py     launch configuration: blocks, tiles, which variant for which shape
storage.py elementwise.py views.py selections.py         copies, broadcasting, picks by index
fused.py reductions.py softmax.py normalisation.py dropout.py products.py attention.py rope.py embedding.py loss.py
optimiser.py                         the ops of the model
precision.py mixed.py epilogue_fusion.py      products in bfloat16; linear layers with what follows them in one launch
decoding.py quantised.py             generation: a cache that grows, and one query that attends to it; weights of 4 and 8 bits
paging.py                            serving: a cache in pages, and one query of each text over its own
recurrences.py                       linear recurrences, in chunks
arena.py                             memory of a training step, planned
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from . import storage
from .epilogue_fusion import EpilogueFusion
from .mixed import MixedPrecision
from .precision import Precision

FILES = """
    storage elementwise selections fused reductions softmax normalisation dropout products attention rope embedding
    loss optimiser decoding quantised paging recurrences
""".split()


def ops(precision: Precision, memory) -> dict[str, Callable]:
    """Every op but the copies from and to the host, by its name; products multiply in what `precision` says at the time.

    memory: of the device, card.py or guarded.py.
    """
    files = [import_module(f"{__name__}.{name}") for name in FILES]
    table = {op: getattr(file, op) for file in files for op in file.__all__}
    mixed = MixedPrecision(precision)  # covers those of its names
    fused = {op: getattr(part, op) for part in (mixed, EpilogueFusion(mixed)) for op in part.OPS}
    return table | fused | storage.makers(memory)
