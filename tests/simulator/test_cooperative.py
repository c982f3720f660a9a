"""Blocks that wait for the grid, tiles of more than a warp, pipelines: right values, and each planted fault on its line."""

import numpy as np
import pytest

from course_lib.cuda import ArgumentError, Kernel, sanitize
from tests.simulator.test_programs import expected, run

pytestmark = pytest.mark.slow

BOTH = pytest.mark.parametrize("checked", [False, True])


@BOTH
def test_all_blocks_of_a_cooperative_launch_are_in_flight(compiler, checked):
    found, said = run("cooperative.cu", checked)
    x = np.arange(1000) % 10
    parts = np.array([x[np.arange(1000) // 64 % 7 == block].sum() for block in range(7)])
    lines = said.splitlines()
    assert lines[:2] == ["0", "0"] and lines[3] == str(x.sum())
    assert np.array_equal(np.array(lines[2].split(), float), np.where(np.arange(7) == 0, 0, parts - parts[0]))
    told = {(one.kind, one.line) for one in found.findings}
    if checked:
        assert told == expected("cooperative.cu"), found.findings
    else:  # it knows no lines of kernels, and the grid that never comes together is lost there
        assert lines[4:] == ["cudaErrorIllegalAddress"] * 3 and {kind for kind, _ in told} == {"crash"}


@BOTH
def test_groups_and_pipelines_give_what_numpy_gives(compiler, checked):
    found, said = run("groups.cu", checked)
    assert found.ok, found.findings
    x = (np.arange(1024) * 3 % 251).astype(float)
    t, lane = np.arange(256), np.arange(64)
    whole, half = t // 128 * 128, t // 64 * 64
    tiles = np.stack([
        x[:256].reshape(2, 128).sum(1)[t // 128],
        x[whole + 33] + 1000 * (t // 128) + 40000,
        (x[:256].reshape(4, 64) > 200).any(1)[half // 64] + 2 * (x[:256].reshape(4, 64) < 192).all(1)[half // 64],
        t % 64,
    ], 1)  # fmt: skip
    staged = sum(x[64 * i + 63 - lane] for i in range(9))
    lane = lane[:32]
    right = [
        ("tiles", tiles.ravel()), ("copied", x[255 - t] + x[256 + t % 100]), ("pipelined", staged), ("pipelined", staged),
        ("specialised", sum(x[32 * i + 31 - lane] for i in range(7))),
        ("own", sum(x[128 * i + 4 * lane + 1] for i in range(7))), ("placed", 3.0 * lane),
    ]  # fmt: skip
    for line, (name, values) in zip(said.splitlines(), right, strict=True):
        weights = np.arange(len(values)) % 7 + 1
        assert line.split()[0] == name
        assert [float(n) for n in line.split()[1:]] == [values.sum(), (values * weights).sum()], line


SUMS = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
template <int ROUNDS> __global__ void passes(int* x, int n) {
    auto grid = cg::this_grid();
    __shared__ int mine[64];
    mine[threadIdx.x] = threadIdx.x;
    for (int round = 0; round < ROUNDS; round++) {
        int i = grid.thread_rank(), next = x[(i + 64) % n];
        grid.sync();
        x[i] = next + mine[threadIdx.x];
        BETWEEN
    }
}
"""


def passed(rounds: int) -> np.ndarray:
    x = np.arange(256)
    for _ in range(rounds):
        x = np.roll(x, -64) + np.arange(256) % 64
    return x


@pytest.mark.parametrize("seed", [0, 5])
def test_a_kernel_launched_from_python_waits_for_its_grid(seed):
    kernel = Kernel(SUMS.replace("BETWEEN", "grid.sync();"), "passes<3>")
    x = np.arange(256, dtype=np.int32)
    kernel((4,), (64,), (x, 256), seed=seed)
    assert np.array_equal(x, passed(3))
    x = np.arange(256, dtype=np.int32)
    assert sanitize(kernel, (4,), (64,), (x, 256), seed=seed).ok
    assert np.array_equal(x, passed(3))
    with pytest.raises(ArgumentError, match=r"1,025 blocks .* holds 1024"):
        kernel((1025,), (64,), (x, 256))


def test_a_grid_that_is_not_waited_for_races_and_shared_memory_is_each_blocks_own():
    kernel = Kernel(SUMS.replace("BETWEEN", ""), "passes<2>")
    report = sanitize(kernel, (4,), (64,), (np.arange(256, dtype=np.int32), 256))
    assert {(issue.kind, issue.line, issue.other_line) for issue in report.issues} == {("race", 10, 8)}, str(report)
