"""LayerNorm, residual + LayerNorm and RMSNorm: every kernel against float64, few lanes to whole blocks; bytes and bits."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.cuda import Kernel
from course_lib.devices import ops
from course_lib.devices.gpu import configuration
from tests.kernels.checking import (
    assert_bytes,
    assert_clean,
    assert_close,
    assert_coalesced,
    assert_op_repeats,
    assert_same_bits,
    new,
    normal,
)

F, D = np.float32, np.float64
EPS = 1e-5
reference = ops("reference")

LAYOUTS = [
    (4, 4, 3, (4, 44, 48)),
    (32, 1, 2, (5, 33, 64)),
    (32, 4, 3, (384,)),
    (128, 4, 1, (132, 512)),
    (64, 1, 4, (130, 255)),
]
NORMS = ["layernorm", "residual_layernorm", "rmsnorm"]


def wide(arrays):
    return [None if a is None else a.astype(D) for a in arrays]


class Case:
    """One norm on rows of C with its reference in float64; `launch` runs a kernel of it, `blocks` share the rows."""

    def __init__(self, norm: str, rows: int, C: int, bias: bool = True, dtotal: bool = True, seed: int = 0):
        self.norm, self.rows, self.C, self.sets = norm, rows, C, 2 if bias and norm != "rmsnorm" else 1
        x, residual, self.dy, dtotal_ = (normal(rows, C, seed=4 * seed + i, mean=0.5) for i in range(4))
        self.weight, b = normal(C, seed=20, mean=1), normal(C, seed=21)
        b = b if self.sets == 2 else None
        self.bias_flag = () if norm == "rmsnorm" else (self.sets == 2,)
        if norm == "layernorm":
            self.inputs, self.extra, self.outputs = (x, self.weight, b), (), 1
        elif norm == "residual_layernorm":
            self.inputs, self.extra, self.outputs = (x, residual, self.weight, b), (dtotal_ if dtotal else None,), 2
        else:
            self.inputs, self.extra, self.outputs = (x, self.weight), (), 1
        self.want = getattr(reference, f"{norm}_forward")(*wide(self.inputs), EPS)
        self.kept = self.want[1] if norm == "residual_layernorm" else x.astype(D)
        self.statistics = self.want[self.outputs :]
        self.want_back = getattr(reference, f"{norm}_backward")(
            self.dy.astype(D), *wide(self.extra), self.kept, self.weight.astype(D), *self.statistics, *self.bias_flag
        )

    def forward(self, layout, blocks):
        """Kernel, launch, outputs."""
        out = [new(self.rows, self.C) for _ in range(self.outputs)] + [new(self.rows) for _ in self.statistics]
        kernel = Kernel(f"{self.norm}.cu", f"{self.norm}_forward<{', '.join(map(str, layout))}>")
        given = tuple(0 if a is None else a for a in self.inputs)
        return kernel, ((blocks,), (layout[0],), (*given, *out, self.rows, self.C, EPS)), out

    def backward(self, layout, blocks):
        out = [new(self.rows, self.C), new(blocks, self.sets * self.C)]
        kernel = Kernel(f"{self.norm}.cu", f"{self.norm}_backward<{', '.join(map(str, layout))}>")
        given = tuple(0 if a is None else a for a in (self.dy, *self.extra))
        kept = [new(*a.shape) for a in (self.kept, *self.statistics)]
        for there, value in zip(kept, (self.kept, *self.statistics), strict=True):
            there[...] = value
        args = (*given, kept[0], self.weight, *kept[1:], *out, self.rows, self.C, *self.bias_flag)
        return kernel, ((blocks,), (layout[0],), args), out

    def check_forward(self, out):
        for got, want in zip(out, self.want, strict=True):
            assert_close(got, want, what=f"{self.norm}, {self.rows} rows of {self.C}")

    def check_backward(self, out):
        dx, *shared = self.want_back
        assert_close(out[0], dx, what="dx")
        sums = out[1].astype(D).sum(0).reshape(self.sets, self.C)
        for got, want in zip(sums, shared, strict=False):
            assert_close(got, want, what="dweight, dbias")


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: "x".join(map(str, layout[:3])))
@pytest.mark.parametrize("norm", NORMS)
def test_values(norm, layout):
    for C in layout[3]:
        for rows, blocks in ((1, 1), (5, 2)):
            for bias in (True, False):
                case = Case(norm, rows, C, bias, dtotal=bias)
                kernel, launch, out = case.forward(layout[:3], blocks)
                assert_clean(kernel, *launch)
                case.check_forward(out)
                kernel, launch, out = case.backward(layout[:3], blocks)
                assert_clean(kernel, *launch)
                case.check_backward(out)


@pytest.mark.parametrize("C", [1, 37, 64, 300])
def test_the_first_version_of_layernorm(C):
    case = Case("layernorm", 3, C)
    y, mean, rstd = new(3, C), new(3), new(3)
    kernel = Kernel("layernorm.cu", "layernorm_1_three_pass<64>")
    assert_clean(kernel, (3,), (64,), (*case.inputs, y, mean, rstd, C, EPS))
    case.check_forward((y, mean, rstd))


@pytest.mark.parametrize("norm", NORMS)
def test_finite_differences_of_the_kernels(norm):
    """The slope of sum(y dy) by central differences along a direction, from the kernels alone (float32: to a thousandth)."""
    table, C, step = ops("simulator"), 36, 1e-2
    case, rng = Case(norm, 4, C), np.random.default_rng(5)
    run = getattr(table, f"{norm}_forward")
    out = run(*case.inputs, EPS)
    kept = out[1] if norm == "residual_layernorm" else case.inputs[0]
    extra = (None,) if norm == "residual_layernorm" else ()
    statistics = out[2:] if norm == "residual_layernorm" else out[1:]
    gradients = getattr(table, f"{norm}_backward")(case.dy, *extra, kept, case.weight, *statistics, *case.bias_flag)
    positions = [0, *range(len(case.inputs) - len(gradients) + 1, len(case.inputs))]
    for position, gradient in zip(positions, gradients, strict=True):
        direction = rng.normal(size=gradient.shape).astype(F)
        slopes = []
        for sign in (1, -1):
            moved = list(case.inputs)
            moved[position] = new(*gradient.shape)
            moved[position][...] = case.inputs[position] + F(sign * step) * direction
            slopes.append((run(*moved, EPS)[0].astype(D) * case.dy).sum())
        slope = (slopes[0] - slopes[1]) / (2 * step)
        scale = np.abs(gradient.astype(D) * direction).sum()
        assert abs(slope - (gradient.astype(D) * direction).sum()) < 1e-3 * scale, f"input {position}"


@pytest.mark.parametrize("norm", NORMS)
def test_each_row_is_read_once(norm):
    """Bytes within 1.2 of the least, since weight and bias are read once for many rows."""
    rows, C, layout, blocks = 64, 384, (32, 4, 3), 2
    n = rows * C
    case = Case(norm, rows, C)
    for launched, each in (
        (case.forward, 16 if "residual" in norm else 8),
        (case.backward, 16 if "residual" in norm else 12),
    ):
        kernel, launch, _ = launched(layout, blocks)
        report = assert_clean(kernel, *launch)
        assert_bytes(report, each * n, 1.2)
        assert_coalesced(report)
        assert not [line for line in report.lines if line.space == "shared"], "a warp needs no shared memory"


def test_what_registers_gained():
    case, rows, C = Case("layernorm", 16, 384), 16, 384
    args = (*case.inputs, new(rows, C), new(rows), new(rows), C, EPS)
    report = assert_clean(Kernel("layernorm.cu", "layernorm_1_three_pass<128>"), (rows,), (128,), args)
    lines = [line for line in report.lines if line.space == "global"]
    assert 4 * 4 * rows * C <= sum(line.bytes_moved for line in lines)  # three reads and a write, and the weights
    assert_coalesced(report)


@pytest.mark.parametrize("norm", NORMS)
def test_the_same_bits_in_any_order(norm):
    def launch(seed):
        case, results = Case(norm, 7, 255), []
        for launched in (case.forward, case.backward):
            kernel, arguments, out = launched((64, 1, 4), 3)
            kernel(*arguments, seed=seed)
            results += out
        return results

    assert_same_bits(launch)


@pytest.mark.parametrize("norm", NORMS)
def test_gradients_of_the_weights_give_the_same_bits_again(norm):
    case = Case(norm, 33, 20)
    table, extra = ops("simulator"), (None,) if norm == "residual_layernorm" else ()
    kept = [new(*a.shape) for a in (case.kept, *case.statistics)]
    for there, value in zip(kept, (case.kept, *case.statistics), strict=True):
        there[...] = value
    run = getattr(table, f"{norm}_backward")
    assert_op_repeats(lambda: run(case.dy, *extra, kept[0], case.weight, *kept[1:], *case.bias_flag))


@pytest.mark.parametrize("far", [300.0, -3000.0])
def test_rows_far_from_zero_keep_their_digits(far):
    """mean(x^2) - mean(x)^2 would lose them."""
    x, weight = normal(4, 64, mean=far), normal(64, mean=1, seed=1)
    y, _, _ = ops("simulator").layernorm_forward(x, weight, None, EPS)
    want, _, _ = reference.layernorm_forward(x.astype(D), weight.astype(D), None, EPS)
    assert_close(y, want, 1e-7 * abs(far))  # of what x itself could hold


def test_rows_that_are_too_long_are_refused_in_a_sentence():
    C = 1024 * configuration.MOST_PER_THREAD + 1
    with pytest.raises(ValueError, match=r"16,384 elements.*16,385"):
        ops("simulator").rmsnorm_forward(new(1, C), new(C), EPS)


def test_no_rows():
    table, weight = ops("simulator"), new(5)
    y, mean, rstd = table.layernorm_forward(new(0, 5), weight, None, EPS)
    assert y.shape == (0, 5) and mean.shape == rstd.shape == (0,)
    dx, dweight, dbias = table.layernorm_backward(new(0, 5), new(0, 5), weight, mean, rstd, True)
    assert dx.shape == (0, 5) and not dweight.any() and not dbias.any() and dweight.shape == dbias.shape == (5,)
