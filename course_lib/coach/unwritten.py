"""Which part of a kernel's result nobody has written: rows, columns, or the elements from one on."""

from __future__ import annotations

import numpy as np

from course_lib.coach.outcome import Outcome


def note(got: np.ndarray, outcome: Outcome) -> str:
    """One sentence if a result holds what empty() leaves in an array, with the count of threads if there were too few."""
    from course_lib.cuda import empty
    from course_lib.cuda.report import Report

    reports = [report for report in outcome.reports if isinstance(report, Report)]
    if got.dtype.itemsize != 4 or not got.size or not reports:
        return ""
    mask = np.ascontiguousarray(got).view(np.uint32) == empty(1).view(np.uint32)[0]
    if not mask.any():
        return ""
    nan = (": it is still nan" if mask.sum() == 1 else ": they are still nan") if got.dtype.kind == "f" else ""
    sentence = f"Nobody has written {'any element of the result' if mask.all() else _part(mask)}{nan}."
    blocks, threads = (int(np.prod(size)) for size in (reports[-1].grid, reports[-1].block))
    if mask.all() or len(reports) > 1 or blocks * threads >= got.size:
        return sentence
    return f"{sentence} {blocks * threads:,} threads ({blocks} x {threads}) have {got.size:,} elements to write: each must go on."


def _part(mask: np.ndarray) -> str:
    """The elements of a mask in words."""
    if mask.ndim == 1:
        return _named("element", mask)
    if mask.ndim == 2:
        rows, columns = mask.all(axis=1), mask.all(axis=0)
        if np.array_equal(mask, rows[:, None] | columns):
            return " and ".join(_named(word, part) for word, part in (("row", rows), ("column", columns)) if part.any())
    flat, first = mask.ravel(), tuple(int(i) for i in np.argwhere(mask)[0])
    if flat.sum() > 1 and flat[flat.argmax() :].all():
        return f"the last {flat.sum():,} elements, from {first} on"
    return f"{flat.sum():,} of {flat.size:,} elements; the first of them is {first}"


def _named(word: str, mask: np.ndarray) -> str:
    """ "row 3", "rows 3 to 8", "rows 1, 3, 5, 7 and others" """
    places = np.flatnonzero(mask)
    if len(places) == 1:
        return f"{word} {places[0]}"
    if places[-1] - places[0] == len(places) - 1:
        return f"{word}s {places[0]} to {places[-1]}"
    return f"{word}s {', '.join(map(str, places[:4]))}{' and others' if len(places) > 4 else ''}"
