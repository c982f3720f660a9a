"""Scans, a linear recurrence by one, histogram and convolution: values, hazards, counters, on ragged sizes."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray, empty, nvrtc, sanitize, source, zeros
from tests.kernels.checking import (
    RAGGED,
    assert_bytes,
    assert_clean,
    assert_close,
    assert_coalesced,
    assert_conflict_free,
    assert_same_bits,
    new,
    normal,
)
from tests.nvrtc_here import needs_nvrtc

F, D, I = np.float32, np.float64, np.int32
AFFINE = np.dtype([("a", F), ("b", F)])
FLAGGED = np.dtype([("value", F), ("head", I)])
NOTHING = {"Sum, float": 0.0, "Sum, int": 0, "Compose, Affine": np.array((1, 0), AFFINE)[()],
           "Segmented<Sum>, Flagged<float>": np.array((0, 0), FLAGGED)[()]}  # fmt: skip


def elements(kind: str, n: int, seed: int = 0):
    """n elements for an operator: floats, whole numbers, steps of a recurrence, or floats in segments."""
    random = np.random.default_rng(seed)
    if kind == "Sum, int":
        return asarray(random.integers(-50, 50, n).astype(I))
    if kind == "Compose, Affine":
        return asarray(np.array(list(zip(random.uniform(-1, 1, n), random.normal(size=n), strict=True)), AFFINE))
    if "Flagged" in kind:
        return asarray(np.array(list(zip(random.normal(size=n), random.random(n) < 0.1, strict=True)), FLAGGED))
    return normal(n, mean=0.3, seed=seed)


def wanted(kind: str, x: np.ndarray) -> np.ndarray:
    """The inclusive scan, element by element in float64: of segments the sums, of a recurrence its states from 0."""
    result, state = [], 0.0
    for one in x:
        if kind == "Compose, Affine":
            state = float(one["a"]) * state + float(one["b"])
        elif "Flagged" in kind:
            state = float(one["value"]) + (0.0 if one["head"] else state)
        else:
            state += float(one)
        result.append(state)
    return np.array(result)


def values(kind: str, y: np.ndarray) -> np.ndarray:
    return y["b"] if kind == "Compose, Affine" else y["value"] if "Flagged" in kind else y


def scanned(kind: str, x, exclusive=False, threads=64, run=assert_clean):
    """By versions 1 or 2 and as many launches as it takes: blocks, their totals, and the addition."""
    n = len(x)
    tree = kind == "tree"
    width = 2 * threads if tree else threads
    blocks = -(-n // width)
    y, totals = empty(n, x.dtype), empty(blocks, x.dtype)
    name = f"scan_1_tree<{threads}>" if tree else f"scan_2_warps<{threads}, {kind}>"
    nothing = () if tree else (NOTHING[kind], exclusive)
    run(Kernel("scan.cu", name), (blocks,), (threads,), (x, y, totals, *nothing, n))
    if blocks > 1:
        before = scanned(kind, totals, True, threads, run)
        add = f"scan_add<{'Sum, float' if tree else kind}>"
        run(Kernel("scan.cu", add), (-(-n // 64),), (64,), (y, before, width, n))
    return y


def look_back(kind: str, x, items=2, warps=4, seed=0, run=assert_clean):
    """By version 3, in one launch."""
    n = len(x)
    tiles = -(-n // (32 * items))
    y, partial, state = empty(n, x.dtype), empty(2 * tiles, x.dtype), zeros(1 + tiles, I)
    kernel = Kernel("scan.cu", f"scan_3_look_back<{items}, {kind}>")
    run(kernel, (-(-tiles // warps),), (32 * warps,), (x, y, partial, state, NOTHING[kind], n), seed=seed)
    return y


@pytest.mark.parametrize("n", [*RAGGED, 5000])
def test_each_version_gives_prefix_sums(n):
    x = normal(n, mean=0.3)
    sums = np.cumsum(x.astype(D))
    assert_close(scanned("tree", x), sums - x)
    assert_close(scanned("Sum, float", x), sums)
    assert_close(scanned("Sum, float", x, exclusive=True), sums - x)
    assert_close(look_back("Sum, float", x), sums)


@pytest.mark.parametrize("n", [1, 33, 64, 65, 300])
@pytest.mark.parametrize("kind", ["Compose, Affine", "Segmented<Sum>, Flagged<float>"])
def test_operators_that_do_not_commute(kind, n):
    x = elements(kind, n)
    assert_close(values(kind, scanned(kind, x)), wanted(kind, x))
    for seed in (0, 3):
        assert_close(values(kind, look_back(kind, x, seed=seed)), wanted(kind, x))


@pytest.mark.parametrize("kind", ["tree", "Sum, float"])
def test_versions_1_and_2_give_the_same_bits_in_any_order(kind):
    x = normal(300)

    def launch(seed):
        return [scanned(kind, x, run=lambda kernel, *rest: kernel(*rest, seed=seed))]

    assert_same_bits(launch)


def test_look_back_gives_integers_exactly_in_any_order_and_floats_in_one_grouping_or_another():
    whole, floats, bits = elements("Sum, int", 1025), normal(1025), set()
    for seed in range(6):
        np.testing.assert_array_equal(look_back("Sum, int", whole, seed=seed), np.cumsum(whole))
        y = look_back("Sum, float", floats, items=1, warps=16, seed=seed)
        assert_close(y, np.cumsum(floats.astype(D)))
        bits.add(y.tobytes())
    assert len(bits) > 1, "the grouping does not show, though the header says that it does"


@pytest.mark.parametrize("prefix_at", [0, 1, 3])
def test_a_tile_looks_back_over_aggregates_until_it_meets_a_prefix(prefix_at):
    """Tiles 0 to 3 began and did not finish: behind the one with a prefix, only aggregates are known."""
    aggregates = np.array([10, 200, 3000, 40000], I)
    partial, state, y = zeros(10, I), zeros(6, I), empty(160, I)
    state[0], state[1:5] = 4, 1
    partial[0:8:2] = aggregates
    partial[2 * prefix_at + 1], state[1 + prefix_at] = aggregates[: prefix_at + 1].sum(), 2
    x = asarray(np.ones(160, I))
    assert_clean(Kernel("scan.cu", "scan_3_look_back<1, Sum, int>"), 1, 32, (x, y, partial, state, 0, 160))
    np.testing.assert_array_equal(y[128:], aggregates.sum() + 1 + np.arange(32))
    assert list(state) == [5, *(2 if tile == prefix_at else 1 for tile in range(4)), 2]
    assert list(partial[8:]) == [32, aggregates.sum() + 32]


@pytest.mark.parametrize(
    "fence",
    [
        "            __threadfence();  // the aggregate before its flag\n",
        "        __threadfence();\n        atomicExch(&flags[tile], PREFIX);",
    ],
)
def test_a_flag_before_its_value_is_a_race(fence):
    text = (source.KERNELS / "scan.cu").read_text()
    assert text.count(fence) == 1
    broken = Kernel(text.replace(fence, fence.replace("__threadfence();", "")), "scan_3_look_back<1, Sum, int>")
    x, kinds = elements("Sum, int", 256), set()
    for seed in (1, 2, 3):
        report = sanitize(broken, 2, 128, (x, empty(256, I), empty(16, I), zeros(9, I), 0, 256), seed=seed)
        kinds |= {issue.kind for issue in report.issues}
    assert kinds == {"race"}


def test_what_each_version_gained():
    """Bytes, conflicts and barriers, as the comments of scan.cu and chapter 23 say."""
    n, x = 4096, normal(4096)
    reports: list = []

    def watch(kernel, *rest, **more):
        reports.append(assert_clean(kernel, *rest, **more))

    scanned("tree", x, threads=256, run=watch)
    tree = reports[0]
    assert any(line.wavefronts_per_request > 4 for line in tree.lines if line.space == "shared")
    assert_bytes(tree, 8 * n, 1.02)
    reports.clear()
    scanned("Sum, float", x, threads=256, run=watch)
    assert_conflict_free(reports[0])
    assert_coalesced(reports[0])
    assert 16 * n <= sum(report.bytes_moved for report in reports) <= 1.1 * 16 * n
    reports.clear()
    look_back("Sum, float", x, items=16, run=watch)
    assert len(reports) == 1
    assert_bytes(reports[0], 8 * n, 1.1)


@pytest.mark.parametrize("T", [1, 5, 64, 65, 200])
def test_a_linear_recurrence_is_what_a_loop_computes(T):
    a, b, start = normal(3, T, deviation=0.7), normal(3, T, seed=1), normal(3, seed=2)
    h, state, rows = new(3, T), start.astype(D), []
    for t in range(T):
        state = a[:, t].astype(D) * state + b[:, t]
        rows.append(state)

    report = assert_clean(Kernel("recurrence_scan.cu", "recurrence_scan<64>"), (3,), (64,), (a, b, start, h, T))
    assert_close(h, np.stack(rows, 1))
    if T == 64:
        assert_bytes(report, 12 * 3 * T + 12, 1.2)

    def launch(seed):
        h = new(3, T)
        Kernel("recurrence_scan.cu", "recurrence_scan<64>")((3,), (64,), (a, b, start, h, T), seed=seed)
        return [h]

    assert_same_bits(launch, runs=2)


@pytest.mark.parametrize("n", [1, 63, 64, 1000])
def test_histograms_count(n):
    x = asarray(np.random.default_rng(n).integers(-2, 22, n).astype(I))  # some lie outside
    for version in ("histogram_1_global<20>", "histogram_2_shared<20>"):
        for seed in (0, 1):
            counts = zeros(20, I)
            assert_clean(Kernel("histogram.cu", version), (3,), (64,), (x, counts, n), seed=seed)
            np.testing.assert_array_equal(counts, np.bincount(x[(x >= 0) & (x < 20)], minlength=20))


def test_a_histogram_in_shared_memory_updates_global_memory_once_for_each_bin():
    x = asarray(np.zeros(4096, I))
    updates = {}
    for version in ("histogram_1_global<20>", "histogram_2_shared<20>"):
        report = assert_clean(Kernel("histogram.cu", version), (2,), (256,), (x, zeros(20, I), 4096))
        updates[version[10]] = sum(
            line.requests * line.active_lanes for line in report.lines if (line.space, line.op) == ("global", "write")
        )
    assert updates == {"1": 4096, "2": 2}


@pytest.mark.parametrize("B, T, C", [(1, 1, 1), (2, 3, 5), (2, 17, 33), (1, 40, 64)])
@pytest.mark.parametrize("taps", [1, 4])
def test_convolution(B, T, C, taps):
    x, w = normal(B, T, C), normal(taps, C, seed=1)
    padded = np.concatenate([np.zeros((B, taps - 1, C)), x.astype(D)], 1)  # (B, T + taps - 1, C)
    want = sum(w.astype(D)[tap] * padded[:, taps - 1 - tap : taps - 1 - tap + T] for tap in range(taps))
    for version, grid in (
        (f"convolution_1_element<{taps}>", (-(-C // 32), T, B)),
        (f"convolution_2_registers<{taps}, 8>", (-(-C // 32), -(-T // 8), B)),
    ):
        y = new(B, T, C)
        report = assert_clean(Kernel("convolution.cu", version), grid, (32,), (x, w, y, T, C))
        assert_close(y, want)
    if C == 64 and taps == 4:
        rows = 2 * T + (3 + 4) * T // 8 - 3  # for each 8 times 4 taps, and 3 rows once more, but for the first 8
        assert report.bytes_moved == 4 * C * rows


INSTANCES = {
    "scan.cu": [
        "scan_1_tree<256>", "scan_2_warps<256, Sum, float>", "scan_2_warps<64, Compose, Affine>",
        "scan_add<Segmented<Sum>, Flagged<float>>", "scan_3_look_back<8, Sum, int>",
        "scan_3_look_back<4, Compose, Affine>",
    ],
    "recurrence_scan.cu": ["recurrence_scan<128>"],
    "histogram.cu": ["histogram_1_global<256>", "histogram_2_shared<256>"],
    "convolution.cu": ["convolution_1_element<4>", "convolution_2_registers<4, 32>"],
}  # fmt: skip


@needs_nvrtc
@pytest.mark.parametrize("file", INSTANCES)
def test_nvidia_compiles_the_instances(file):
    text = source.find(source.KERNELS / file)
    for architecture in nvrtc.architectures(text):
        _, lowered = nvrtc.compile_text(text, tuple(INSTANCES[file]), architecture)
        assert len(lowered) == len(INSTANCES[file])
