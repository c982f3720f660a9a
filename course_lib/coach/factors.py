"""Wrong elements that are off by one factor, or by one number, which the case knows: a size, a scalar, the width of a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from course_lib.coach.parts import Part, near, quantities, values, which

FACTORS: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("{}", lambda q: q), ("1 / {}", lambda q: 1 / q), ("the square root of {}", lambda q: q**0.5),
    ("1 / the square root of {}", lambda q: q**-0.5),
    ("the square of {}", lambda q: q * q),
    ("1 / the square of {}", lambda q: q**-2),
    ("n / (n - 1), with n for {},", lambda q: q / (q - 1)), ("(n - 1) / n, with n for {},", lambda q: (q - 1) / q),
    ("the square root of n / (n - 1), with n for {},", lambda q: (q / (q - 1)) ** 0.5),
    ("the square root of (n - 1) / n, with n for {},", lambda q: ((q - 1) / q) ** 0.5),
    ("n / (n + 1), with n for {},", lambda q: q / (q + 1)), ("(n + 1) / n, with n for {},", lambda q: (q + 1) / q),
)  # fmt: skip


def factor(wrong: Sequence[Part], names: Sequence[str]) -> str:
    """All wrong elements of a case are off by one factor, or by one number, which the case knows."""
    every = which(wrong)
    finite = [part for part in wrong if np.isfinite(part.got[part.wrong]).all()]
    if len(finite) < len(wrong):
        wrong, every = finite, "Every wrong element that is finite"
    if len(wrong) < 2:
        return ""
    for word, off in (("times what it should be", _ratio), ("too large", _shift)):
        numbers = [off(part) for part in wrong]
        if any(number is None for number in numbers):
            continue
        if off is _ratio and all(abs(number + 1) < 1e-3 for number in numbers):
            return f"{every} has the wrong sign; its magnitude is right."
        if np.ptp(numbers) <= 1e-4 * abs(numbers[0]):
            number = numbers[0] if off is _ratio else abs(numbers[0])
            return f"{every} is {number:.4g} {word if off is _ratio or numbers[0] > 0 else 'too small'}."
        for sign, small in (
            (1, word),
            (-1, "times what it should be, with the other sign" if off is _ratio else "too small"),
        ):
            left: set[str] | None = None
            for part, number in zip(wrong, numbers, strict=True):
                fits = set()
                for name, quantity in quantities(part, names):
                    for form, function in FACTORS if off is _ratio else FACTORS[:2]:
                        try:
                            value = sign * function(quantity)
                        except (ZeroDivisionError, OverflowError):
                            continue
                        if (
                            isinstance(value, float)
                            and abs(number - value) <= 2e-3 * abs(value) + 1e-12
                            and (off is _shift or value != 1)
                        ):
                            fits.add(form.format(name))
                left = fits if left is None else left & fits
            if left:
                return f"{every} is {min(left, key=lambda text: (len(text), text))} {small}."
    return ""


def _ratio(part: Part) -> float | None:
    got, expected = values(part)
    if not expected.any():
        return None
    at = np.abs(expected).argmax()
    factor = got[at] / expected[at]
    return factor if factor and near(got, factor * expected, np.abs(factor * expected).max()) else None


def _shift(part: Part) -> float | None:
    got, expected = values(part)
    shift = float(np.sort(got - expected)[len(got) // 2])  # np.median would load numpy.ma first: 0.1 s
    return (
        shift
        if shift and near(got - expected, np.full_like(got, shift), np.maximum(abs(shift), np.abs(expected)))
        else None
    )
