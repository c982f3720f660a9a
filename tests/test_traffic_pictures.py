"""The pictures of bytes, roofs and exchanges say in words what is in their data."""

import pytest

from course_lib import plots
from course_lib.cuda.report import Line, Report


def report(name: str, read: int, written: int) -> Report:
    lines = [
        Line("k.cu", row, space, op, 1, 4.0, 1.0, 32.0, moved, moved)
        for row, (space, op, moved) in enumerate(
            (("global", "read", read), ("global", "write", written), ("shared", "read", 999))
        )
    ]
    return Report(name, (1, 1, 1), (32, 1, 1), [], lines)


def test_traffic_adds_up_what_the_kernels_of_a_plan_move():
    drawn = plots.traffic({"apart": [report("a", 80, 40), report("b<4>", 40, 40)], "together": [report("c", 80, 20)]})
    assert "Apart: 200 bytes in 2 launches, 120 of them read and 80 written." in drawn.alt
    assert (
        "Together: 100 bytes in one launch" in drawn.alt and "2 times as many with apart as with together" in drawn.alt
    )


def test_traffic_of_nothing_is_refused():
    with pytest.raises(ValueError, match="move bytes"):
        plots.traffic({"none": [report("a", 0, 0)]})


def test_roofline_says_what_is_the_limit():
    add = report("add", 8000, 4000).roofline(100e9, 1000e9, flops=1000)
    product = report("product", 1000, 0).roofline(100e9, 1000e9, flops=50_000)
    for order in ({"add": add, "product": product}, {"product": product, "add": add}):
        alt = plots.roofline(order).alt
        assert "100 billion bytes and 1,000 billion operations a second, with its ridge at 10" in alt
        assert "add does 0.083 for each byte and can reach 0.833 % of the peak: memory is its limit." in alt
        assert "product does 50 for each byte and can reach 100 % of the peak: arithmetic is its limit." in alt


def test_roofs_of_two_machines_are_refused():
    one = report("add", 8, 4)
    with pytest.raises(ValueError, match="different roofs"):
        plots.roofline({"a": one.roofline(1.0, 2.0, flops=1), "b": one.roofline(1.0, 3.0, flops=1)})
    with pytest.raises(ValueError, match="at least one"):
        plots.roofline({})


def test_an_exchange_ends_with_the_sum():
    tree, butterfly = (plots.exchange(range(1, 9), kind) for kind in ("tree", "butterfly"))
    assert "3 steps, in which 4, 2, 1 of them add, thread 0 holds the sum 36" in tree.alt
    assert "in which 8, 8, 8 of them add, all 8 threads hold the sum 36" in butterfly.alt


def test_an_exchange_of_other_numbers_or_kinds_is_refused():
    with pytest.raises(ValueError, match="not 3"):
        plots.exchange([1, 2, 3])
    with pytest.raises(ValueError, match="'ring'"):
        plots.exchange([1, 2], "ring")


@pytest.mark.parametrize("count", [2, 8, 16])
def test_both_scans_end_with_all_prefix_sums(count):
    values = list(range(3, 3 + count))
    sums = [sum(values[: i + 1]) for i in range(count)]
    step = count.bit_length() - 1
    alt = plots.exchange(values, "scan").alt
    assert f"{step} steps of a scan" in alt and f"itself included: {', '.join(map(str, sums))}." in alt
    alt = plots.exchange(values, "tree scan").alt
    assert f"{2 * step} steps of a tree scan" in alt and f"i - 1: {', '.join(map(str, [0, *sums[:-1]]))}." in alt
