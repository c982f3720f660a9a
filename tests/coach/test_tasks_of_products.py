"""Figures that the tasks of chapters 08a, 08b and 08c state are those that our own solutions reach."""

import numpy as np
import pytest

from course_lib.coach import catalogue, kernels


def counted(name: str) -> list[float]:
    """The numbers of the exercise's goals, for our solution in the case that is measured."""
    exercise = catalogue.load(name)
    ours = kernels.load(catalogue.piece(name).solution, exercise)
    cases = exercise.cases(np.random.default_rng(0))
    exercise.call(ours, *next(case for case in cases if case.label == exercise.measured).inputs)
    return [goal.counts(ours.reports) for goal in exercise.goals]


@pytest.mark.parametrize(
    ("name", "number", "words"),
    [
        ("matmul_few_bytes", 3 * 49_152, "If every number moved once it would be 49,152. Ours * three times as much"),
        ("matmul_register_tiles_1d", 9216, "9,216 in all"),
        ("transpose_float4", 48 + 48, "at most 96 requests"),
        ("swizzled_columns", 4, "at most 4 wavefronts"),
    ],
)
def test_what_our_products_count(name, number, words):
    assert number in counted(name)
    task = " ".join(
        catalogue.source(catalogue.load(name).chapter).read_text(encoding="utf-8").replace("\n# ", " ").split()
    )
    for part in words.split(" * "):
        assert part in task


def test_what_a_short_product_moves_at_least():
    """A and B in two bytes each number, C in four; ours moves more."""
    least = 2 * (64 * 64 + 64 * 64) + 4 * 64 * 64
    assert f"{least:,} is the least" in catalogue.source("08c").read_text(encoding="utf-8").replace("\n# ", " ")
    assert counted("matmul_wmma_few_bytes")[-1] > least
