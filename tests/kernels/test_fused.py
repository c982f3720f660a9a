"""Vector add, SAXPY, scale, residual add, GELU, bias + GELU, SwiGLU and dropout against the reference in float64."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.cuda import Kernel, asarray
from course_lib.devices import ops
from tests.kernels.checking import (
    RAGGED,
    assert_bytes,
    assert_clean,
    assert_close,
    assert_coalesced,
    assert_same_bits,
    new,
    normal,
)

F, D = np.float32, np.float64
reference = ops("reference")

# name: (file, arrays that it reads, what y is in float64, bytes per element). Thread i owns N consecutive elements.
BY_ELEMENT = {
    "residual_add": ("residual_add.cu", 2, lambda x, residual: x + residual, 12),
    "gelu_forward": ("gelu.cu", 1, reference.gelu_forward, 8),
    "gelu_backward": ("gelu.cu", 2, reference.gelu_backward, 12),
}


def by_element(name: str, width: int, n: int):
    """Kernel, grid, block and inputs for n elements."""
    file, count, _, _ = BY_ELEMENT[name]
    inputs = [normal(n, seed=seed, deviation=3) for seed in range(count)]
    return Kernel(file, f"{name}<{width}>"), (-(-n // (64 * width)),), (64,), inputs


@pytest.mark.parametrize("width", [4, 1])
@pytest.mark.parametrize("name", BY_ELEMENT)
def test_each_element_and_none_beyond(name, width):
    for n in RAGGED:
        kernel, grid, block, inputs = by_element(name, width, n)
        y = new(n)
        assert_clean(kernel, grid, block, (*inputs, y, n))
        want = BY_ELEMENT[name][2](*(x.astype(D) for x in inputs))
        assert_close(y, want, what=f"{name}<{width}> of {n}")
        kernel(grid, block, (*inputs, inputs[0], n))  # the result may take the place of an input
        assert_close(inputs[0], want, what=f"{name}<{width}> of {n} in place")


@pytest.mark.parametrize("width", [4, 1])
@pytest.mark.parametrize("name", BY_ELEMENT)
def test_elementwise_kernels_move_no_byte_twice(name, width):
    kernel, grid, block, inputs = by_element(name, width, 4096)
    report = assert_clean(kernel, grid, block, (*inputs, new(4096), 4096))
    assert_bytes(report, BY_ELEMENT[name][3] * 4096, 1.0)
    assert_coalesced(report)


def test_vector_add():
    kernel = Kernel("vector_add.cu", "vector_add")
    for n in RAGGED:
        a, b, c = normal(n), normal(n, seed=1), new(n)
        assert_clean(kernel, (-(-n // 64),), (64,), (a, b, c, n))
        assert_close(c, a.astype(D) + b)
    a, b = normal(4096), normal(4096, seed=1)
    report = assert_clean(kernel, (16,), (256,), (a, b, new(4096), 4096))
    assert_bytes(report, 12 * 4096, 1.0)
    assert all(line.sectors_per_request == 4 for line in report.lines), str(report)


@pytest.mark.parametrize("name", ["saxpy_1_element", "saxpy_2_grid_stride"])
def test_saxpy(name):
    kernel = Kernel("saxpy.cu", name)
    for n in (*RAGGED, 4096):
        x, y = normal(n), normal(n, seed=1)
        want = 1.5 * x.astype(D) + y
        grid = (3,) if "stride" in name else (-(-n // 64),)
        report = assert_clean(kernel, grid, (64,), (1.5, x, y, n))
        assert_close(y, want)
    assert_bytes(report, 12 * 4096, 1.0)
    assert_coalesced(report)


def test_both_ways_of_saxpy_give_the_same_bits():
    x, ys = normal(1025), [normal(1025, seed=1) for _ in range(2)]
    Kernel("saxpy.cu", "saxpy_1_element")((17,), (64,), (0.3, x, ys[0], 1025))
    Kernel("saxpy.cu", "saxpy_2_grid_stride")((2,), (32,), (0.3, x, ys[1], 1025))
    np.testing.assert_array_equal(*ys)


@pytest.mark.parametrize("width", [4, 1])
def test_scale_reads_its_factor_from_device_memory(width):
    kernel, factor = Kernel("scale.cu", f"scale<{width}>"), asarray(np.array([2.5], F))
    for n in (*RAGGED, 4096):
        x, y = normal(n), new(n)
        report = assert_clean(kernel, (-(-n // (64 * width)),), (64,), (x, factor, y, n))
        assert_close(y, 2.5 * x.astype(D))
    assert_coalesced(report)
    warps = 4096 // (32 * width)
    assert_bytes(report, 8 * 4096 + 32 * warps, 1.0)  # one sector of the factor for each warp


# Bias + GELU: a thread owns columns and loops over the rows.

SHAPES = [(1, 1), (1, 4), (3, 5), (7, 33), (33, 64), (65, 130), (2, 1028)]


def bias_gelu(way: str, width: int, rows: int, F_: int, down: int):
    """Kernel, grid, block, inputs and outputs; `down` blocks share the rows."""
    kernel = Kernel("bias_gelu.cu", f"bias_gelu_{way}<{width}>")
    grid, block = (-(-F_ // (32 * width)), down), (32,)
    inputs = [normal(rows, F_, deviation=2), normal(F_, seed=1)]
    if way == "backward":
        return kernel, grid, block, [normal(rows, F_, seed=2), *inputs], [new(rows, F_), new(down, F_)]
    return kernel, grid, block, inputs, [new(rows, F_)]


@pytest.mark.parametrize("way", ["forward", "backward"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bias_gelu(shape, way):
    rows, columns = shape
    for width in [4, 1] if columns % 4 == 0 else [1]:
        for down in (1, 2, 5):
            kernel, grid, block, inputs, outputs = bias_gelu(way, width, rows, columns, down)
            assert_clean(kernel, grid, block, (*inputs, *outputs, rows, columns))
            wide = [x.astype(D) for x in inputs]
            if way == "forward":
                assert_close(outputs[0], reference.bias_gelu_forward(*wide))
                continue
            dx, dbias = reference.bias_gelu_backward(*wide)
            assert_close(outputs[0], dx)
            assert_close(outputs[1].astype(D).sum(0), dbias)


@pytest.mark.parametrize("way", ["forward", "backward"])
def test_bias_gelu_reads_the_bias_once_for_many_rows(way):
    kernel, grid, block, inputs, outputs = bias_gelu(way, 4, 128, 256, 4)
    report = assert_clean(kernel, grid, block, (*inputs, *outputs, 128, 256))
    n = 128 * 256
    assert_bytes(report, (12 if way == "backward" else 8) * n, 1.08)
    assert_coalesced(report)


@pytest.mark.parametrize("way", ["forward", "backward"])
def test_bias_gelu_gives_the_same_bits_in_any_order(way):
    def launch(seed):
        kernel, grid, block, inputs, outputs = bias_gelu(way, 1, 33, 37, 3)
        kernel(grid, block, (*inputs, *outputs, 33, 37), seed=seed)
        return outputs

    assert_same_bits(launch)


# SwiGLU


@pytest.mark.parametrize("rows, half", [(1, 1), (3, 5), (7, 33), (33, 64), (65, 4), (2, 516)])
def test_swiglu(rows, half):
    x, dy = normal(rows, 2 * half, deviation=3), normal(rows, half, seed=1)
    for width in [4, 1] if half % 4 == 0 else [1]:
        grid, block = (-(-rows * half // (32 * width)),), (32,)
        y, dx = new(rows, half), new(rows, 2 * half)
        assert_clean(Kernel("swiglu.cu", f"swiglu_forward<{width}>"), grid, block, (x, y, rows * half, half))
        assert_clean(Kernel("swiglu.cu", f"swiglu_backward<{width}>"), grid, block, (dy, x, dx, rows * half, half))
        assert_close(y, reference.swiglu_forward(x.astype(D)))
        assert_close(dx, reference.swiglu_backward(dy.astype(D), x.astype(D)))


def test_swiglu_moves_no_byte_twice():
    rows, half = 32, 128
    x, dy, n = normal(rows, 2 * half), normal(rows, half, seed=1), rows * half
    forward, backward = (Kernel("swiglu.cu", f"swiglu_{way}<4>") for way in ("forward", "backward"))
    for kernel, arrays, each in ((forward, (x, new(rows, half)), 12), (backward, (dy, x, new(rows, 2 * half)), 20)):
        report = assert_clean(kernel, (n // 256,), (64,), (*arrays, n, half))
        assert_bytes(report, each * n, 1.0)
        assert_coalesced(report)


# Dropout


def test_dropout_draws_the_bits_of_the_reference_and_draws_them_again():
    kernel = Kernel("dropout.cu", "dropout")
    for n in RAGGED:
        for seed in range(3):
            words = np.random.default_rng(seed).integers(0, 2**32, 3, dtype=np.uint32)
            x, y, again = normal(n, seed=seed), new(n), new(n)
            args = (int(0.3 * 2**32) + 1, 1 / 0.7, 5, n)
            assert_clean(kernel, (-(-n // 128),), (32,), (x, asarray(words), y, *args))
            want = reference.dropout_forward(x.astype(D), 0.3, words, 5)
            np.testing.assert_array_equal(y == 0, want == 0)
            assert_close(y, want, 1e-6)
            kernel((-(-n // 128),), (32,), (x, asarray(words), again, *args), seed=seed + 1)
            np.testing.assert_array_equal(again, y)


def test_dropout_reads_no_mask():
    x, words, n = normal(4096), asarray(np.array([1, 2, 3], np.uint32)), 4096
    report = assert_clean(Kernel("dropout.cu", "dropout"), (16,), (64,), (x, words, new(n), 2**31, 2.0, 0, n))
    assert_bytes(report, 8 * n, 1.2)  # and the three words, a sector for each warp
    assert_coalesced(report)


# The launch code


@pytest.mark.parametrize("op", ["gelu_forward", "swiglu_forward"])
def test_float64_is_refused_in_a_sentence(op):
    with pytest.raises(ValueError, match="float32"):
        getattr(ops("simulator"), op)(asarray(np.zeros((2, 4))))


@pytest.mark.parametrize("rows", [0, 3])
def test_empty_arrays(rows):
    table, columns = ops("simulator"), 4 if rows == 0 else 0
    x, bias = new(rows, columns), new(columns)
    assert table.gelu_forward(x).shape == table.bias_gelu_forward(x, bias).shape == (rows, columns)
    dx, dbias = table.bias_gelu_backward(x, x, bias)
    assert dx.shape == (rows, columns) and dbias.shape == (columns,) and not dbias.any()
    assert table.swiglu_forward(x).shape == (rows, columns // 2)
    assert table.dropout_forward(x, 0.5, asarray(np.zeros(3, np.uint32)), 0).shape == x.shape
