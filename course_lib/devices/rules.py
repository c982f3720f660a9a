"""What the lines of contract.py's table cannot say as patterns of shapes: of some ops, a function that checks the rest.

A rule gets the name of the op, the sizes by letter and the arguments by name; it raises what a person reads, and may return
the shape of the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from . import axes
from .checks import broadcast_shape, check_causal, check_heads, check_view, fit, joined_shape, matmul_shape
from .packing import row_words


def _broadcast(op, sizes, given):
    return broadcast_shape(
        op, *(getattr(given[name], "shape", ()) for name in ("condition", "a", "b") if name in given)
    )


def _like_x(op, sizes, given):
    return given["x"].shape


def _viewed(op, sizes, given):
    check_view(op, given["x"].size, (math.prod(given["shape"]),), (1,), given["offset"])


def _strided(op, sizes, given):
    shape = tuple(given["shape"])
    check_view(op, given["x"].size, shape, given["strides"], given["offset"])
    return shape


def _written(op, sizes, given):
    check_view(op, given["x"].size, given["values"].shape, given["strides"], given["offset"])


def _joined(op, sizes, given):
    joined_shape(given["arrays"], given["axis"])


def _reduced(op, sizes, given):
    return axes.reduced_shape(op, given["x"].shape, given["axis"], given["keepdims"])


def _picked(op, sizes, given):
    return axes.reduced_shape(op, given["x"].shape, (given["axis"],), False)


def _one_for_each(op, sizes, given):
    updates, indices = given["updates"].shape, given["indices"].shape
    if updates[: len(indices)] != indices:
        raise ValueError(
            f"{op} expects one update for each index, but was given updates {updates} and indices {indices}."
        )
    return given["rows"], *updates[len(indices) :]


def _gathered(op, sizes, given):
    return *given["indices"].shape, *given["x" if op == "gather" else "table"].shape[1:]


def _summed(op, sizes, given):
    return given["rows"], given["dy"].shape[-1]


def _product(op, sizes, given):
    return matmul_shape(given["a"], given["b"], given["transpose_a"], given["transpose_b"])


def _packed(op, sizes, given):
    K, line = sizes["K"], given["words"].shape[1]
    wanted = -(-K // 4) if op == "linear_int8_forward" else 4 * -(-K // 32)
    if line != wanted:
        raise ValueError(f"{op}: rows of {K} weights take {wanted} words, but words is {tuple(given['words'].shape)}.")


def _in_words(op, sizes, given):
    if "H" in sizes:
        check_heads(op, sizes["H"], sizes["G"])
    if sizes["W"] != row_words(sizes["D"]):
        raise ValueError(
            f"{op}: {sizes['D']} numbers take {row_words(sizes['D'])} words, but k_pages is {tuple(given['k_pages'].shape)}."
        )


def _causal_rows(op, sizes, given):
    if given["causal"]:
        sizes = fit(op, "x (*n, T, S)", given["x"])
        check_causal(op, sizes["T"], sizes["S"])


def _attended(op, sizes, given):
    check_heads(op, sizes["H"], sizes["G"])
    if given.get("causal"):
        check_causal(op, sizes["T"], sizes["S"])
    if sizes.get("S") == 0 and sizes["T"]:
        raise ValueError(f"{op}: there are {sizes['T']} queries, but no key that they could attend to.")


def _recurs(op, sizes, given):
    if not sizes["T"]:
        raise ValueError(f"{op} reads at least one step, but q has the shape {tuple(given['q'].shape)}.")


def _convolved(op, sizes, given):
    B, S, C, K = (sizes[letter] for letter in "BSCK")
    if not 0 < K <= S:
        raise ValueError(
            f"{op} needs at least one tap, and as many steps as taps; it was given {K} taps, and x has {S} steps."
        )
    if sizes.get("T", S - K + 1) != S - K + 1:
        raise ValueError(f"{op}: {K} taps make {S - K + 1} steps of {S}, but dy has {sizes['T']}.")
    return B, S - K + 1, C


def _gathered_rows(op, sizes, given):
    count, rows = given["count"], sizes["M"] * sizes["N"]
    if not 0 <= count <= rows:
        raise ValueError(f"{op}: {count} rows were requested, but a table of {sizes['M']} pages has {rows}.")


def _dropped(op, sizes, given):
    if not 0 <= given["probability"] < 1:
        raise ValueError(f"{op} drops with a probability from 0 to below 1, but was given {given['probability']}.")


def _stepped(op, sizes, given):
    lists = (given[name] for name in ("parameters", "gradients", "first_moments", "second_moments"))
    for p, g, m, v in zip(*lists, strict=True):
        if not p.shape == g.shape == m.shape == v.shape:
            fit(op, "parameter (*n), gradient (*n), first (*n), second (*n)", p, g, m, v)


_BINARY = "add subtract multiply maximum divide power equal not_equal less less_equal greater greater_equal where"
# by op: its rule, and the arguments besides arrays that the rule reads
RULES: dict[str, tuple[Callable, tuple[str, ...]]] = {
    **dict.fromkeys(_BINARY.split(), (_broadcast, ())),
    **dict.fromkeys("negative exp log tanh sqrt sin cos".split(), (_like_x, ())),
    **dict.fromkeys("sum max".split(), (_reduced, ("axis", "keepdims"))),
    **dict.fromkeys("attention_forward attention_backward".split(), (_attended, ("causal",))),
    **dict.fromkeys("dropout_forward dropout_backward".split(), (_dropped, ("probability",))),
    **{
        f"{name}_{way}": (_recurs, ())
        for name in ("gated_linear_attention", "gated_delta", "state_space")
        for way in ("forward", "backward")
    },
    **dict.fromkeys("convolution_forward convolution_backward".split(), (_convolved, ())),
    **dict.fromkeys("linear_int8_forward linear_int4_forward".split(), (_packed, ())),
    **dict.fromkeys("paged_append_int8 paged_attention_int8_forward".split(), (_in_words, ())),
    "view": (_viewed, ("shape", "offset")),
    "strided_copy": (_strided, ("shape", "strides", "offset")),
    "strided_write": (_written, ("strides", "offset")),
    "concatenate": (_joined, ("axis",)),
    "argmax": (_picked, ("axis",)),
    "gather": (_gathered, ()),
    "embedding_forward": (_gathered, ()),
    "embedding_backward": (_summed, ("rows",)),
    "scatter_add": (_one_for_each, ("rows",)),
    "matmul": (_product, ("transpose_a", "transpose_b")),
    "softmax_forward": (_causal_rows, ("causal",)),
    "cache_attention": (_attended, ()),
    "paged_gather": (_gathered_rows, ("count",)),
    "paged_attention_forward": (_attended, ()),
    "adamw_step": (_stepped, ()),
}
