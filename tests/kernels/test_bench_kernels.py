"""The tables of `course bench kernels`: each version once, with counts that follow from its shape."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.benchmarks import ladder
from course_lib.cuda import Kernel, zeros


@pytest.fixture(scope="module")
def rows():
    return ladder.run()


def test_every_version_of_every_kernel_is_counted(rows):
    assert [row["rung"] for row in rows if row["ladder"].startswith("matmul")] == list(ladder.MATMUL)
    assert {row["ladder"] for row in rows} == set(ladder.LADDERS)
    for row in rows:
        assert row["requests"] > 0 and row["sectors_per_request"] * row["requests"] * 32 == row["bytes_moved"]


def test_each_last_version_ends_with_the_fewest_bytes_and_without_conflicts(rows):
    for name in ladder.LADDERS:
        versions = [row for row in rows if row["ladder"] == name]
        assert versions[-1]["bytes_moved"] == min(row["bytes_moved"] for row in versions)
        assert versions[-1]["conflicts"] == 0
    two_d = next(row for row in rows if row["rung"].startswith("5"))
    assert two_d["conflicts"] == 16384  # 4,096 reads of b take 4 turns and as many of a take 2


def test_the_bytes_of_the_memory_bound_kernels(rows):
    by_version = {(row["ladder"].split(",")[0].split(" of")[0], row["rung"]): row["bytes_moved"] for row in rows}
    n, (R, S) = ladder.ELEMENTS, ladder.ROWS
    assert 4 * n <= by_version["sum", "4 vectors"] <= 1.01 * 4 * n
    assert [
        by_version["softmax", version] // (4 * R * S) for version in ("1 three pass", "2 online", "3 registers")
    ] == [
        4,
        3,
        2,
    ]


def test_a_kernel_that_does_wrong_is_not_counted():
    kernel = Kernel('extern "C" __global__ void past(float* x) { x[threadIdx.x + 1] = 1.0f; }', "past")
    with pytest.raises(RuntimeError, match="out-of-bounds"):
        ladder.count("past", 0.0, [(kernel, (1,), (32,), (zeros(32, np.float32),), 0)])
