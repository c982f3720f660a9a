"""The model over a cache in pages: new tokens of many texts in one pass, each at its own position.

All tokens of a pass lie behind one another on one axis, (1, n, C): everything but attention treats each token alone. Attention
takes the texts that add one token together, one query each, and reads their pages where they are; a text that adds several (a
prompt, or tokens to verify) has its rows gathered and gets flash attention.

The rows are floats, or codes of 8 bits with a scale for each token and head ("int8"). Those are a quarter as large. Every query
reads them where they are, a prompt's too: so a text does not depend on the pieces in which its prompt is read.

A text's logits do not depend on who else is in the pass, up to rounding: a product of one row may sum in another order than
one of sixteen (devices/cpu/products.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from course_lib import devices
from course_lib.devices.packing import row_words
from course_lib.model import GPT
from course_lib.serving.pages import Pool
from course_lib.tensor import Tensor, no_grad, tensor_from_array
from course_lib.tensor.shapes import contiguous_strides

FLOAT, INT8 = "float", "int8"  # what the cache holds
ROWS = 8  # of a page: half a page is wasted per text, 4 % of a text of 100 tokens


@dataclass
class Addition:
    """New tokens of one text: `ids` stand at positions start, start + 1, ... and `table` has pages for them."""

    table: list[int]
    ids: list[int]
    start: int
    every: bool = False  # the logits after each of them are wanted, not only after the last


class PagedModel:
    """A model, quantised or not, and the keys and values of all texts that it is writing.

    Raises ValueError for a model with a block that has no attention: a recurrence keeps a state, and no rows to share; and for a
    cache that is neither "float" nor "int8".
    """

    def __init__(self, model: GPT, pages: int, rows: int = ROWS, cache: str = FLOAT):
        if cache not in (FLOAT, INT8):
            raise ValueError(f"A cache holds {FLOAT} or {INT8}, and not {cache!r}.")
        model.config.needs_attention("A cache in pages", latent=True)
        config, self.model, self.pool = model.config, model, Pool(pages, rows)
        self.ops = devices.ops(model.device)
        arrays, G, D = config.cached_shape
        row, dtype = ((G, row_words(D)), "uint32") if cache == INT8 else ((G, D), model.dtype)
        # for each layer its keys and values, (P, N, G, D) or words (P, N, G, W); of latent attention they are one array
        layers = [[self.ops.zeros((pages, rows, *row), dtype) for _ in range(arrays)] for _ in range(config.layers)]
        self.layers = [(layer[0], layer[-1]) for layer in layers]
        self.int8 = cache == INT8
        self.bytes_per_token = config.layers * arrays * math.prod(row) * np.dtype(dtype).itemsize
        self.bytes = self.bytes_per_token * pages * rows
        model.eval()

    def make_room(self, table: list[int], start: int, count: int) -> None:
        """Pages for rows start .. start + count - 1, copied where other texts hold them too. Raises OutOfPages."""
        for length in range(start, start + count):
            copied = self.pool.room_for(table, length)
            if copied is not None:
                self._copy(copied, table[length // self.pool.rows])

    def _copy(self, page: int, to: int) -> None:
        for pages in {id(pages): pages for layer in self.layers for pages in layer}.values():
            shape = pages.shape[1:]  # (N, G, D)
            size = math.prod(shape)
            copied = self.ops.strided_copy(pages, shape, contiguous_strides(shape), page * size)
            self.ops.strided_write(pages, copied, contiguous_strides(shape), to * size)

    def _whole(self, numbers):
        return self.ops.from_numpy(np.array(numbers, np.int32))

    @no_grad()
    def logits(self, additions: list[Addition]) -> list[np.ndarray]:
        """Add the tokens to their texts -> for each text the logits (1, V) after its last new token, or (T, V) after `every`."""
        order = sorted(range(len(additions)), key=lambda i: len(additions[i].ids) > 1)  # single tokens first
        parts = [additions[i] for i in order]
        ids = np.concatenate([part.ids for part in parts]).astype(np.int32)  # (n,)
        positions = np.concatenate([np.arange(part.start, part.start + len(part.ids)) for part in parts])  # (n,)
        x = self._stream(ids, positions, PagedPass(self, parts))  # (1, n, C)
        ends = np.cumsum([len(part.ids) for part in parts])
        wanted = [np.arange(end - len(p.ids) if p.every else end - 1, end) for p, end in zip(parts, ends, strict=True)]
        rows = self.ops.gather(self.ops.view(x.array(), x.shape[1:]), self._whole(np.concatenate(wanted)))  # (m, C)
        found = self.model.head(tensor_from_array(rows, self.ops))  # (m, V)
        pieces = np.split(found.numpy(), np.cumsum([len(rows) for rows in wanted])[:-1])
        return [piece for _, piece in sorted(zip(order, pieces, strict=True), key=lambda pair: pair[0])]

    def _stream(self, ids: np.ndarray, positions: np.ndarray, cache: PagedPass) -> Tensor:
        """GPT.forward up to the head, with each token at its own position: (n,) -> (1, n, C)."""
        model, at = self.model, self._whole(positions)
        stream, branch = model.tokens(ids[None]), None  # (1, n, C)
        if model.positions is not None:
            stream = stream + model.positions(positions[None].astype(np.int32))  # (1, n, C)
        rotation = None
        if model.rotation is not None:
            rotation = tuple(  # (n, D/2) each
                tensor_from_array(self.ops.gather(table.array(), at), self.ops) for table in model.rotation
            )
        for block, pages in zip(model.blocks, self.layers, strict=True):
            cache.pages = pages
            stream, branch = block(stream, branch, rotation, cache)
        return model.norm(branch, stream)[0]


class PagedPass:
    """The cache as one pass sees it, for the layer whose `pages` are set."""

    def __init__(self, paged: PagedModel, parts: list[Addition]):
        self.ops, rows = paged.ops, paged.pool.rows
        self.pages: tuple = ()
        slots = [p.table[j // rows] * rows + j % rows for p in parts for j in range(p.start, p.start + len(p.ids))]
        self.slots = paged._whole(slots)
        self.append = self.ops.paged_append_int8 if paged.int8 else self.ops.paged_append
        self.read = self.ops.paged_attention_int8_forward if paged.int8 else self.ops.paged_attention_forward
        # queries that read their pages where they are, by their text's table and their own position; they come first
        single = [part for part in parts if paged.int8 or len(part.ids) == 1]
        queries = [(part.table, at) for part in single for at in range(part.start, part.start + len(part.ids))]
        self.single = len(queries)
        if queries:
            tables = np.zeros((len(queries), max(at // rows + 1 for _, at in queries)), np.int32)  # (R, M)
            for row, (table, at) in zip(tables, queries, strict=True):
                row[: at // rows + 1] = table[: at // rows + 1]
            self.tables, self.positions = paged._whole(tables), paged._whole([at for _, at in queries])
        # of the other texts: the table, its length in rows, and how many of them are new
        self.several = [
            (paged._whole(p.table[: -(-(p.start + len(p.ids)) // rows)]), p.start + len(p.ids), len(p.ids))
            for p in parts[len(single) :]
        ]

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention of new tokens, q (1, n, H, D), k, v (1, n, G, D), each to its own text -> (1, n, H, D)."""
        ops, (keys, values), (_, n, H, D), G = self.ops, self.pages, q.shape, k.shape[2]
        flat = ops.view(q.array(), (n, H, D))
        self.append(*(ops.view(x.array(), (n, G, D)) for x in (k, v)), keys, values, self.slots)
        found = []
        if self.single:
            first = ops.view(flat, (self.single, H, D))
            found.append(self.read(first, keys, values, self.tables, self.positions))  # (R, H, D)
        at = self.single
        for table, S, T in self.several:
            rows = (ops.view(ops.paged_gather(x, table, S), (1, S, G, D)) for x in (keys, values))
            y, _ = ops.attention_forward(ops.view(flat, (1, T, H, D), at * H * D), *rows)
            found.append(ops.view(y, (T, H, D)))
            at += T
        y = found[0] if len(found) == 1 else ops.concatenate(found, 0)  # (n, H, D)
        return tensor_from_array(ops.view(y, (1, n, H, D)), ops)
