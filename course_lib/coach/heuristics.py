"""What can be said of a wrong result without knowing the exercise: only what was tested on the numbers, never a guess."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from course_lib.coach.compare import difference, plain
from course_lib.coach.outcome import Outcome

PATTERNS = re.compile(
    "These are the right|Every element is [^z]|The sign of every", re.IGNORECASE
)  # of numbers, which may fit by chance


def about(outcome: Outcome, tolerance: float) -> str:
    """One sentence about a failing case, or nothing. Of a part of the result it names the part first."""
    if words := _exchanged(outcome, tolerance):
        return words
    sentence = _about(outcome, tolerance)
    place = outcome.difference.where if outcome.difference is not None else ""
    return f"{outcome.difference.part}: {sentence[0].lower()}{sentence[1:]}" if sentence and place else sentence


def of_all(outcome: Outcome, outcomes: Sequence[Outcome], tolerance: float) -> str:
    """The same sentence, if it is no coincidence: an order or a factor must explain all wrong results of some length."""
    sentence = about(outcome, tolerance)
    if sentence.startswith("Parts "):  # of few numbers too, so that one case may be a coincidence
        wrong = [o for o in outcomes if not o.right]
        return sentence if len(wrong) > 1 and all(about(o, tolerance) == sentence for o in wrong) else ""
    if PATTERNS.search(sentence) is None:
        return sentence
    others = [o for o in outcomes if o is not outcome and o.difference and np.size(plain(o.difference.expected)) > 2]
    explained = all(PATTERNS.search(about(other, tolerance)) for other in others)
    return sentence if explained else ""


def _about(outcome: Outcome, tolerance: float) -> str:
    got, expected = plain(outcome.got), plain(outcome.expected)
    if outcome.difference is None:
        return ""
    if got is None and expected is not None:
        return "Your code returned None. Does every path through it end in `return`?"
    if outcome.difference.where:
        got, expected = plain(outcome.difference.got), plain(outcome.difference.expected)
    if not isinstance(expected, np.ndarray) or not isinstance(got, np.ndarray | int | float):
        return _of_numbers(got, expected, tolerance)
    got = np.asarray(got)
    if got.dtype.kind not in "fiub" or expected.dtype.kind not in "fiub":
        return ""
    if got.shape != expected.shape:
        return _of_shapes(got, expected, tolerance)
    if got.size and expected.dtype.kind in "fi" and expected.all() and np.array_equal(got, -expected):
        return (
            "The sign of every element is wrong." if got.size > 1 else "The magnitude is right, and the sign is wrong."
        )
    if got.ndim == 2 and got.shape[0] == got.shape[1] and _same(got.T, expected, tolerance):
        return "These are the right numbers, transposed: rows and columns are swapped."
    if words := _unwritten(got, outcome):
        return words
    if np.isnan(got).any() and not np.isnan(expected).any():
        mask = np.isnan(got)
        which = "every element" if mask.all() else _part(mask)
        causes = "the result of 0/0, inf - inf or inf * 0, or of another nan, or memory that was never written"
        return f"There is nan (not a number) in {which}: {causes}."
    if np.isinf(got).any() and not np.isinf(expected).any():
        return "Some elements are infinite: a value overflowed its type, or was divided by zero."
    if got.size > 1 and not got.any() and expected.any():
        return "Every element is zero."
    if got.ndim and got.shape[-1] > 1 and _are_probabilities(expected) and _same(got, _softmax(expected), tolerance):
        return "This is the softmax of the right result: softmax was applied twice."
    if got.ndim and got.shape[-1] > 3:
        for words, ours, theirs in (
            ("late", slice(1, None), slice(None, -1)),
            ("early", slice(None, -1), slice(1, None)),
        ):
            if _varies(expected) and _same(got[..., ours], expected[..., theirs], tolerance):
                return f"These are the right numbers, one index too {words} along the last axis."
    if got.size > 2 and _same(got[::-1], expected, tolerance):
        return "These are the right numbers in the reverse order."
    if _same(np.sort(got, None), np.sort(expected, None), tolerance) and got.size > 2 and _varies(expected):
        return "These are the right numbers at the wrong indices."
    if got.size > 2 and np.array_equal(got, np.trunc(expected)):
        return "These are the right numbers without their fractional parts: an `int` holds whole numbers only."
    if expected.dtype.kind in "iu" and np.array_equal(got, expected.astype(np.float32).astype(expected.dtype)):
        return (
            "These are the right integers, rounded to floats, which hold 24 bits of them: keep them in their own type."
        )
    return _of_factor(got, expected, tolerance)


def _exchanged(outcome: Outcome, tolerance: float) -> str:
    """A sentence if a result of several parts is right but for two that stand in each other's place."""
    got, expected = outcome.got, outcome.expected
    if not isinstance(got, tuple | list) or not isinstance(expected, tuple) or len(got) != len(expected):
        return ""
    wrong = [i for i, (a, b) in enumerate(zip(got, expected, strict=True)) if difference(a, b, tolerance)]
    if len(wrong) != 2:
        return ""
    a, b = wrong
    if difference(got[a], expected[b], tolerance) or difference(got[b], expected[a], tolerance):
        return ""
    return f"Parts {a + 1} and {b + 1} of the result are right, and each stands where the other belongs: exchange them."


