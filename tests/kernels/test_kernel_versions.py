"""The tables of `course bench kernels`: each version once, with counts that follow from its shape."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.benchmarks import versions
from course_lib.cuda import Kernel, zeros


@pytest.fixture(scope="module")
def rows():
    return versions.run()


def test_every_version_of_every_operation_is_counted(rows):
    assert [row["version"] for row in rows if row["operation"].startswith("matmul")] == list(versions.MATMUL)
    assert {row["operation"] for row in rows} == set(versions.OPERATIONS)
    for row in rows:
        assert row["requests"] > 0 and row["sectors_per_request"] * row["requests"] * 32 == row["bytes_moved"]


def test_each_last_version_has_the_fewest_bytes_and_without_conflicts(rows):
    for name in versions.OPERATIONS:
        of_one = [row for row in rows if row["operation"] == name]
        assert of_one[-1]["bytes_moved"] == min(row["bytes_moved"] for row in of_one)
        assert of_one[-1]["conflicts"] == 0
    two_d = next(row for row in rows if row["version"].startswith("5"))
    assert two_d["conflicts"] == 16384  # 4,096 reads of b take 4 wavefronts and as many of a take 2


def test_the_bytes_of_the_memory_bound_versions(rows):
    by_version = {(row["operation"].split(",")[0].split(" of")[0], row["version"]): row["bytes_moved"] for row in rows}
    n, (R, S) = versions.ELEMENTS, versions.ROWS
    assert 4 * n <= by_version["sum", "4 vectors"] <= 1.01 * 4 * n
    assert [
        by_version["softmax", version] // (4 * R * S) for version in ("1 three pass", "2 online", "3 registers")
    ] == [4, 3, 2]


def test_a_kernel_that_does_wrong_is_not_counted():
    kernel = Kernel('extern "C" __global__ void past(float* x) { x[threadIdx.x + 1] = 1.0f; }', "past")
    with pytest.raises(RuntimeError, match="out-of-bounds"):
        versions.count("past", 0.0, [(kernel, (1,), (32,), (zeros(32, np.float32),), 0)])
