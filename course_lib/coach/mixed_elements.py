"""Elements of a kernel's result that hold what is right for others: another one's result, or that of several together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from course_lib.coach.parts import Part, block, near


def _gathers(wrong: Sequence[Part]) -> Iterator[tuple[str, Callable[[np.ndarray, int], np.ndarray]]]:
    """Which element's result stands at place i, of n in all."""
    widths = sorted({2, 4, 8, 16, 32, 64, 128, 256, *(size for part in wrong for size in block(part.outcome))} - {1})
    yield "0", lambda i, n: 0 * i
    yield "n - 1 - i", lambda i, n: n - 1 - i
    for k in (1, 2, 4, 32):
        yield f"i + {k}", lambda i, n, k=k: i + k
        yield f"i - {k}", lambda i, n, k=k: i - k
    for w in widths:
        yield f"i % {w}", lambda i, n, w=w: i % w
        yield f"i / {w}", lambda i, n, w=w: i // w
        yield f"i / {w} * {w}", lambda i, n, w=w: i // w * w
        yield f"i + {w}", lambda i, n, w=w: i + w
        yield f"i - {w}", lambda i, n, w=w: i - w
        yield f"i * {w}", lambda i, n, w=w: i * w
        yield f"i / {w} * {w} + {w - 1} - i % {w}", lambda i, n, w=w: i // w * w + w - 1 - i % w


def of_other_elements(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """What stands at one index is the right result of another."""
    ndim = wrong[0].wrong.ndim
    words = {0: "element"} if ndim == 1 else {ndim - 1: "column", ndim - 2: "row"}
    for axis, word in words.items():
        for formula, gather in _gathers(wrong):
            informative = 0
            for part in wrong:
                n = part.shape[axis]
                place = np.broadcast_to(np.arange(n).reshape([-1 if a == axis else 1 for a in range(ndim)]), part.shape)
                source = gather(place, n)
                inside = (source >= 0) & (source < n) & part.wrong
                moved = np.take_along_axis(part.expected, np.clip(source, 0, n - 1), axis)
                exact = part.expected.dtype.kind in "iu"
                if not (np.array_equal if exact else near)(part.got[inside], moved[inside]):
                    break
                if not inside.any() or inside.sum() * 2 < part.wrong.sum():
                    break
                informative += len(set(part.got[inside].tolist())) > 1 or formula == "0"
            else:
                if informative > 1:
                    return f"Where {word} i is wrong, it has the right result of {word} {formula}."
    return ""


def summed(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """What came is the sum of the right results up to there: nothing began anew."""
    ndim = wrong[0].wrong.ndim
    for axis in range(ndim - 1, -1, -1):
        word = "element" if ndim == 1 else {ndim - 1: "column", ndim - 2: "row"}.get(axis, f"index of axis {axis}")
        if sum(part.shape[axis] > 2 for part in wrong) and all(
            near(
                part.got.astype(np.float64),
                part.expected.astype(np.float64).cumsum(axis),
                np.abs(part.expected).max() + 1,
            )
            for part in wrong
        ):
            return f"Each {word} has the sum of the right results of all {word}s up to it: the sum is never set to 0 in between."
    lags = sorted({size for part in wrong for size in block(part.outcome)})
    for lag in lags:
        for axis in range(ndim - 1, -1, -1):
            word = "element" if ndim == 1 else {ndim - 1: "column", ndim - 2: "row"}.get(axis, f"index of axis {axis}")
            if all(part.shape[axis] > lag and _adds_up(part, axis, lag) for part in wrong):
                return (
                    f"{word.capitalize()} i has the right result plus what stands in {word} i - {lag}: a sum is not set to 0 "
                    "in between."
                )
    return ""


def _adds_up(part: Part, axis: int, lag: int) -> bool:
    got, expected = (np.moveaxis(x.astype(np.float64), axis, 0) for x in (part.got, part.expected))
    return near(got[:lag], expected[:lag]) and near(got[lag:], expected[lag:] + got[:-lag], np.abs(got).max() + 1)


def of_neighbours(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """Each element has what is right for it and its neighbours together: their sum, their maximum or their minimum."""
    for part in wrong:
        got, expected = part.got.ravel().astype(np.float64), part.expected.ravel().astype(np.float64)
        for width in (2, 4, 8, 16, 32):
            filled = -(-len(got) // width) * width - len(got)
            together = [
                np.pad(expected, (0, filled), constant_values=none).reshape(-1, width)
                for none in (0.0, -np.inf, np.inf)
            ]
            found = (together[0].sum(1), together[1].max(1), together[2].min(1))
            if any(near(got, each.repeat(width)[: len(got)]) for each in found):
                break
        else:
            return ""
    if not sum(part.got.size > 2 for part in wrong):
        return ""
    return (
        "Each element has what is right for several neighbouring elements together: the reduction goes over more lanes than "
        "work on one of them."
    )