def changed_inputs(outcome: Outcome, names: Sequence[str] = ()) -> str:
    """A sentence about inputs that were altered, or nothing. names: of all inputs."""
    if not outcome.changed:
        return ""
    which = " and ".join(f"`{names[i]}`" if i < len(names) else f"Input {i + 1}" for i in outcome.changed)
    was = "was" if len(outcome.changed) == 1 else "were"
    return f"{which} {was} changed by your code. Inputs must stay as they are: work on a copy, or make a new array."


def _unwritten(got: np.ndarray, outcome: Outcome) -> str:
    """One sentence if a result holds what empty() leaves in an array, with the count of threads if there were too few."""
    from course_lib.cuda.memory import UNWRITTEN
    from course_lib.cuda.report import Report

    if got.dtype.itemsize != 4 or not got.size or not outcome.reports:
        return ""
    mask = np.ascontiguousarray(got).view(np.uint32) == UNWRITTEN
    if not mask.any():
        return ""
    part = "any element of the result" if mask.all() else _part(mask)
    one = mask.sum() == 1 or re.fullmatch(r"(row|column) \d+", part)
    nan = (": it is still nan" if one else ": they are still nan") if got.dtype.kind == "f" else ""
    sentence = f"Your kernel never wrote {part}{nan}."
    reports = [report for report in outcome.reports if isinstance(report, Report)]  # of CUDA: they know the launch
    if not reports:
        return sentence
    blocks, threads = (int(np.prod(size)) for size in (reports[-1].grid, reports[-1].block))
    written = got.size - mask.sum()
    if not written or len(reports) > 1 or written > blocks * threads or blocks * threads >= got.size:
        return sentence
    launched = f"{blocks * threads:,} threads ({blocks} x {threads})"
    return f"{sentence} {launched} have {got.size:,} elements to write: each thread must loop over several."


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


def _of_numbers(got, expected, tolerance: float) -> str:
    numbers = isinstance(got, int | float) and isinstance(expected, int | float)
    if not numbers or isinstance(got, bool) or isinstance(expected, bool):
        return ""
    if expected and abs(got + expected) <= tolerance * max(1.0, abs(expected)):
        return "The magnitude is right, and the sign is wrong."
    return ""


def _of_shapes(got: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    if got.T.shape == expected.shape and _same(got.T, expected, tolerance):
        return "These are the right numbers, transposed: the axes are in reverse order."
    if got.size == expected.size and _same(got.ravel(), expected.ravel(), tolerance):
        return f"These are the right numbers in another shape: {got.shape}, expected {expected.shape}."
    return ""


def _of_factor(got: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    wide, wanted = got.astype(np.float64), expected.astype(np.float64)
    if not (np.isfinite(wide).all() and np.isfinite(wanted).all()) or np.count_nonzero(wanted) < 3:
        return ""
    largest = np.unravel_index(np.abs(wanted).argmax(), wanted.shape)
    factor = wide[largest] / wanted[largest]
    if factor and f"{factor:.4g}" != "1" and np.ptp(np.abs(wanted)) and _same(wide, factor * wanted, tolerance):
        return (
            "The sign of every element is wrong."
            if abs(factor + 1) < 1e-3
            else f"Every element is {factor:.4g} times what it should be."
        )
    shift = (wide - wanted).mean()
    if np.ptp(wanted) and _same(wide, wanted + shift, tolerance):
        return f"Every element is {abs(shift):.4g} too {'large' if shift > 0 else 'small'}."
    return ""


def _varies(x: np.ndarray) -> bool:
    """Of booleans too, which np.ptp cannot subtract."""
    return bool((x != x.flat[0]).any())


def _are_probabilities(x: np.ndarray) -> bool:
    return bool((x >= 0).all() and np.allclose(x.sum(axis=-1), 1.0, atol=1e-4))


def _softmax(x: np.ndarray) -> np.ndarray:
    raised = np.exp(x.astype(np.float64))
    return (raised / raised.sum(axis=-1, keepdims=True)).astype(x.dtype)


def _same(a, b, tolerance: float) -> bool:
    return difference(a, b, tolerance) is None
