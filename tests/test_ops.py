"""Every op of the contract, on every device of this machine, against the reference in float64.

A new device needs no new test: list it in `course_lib.devices.LOADERS`, and here what it lacks.
"""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
import re
import sys
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from op_cases import BINARY, CASES, UNARY, Case, is_float, on_device

import course_lib.devices as devices
from course_lib import native
from course_lib.devices import Limits, Table, available_devices, composed, contract, cpu, overlay
from course_lib.devices.reference.dropout import philox

# The cpu device has two lives: with compiled loops, and in NumPy where no compiler is.
WITHOUT_COMPILER = "cpu_without_compiler"
DEVICES = available_devices() + [WITHOUT_COMPILER] * (native.find_compiler() is not None)
LACKS_FLOAT64 = {"simulator", "cuda", "webgpu"}  # their kernels are float32 throughout

# In units of the largest element of the result. float32 rounds to 6e-8 and the longest sums here have about a thousand
# terms: in any order of summation that stays below 1e-5, and a wrong term or index is far above it. float64: 1e-16.
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}

NAMES = list(contract.OPS)

PLACES = [(device, dtype) for device in DEVICES for dtype in TOLERANCE if (device, dtype) not in
          {(lacking, "float64") for lacking in LACKS_FLOAT64}]  # fmt: skip
on_every_device = pytest.mark.parametrize("device", DEVICES)
on_every_device_and_dtype = pytest.mark.parametrize("device, dtype", PLACES, ids=["-".join(place) for place in PLACES])


@functools.cache
def numpy_cpu() -> Table:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("COURSE_COMPILER", "none")
        return Table(WITHOUT_COMPILER, cpu.table(), Limits())


def ops(device: str) -> Table:
    return numpy_cpu() if device == WITHOUT_COMPILER else devices.ops(device)


# Every case, forward and backward


def run(case: Case, device: str, dtype: str, spoil: bool = False):
    """Inputs, outputs and input gradients of a case, as the device's own arrays; `spoil`: all inputs are nan."""
    table = ops(device)
    values = [np.asarray(v * np.nan) if spoil and is_float(v) else v for v in case.make_inputs()]
    inputs = [on_device(table, value, dtype) for value in values]
    outputs, backward = case.run(table, *inputs)
    gradients = []
    if backward is not None:
        count = len(inspect.signature(backward).parameters)
        dys = [on_device(table, dy, dtype) for dy in case.make_gradients([table.to_numpy(y) for y in outputs[:count]])]
        read_only = [x for x in (*inputs, *outputs, *dys) if hasattr(x, "dtype")]
        before = [table.to_numpy(x).copy() for x in read_only]
        gradients = [gradient for gradient in backward(*dys) if gradient is not None]
        for x, value in zip(read_only, before, strict=True):
            np.testing.assert_array_equal(table.to_numpy(x), value, err_msg="backward changed what it was given")
    return inputs, outputs, gradients


@functools.cache
def expected(case: Case):
    _, outputs, gradients = run(case, "reference", "float64")
    return outputs, gradients


def assert_close(got: np.ndarray, want: np.ndarray, tolerance: float, what: str) -> None:
    assert got.shape == want.shape, f"{what}: shape {got.shape} instead of {want.shape}"
    if want.dtype.kind != "f":
        assert got.dtype == want.dtype, f"{what}: {got.dtype} instead of {want.dtype}"
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    finite = np.abs(want[np.isfinite(want)])
    scale = finite.max(initial=0) or 1.0
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * scale, err_msg=what)


def shares_memory(a, b) -> bool:
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.shares_memory(a, b)


@pytest.mark.parametrize("case", CASES, ids=str)
@on_every_device_and_dtype
def test_op_agrees_with_float64(device: str, dtype: str, case: Case):
    inputs, outputs, gradients = run(case, device, dtype)
    table = ops(device)
    wanted_outputs, wanted_gradients = expected(case)
    tolerance = TOLERANCE[dtype] * case.tolerance
    kind = type(table.zeros((2,)))
    for what, all_got, all_wanted in (("output", outputs, wanted_outputs), ("gradient", gradients, wanted_gradients)):
        assert len(all_got) == len(all_wanted)
        for number, (got, want) in enumerate(zip(all_got, all_wanted, strict=True)):
            assert isinstance(got, kind), f"{what} {number} is {type(got)}, not {kind}"
            assert got.dtype == (dtype if want.dtype.kind == "f" else want.dtype), f"{what} {number} is {got.dtype}"
            assert_close(table.to_numpy(got), want, tolerance, f"{what} {number}")
            assert table.to_numpy(got).flags.c_contiguous
            assert not any(shares_memory(got, x) for x in inputs), f"{what} {number} is no new array"
    for before, after in zip(case.make_inputs(), inputs, strict=True):
        if isinstance(before, np.ndarray):
            np.testing.assert_array_equal(table.to_numpy(after), before, err_msg="an input was changed")


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("case", CASES, ids=str)
@on_every_device
def test_op_gives_the_same_bits_again(device: str, case: Case):
    """Also after a run on nan of the same sizes: nothing is read that an earlier call left in memory."""
    bits = []
    for spoil in (False, True, False):
        _, outputs, gradients = run(case, device, "float32", spoil)
        bits.append([ops(device).to_numpy(x).tobytes() for x in outputs + gradients])
    assert bits[0] == bits[2]


@pytest.mark.parametrize("case", [case for case in CASES if expected(case)[1]], ids=str)
def test_reference_backward_agrees_with_finite_differences(case: Case):
    """Along random directions: the slope of sum(y * dy) by central differences is the sum of gradient * direction."""
    table, random, step = ops("reference"), case.generator(2), 1e-6
    inputs = case.make_inputs()
    _, gradients = expected(case)
    positions = [i for i, value in enumerate(inputs) if is_float(value)]

    def weighted_sum(position: int, moved: np.ndarray) -> float:
        ys, backward = case.run(table, *inputs[:position], moved, *inputs[position + 1 :])
        dys = case.make_gradients(ys[: len(inspect.signature(backward).parameters)])
        return sum(float((y * dy).sum()) for y, dy in zip(ys, dys, strict=False))

    for position, gradient in zip(positions, gradients, strict=False):
        x = inputs[position]
        assert gradient.shape == x.shape
        for _ in range(2):
            direction = random.normal(size=x.shape)
            slope = (weighted_sum(position, x + step * direction) - weighted_sum(position, x - step * direction)) / (
                2 * step
            )
            scale = np.abs(gradient * direction).sum() + 1e-3
            assert abs(slope - (gradient * direction).sum()) < 1e-6 * scale, f"input {position}"


# The tables


@on_every_device
def test_table_has_every_name_of_the_contract(device: str):
    missing = [name for name in NAMES if not callable(getattr(ops(device), name, None))]
    assert not missing
    beyond = set(vars(ops(device))) - set(NAMES) - {"name"}
    assert not beyond, "not in the contract"


@pytest.mark.parametrize("device", devices.LOADERS)
def test_every_device_is_tried_where_it_is(device: str):
    """So that a device that is not here shows among the skipped tests."""
    if device not in available_devices():
        pytest.skip(f"this machine has no device {device} (course doctor says why): its ops were not tried")
    assert (device, "float32") in PLACES


def test_the_contract_is_read_as_it_is_written():
    """Every op that the page names has a line of its own, and its arguments are those of the reference."""
    written = set(re.findall(r"\w+_(?:forward|backward|step)\b", devices.__doc__))
    assert written <= set(NAMES)
    for op in contract.OPS.values():
        taken = inspect.signature(getattr(ops("reference"), op.name)).parameters
        assert [argument.name for argument in op.arguments] == list(taken), op.name


@on_every_device
def test_options_have_the_defaults_of_the_contract(device: str):
    for name in NAMES:
        wanted = inspect.signature(getattr(ops("reference"), name)).parameters.values()
        given = inspect.signature(getattr(ops(device), name)).parameters
        for parameter in wanted:
            if parameter.default is not parameter.empty or parameter.kind is parameter.KEYWORD_ONLY:
                assert parameter.name in given, f"{name} takes no {parameter.name}="
                assert given[parameter.name].default == parameter.default, f"{name}: {parameter.name}"


def test_unknown_device_is_named():
    with pytest.raises(ValueError, match="abacus"):
        ops("abacus")


# Storage


@on_every_device
def test_new_arrays(device: str):
    table = ops(device)
    assert table.empty((2, 3)).shape == (2, 3)
    assert table.empty((2, 3)).dtype == table.zeros((2,)).dtype == table.full((2,), 1).dtype == np.float32
    for dtype in ("float32", "int32", "int64", "uint32", "bool", *(["float64"] if device not in LACKS_FLOAT64 else [])):
        assert table.zeros((2, 3), dtype).dtype == dtype
        np.testing.assert_array_equal(table.to_numpy(table.zeros((2, 3), dtype)), np.zeros((2, 3), dtype))
        np.testing.assert_array_equal(table.to_numpy(table.full((3,), 1, dtype)), np.ones(3, dtype))
        there = table.from_numpy(np.array([0, 1, 1], dtype))
        assert there.dtype == dtype and there.shape == (3,) and there.size == 3
        np.testing.assert_array_equal(table.to_numpy(there), np.array([0, 1, 1], dtype))
    assert table.zeros(()).shape == () and table.zeros(()).size == 1
    assert table.synchronize() is None


@on_every_device
def test_from_numpy_copies_whatever_the_layout(device: str):
    table = ops(device)
    source = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for layout in (source, source.T, source[:, ::-2], np.asfortranarray(source), np.broadcast_to(source[0], (5, 3, 4))):
        there = table.from_numpy(layout)
        np.testing.assert_array_equal(table.to_numpy(there), layout)
        assert table.to_numpy(there).flags.c_contiguous and not shares_memory(there, source)


@on_every_device
def test_copy_and_cast_are_new_arrays(device: str):
    table = ops(device)
    x = table.from_numpy(np.array([1.5, -2.5], np.float32))
    for new in (table.copy(x), table.cast(x, "float32")):
        table.strided_write(new, table.from_numpy(np.zeros(2, np.float32)), (1,))
        np.testing.assert_array_equal(table.to_numpy(x), [1.5, -2.5])
    assert table.cast(x, "int64").dtype == np.int64
    np.testing.assert_array_equal(table.to_numpy(table.cast(x, np.dtype("int64"))), [1, -2])
    np.testing.assert_array_equal(table.to_numpy(table.cast(table.greater(x, 0), "float32")), [1, 0])


@on_every_device
def test_view_takes_elements_from_an_offset(device: str):
    table = ops(device)
    x = table.from_numpy(np.arange(24, dtype=np.float32).reshape(4, 6))
    np.testing.assert_array_equal(table.to_numpy(table.view(x, (2, 5), 7)), np.arange(7, 17).reshape(2, 5))
    assert table.view(x, (24,)).shape == (24,)
    assert table.view(x, (), 3).shape == ()


@on_every_device
def test_concatenate(device: str):
    table = ops(device)
    arrays = [np.random.default_rng(0).normal(size=(2, n, 3)).astype(np.float32) for n in (1, 5, 2)]
    there = [table.from_numpy(array) for array in arrays]
    for axis in (1, -2):
        np.testing.assert_array_equal(table.to_numpy(table.concatenate(there, axis)), np.concatenate(arrays, 1))
    one = table.concatenate(there[:1], 0)
    np.testing.assert_array_equal(table.to_numpy(one), arrays[0])
    assert not shares_memory(one, there[0])
    for axis in (0, 2, -1):
        same = [table.from_numpy(arrays[1])] * 2
        np.testing.assert_array_equal(
            table.to_numpy(table.concatenate(same, axis)), np.concatenate([arrays[1]] * 2, axis)
        )


@st.composite
def views(draw, broadcast: bool):
    """A NumPy buffer and a view of it: sliced, turned, flipped, and stretched where `broadcast`."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, max_side=5))
    buffer = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    view = buffer[draw(hnp.basic_indices(shape, allow_newaxis=True))] if shape else buffer[...]
    view = np.asarray(view) if np.ndim(view) else buffer.reshape(-1)[int(view) : int(view) + 1].reshape(())
    view = view.transpose(draw(st.permutations(range(view.ndim))))
    if broadcast:
        stretched = draw(hnp.broadcastable_shapes(view.shape, max_dims=5, max_side=4))
        view = np.broadcast_to(view, np.broadcast_shapes(stretched, view.shape))
    offset = (view.ctypes.data - buffer.ctypes.data) // 4 if view.size else 0
    return buffer, view, tuple(stride // 4 for stride in view.strides), offset


@on_every_device
@given(case=views(broadcast=True))
def test_strided_copy_reads_any_view(device: str, case):
    table = ops(device)
    buffer, view, strides, offset = case
    there = table.from_numpy(buffer)
    result = table.strided_copy(there, view.shape, strides, offset)
    np.testing.assert_array_equal(table.to_numpy(result), view)
    assert result.shape == view.shape and result.dtype == np.float32
    assert table.to_numpy(result).flags.c_contiguous and not shares_memory(result, there)
    out = table.zeros(view.shape)
    assert table.strided_copy(there, view.shape, strides, offset, out=out) is out
    np.testing.assert_array_equal(table.to_numpy(out), view)


@on_every_device
@given(case=views(broadcast=False), add=st.booleans())
def test_strided_write_writes_any_view(device: str, case, add: bool):
    table = ops(device)
    buffer, view, strides, offset = case
    values = 100 + np.arange(view.size, dtype=np.float32).reshape(view.shape)
    there = table.from_numpy(buffer)
    table.strided_write(there, table.from_numpy(values), strides, offset, add=add)
    if add:
        view += values  # `buffer` changes with it
    else:
        view[...] = values
    np.testing.assert_array_equal(table.to_numpy(there), buffer)


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool"])
@on_every_device
def test_strided_ops_keep_other_dtypes(device: str, dtype: str):
    table = ops(device)
    buffer = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    there = table.from_numpy(buffer)
    turned = table.strided_copy(there, (3, 2), (1, 3))
    assert turned.dtype == dtype
    np.testing.assert_array_equal(table.to_numpy(turned), buffer.T)
    table.strided_write(there, table.from_numpy(np.zeros(2, dtype)), (-3,), 3)
    np.testing.assert_array_equal(table.to_numpy(there)[:, 0], [0, 0])


# Elementwise: broadcasting, numbers, out


@on_every_device
@given(shapes=hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=6))
def test_broadcasting_is_numpys(device: str, shapes):
    table, random = ops(device), np.random.default_rng(0)
    a, b, c = (random.integers(-9, 9, size=shape).astype(np.float32) for shape in shapes.input_shapes)
    there = [table.from_numpy(x) for x in (a, b, c)]
    for op, function in (("add", np.add), ("multiply", np.multiply), ("maximum", np.maximum), ("less", np.less)):
        result = table.to_numpy(getattr(table, op)(*there[:2]))
        np.testing.assert_array_equal(result, function(a, b), err_msg=op, strict=True)
        assert result.flags.c_contiguous
    condition = table.greater(there[0], 0)
    chosen = table.to_numpy(table.where(condition, *there[1:]))
    np.testing.assert_array_equal(chosen, np.where(a > 0, b, c), strict=True)
    assert chosen.flags.c_contiguous


@on_every_device
@given(data=st.data(), shape=hnp.array_shapes(max_dims=4, max_side=6), keepdims=st.booleans())
def test_reductions_take_any_axes(device: str, data, shape, keepdims: bool):
    table = ops(device)
    axis = data.draw(
        st.none() | hnp.valid_tuple_axes(len(shape), min_size=1) | st.integers(-len(shape), len(shape) - 1)
    )
    x = np.random.default_rng(0).integers(-9, 9, size=shape).astype(np.float32)
    for op, function in (("sum", np.sum), ("max", np.max)):
        result = table.to_numpy(getattr(table, op)(table.from_numpy(x), axis, keepdims))
        np.testing.assert_array_equal(result, np.asarray(function(x, axis=axis, keepdims=keepdims)), strict=True)
        assert result.flags.c_contiguous


@on_every_device_and_dtype
def test_a_number_takes_the_dtype_of_the_array(device: str, dtype: str):
    table = ops(device)
    x = table.from_numpy(np.array([1.0, 2.0], dtype))
    for op in BINARY:
        for number in (2, 0.1, np.float64(0.1).item()):
            assert getattr(table, op)(x, number).dtype == dtype
            assert getattr(table, op)(number, x).dtype == dtype
    assert table.where(table.greater(x, 1), x, 0.1).dtype == table.where(table.greater(x, 1), 0.1, x).dtype == dtype
    np.testing.assert_array_equal(table.to_numpy(table.add(x, 0.1)), np.array([1.0, 2.0], dtype) + np.array(0.1, dtype))


@pytest.mark.parametrize("shape", [(), (37,), (3, 5, 7)], ids=str)
@pytest.mark.parametrize("op", UNARY + BINARY)
@on_every_device_and_dtype
def test_out_may_be_an_input(device: str, dtype: str, op: str, shape: tuple):
    table, random = ops(device), np.random.default_rng(0)
    arrays = [random.uniform(0.1, 3, size=shape).astype(dtype) for _ in range(1 if op in UNARY else 2)]
    want = table.to_numpy(getattr(table, op)(*(table.from_numpy(x) for x in arrays))).copy()
    for alias in (None, *range(len(arrays))):
        inputs = [table.from_numpy(x) for x in arrays]
        out = table.zeros(shape, dtype) if alias is None else inputs[alias]
        assert getattr(table, op)(*inputs, out=out) is out
        np.testing.assert_array_equal(table.to_numpy(out), want)
    if op in BINARY:  # one array on both sides, and in out
        x = table.from_numpy(arrays[0])
        want = table.to_numpy(getattr(table, op)(x, x)).copy()
        np.testing.assert_array_equal(table.to_numpy(getattr(table, op)(x, x, out=x)), want)


@on_every_device_and_dtype
def test_out_of_where_and_matmul(device: str, dtype: str):
    table, random = ops(device), np.random.default_rng(0)
    a, b = (table.from_numpy(random.normal(size=(5, 5)).astype(dtype)) for _ in range(2))
    condition = table.greater(a, 0)
    want = table.to_numpy(table.where(condition, a, b)).copy()
    assert table.where(condition, a, b, out=b) is b
    np.testing.assert_array_equal(table.to_numpy(b), want)
    for flags in ({}, {"transpose_a": True}, {"transpose_b": True}):
        out = table.full((5, 5), float("nan"), dtype)  # what was there must not count
        assert table.matmul(a, b, **flags, out=out) is out
        np.testing.assert_array_equal(table.to_numpy(out), table.to_numpy(table.matmul(a, b, **flags)))


# Facts that a comparison with tolerance would miss


@on_every_device
def test_scatter_add_sums_in_the_order_of_the_indices(device: str):
    table, random = ops(device), np.random.default_rng(0)
    for inner in ((), (37,)):
        updates = (random.normal(size=(300, *inner)) * 10.0 ** random.integers(-6, 6, size=(300, *inner))).astype(
            np.float32
        )
        indices = random.integers(0, 7, size=300)
        want = np.zeros((7, *inner), np.float32)
        for update, index in zip(updates, indices, strict=True):
            want[index] += update
        result = table.scatter_add(table.from_numpy(updates), table.from_numpy(indices), 7)
        np.testing.assert_array_equal(table.to_numpy(result), want)


@on_every_device
def test_causal_ops_do_not_see_the_future(device: str):
    """Other keys and values from 5 on: rows before 5 keep every bit."""
    table, random = ops(device), np.random.default_rng(0)
    q, k, v, dy = (random.normal(size=(1, 9, 2, 32)).astype(np.float32) for _ in range(4))
    dy[:, 5:] = 0
    results = []
    for _ in range(2):
        there = [table.from_numpy(x) for x in (q, k, v)]
        y, logsumexp = table.attention_forward(*there)
        dq, dk, dv = map(table.to_numpy, table.attention_backward(table.from_numpy(dy), *there, y, logsumexp))
        assert not dk[:, 5:].any() and not dv[:, 5:].any(), "a key got a gradient from a query of its past"
        past = [table.to_numpy(y)[:, :5], table.to_numpy(logsumexp)[..., :5], dq[:, :5], dk[:, :5], dv[:, :5]]
        results.append([x.tobytes() for x in past])
        k[:, 5:] *= 100
        v[:, 5:] = 1e30
    assert results[0] == results[1]


@on_every_device
def test_causal_softmax_does_not_see_the_future(device: str):
    table = ops(device)
    scores, hidden = np.random.default_rng(0).normal(size=(5, 9)).astype(np.float32), ~np.tri(5, 9, 4, dtype=bool)
    want = table.to_numpy(table.softmax_forward(table.from_numpy(scores), causal=True)).copy()
    scores[hidden] = 1e30
    np.testing.assert_array_equal(table.to_numpy(table.softmax_forward(table.from_numpy(scores), causal=True)), want)
    assert (want[hidden] == 0).all()


@on_every_device
def test_a_mask_hides_however_low_the_scores_are(device: str):
    """All scores are equal and below what a "large negative number" would be: a query takes the mean of what it sees."""
    table = ops(device)
    v = np.random.default_rng(0).normal(size=(1, 9, 1, 64)).astype(np.float32)
    q, k, scores = (table.full(shape, value) for shape, value in ((v.shape, -4e4), (v.shape, 4e4), ((9, 9), -1e10)))
    y, _ = table.attention_forward(q, k, table.from_numpy(v))
    counts = np.arange(1, 10)
    means = v.cumsum(axis=1, dtype=np.float64) / counts[:, None, None]
    np.testing.assert_allclose(table.to_numpy(y), means, atol=1e-6)
    shares = np.tri(9) / counts[:, None]
    np.testing.assert_allclose(table.to_numpy(table.softmax_forward(scores, causal=True)), shares, atol=1e-6)


# What a nan in row 2 of x (4, 38), or in query, key or value 2, must reach: a run that diverged must be seen to.
NAN_REACHES = {
    "sum": lambda t, x: t.sum(x, axis=-1),
    "linear": lambda t, x: t.linear_forward(x, t.full((3, 38), 0.5), t.zeros((3,))),
    "layernorm": lambda t, x: t.layernorm_forward(x, t.full((38,), 1.0), None, 1e-5)[0],
    "residual_layernorm": lambda t, x: t.residual_layernorm_forward(x, x, t.full((38,), 1.0), None, 1e-5)[0],
    "rmsnorm": lambda t, x: t.rmsnorm_forward(x, t.full((38,), 1.0), 1e-5)[0],
    "gelu": lambda t, x: t.gelu_forward(t.strided_copy(x, (4, 1), (38, 1), 5)),
    "bias_gelu": lambda t, x: t.bias_gelu_forward(t.strided_copy(x, (4, 1), (38, 1), 5), t.zeros((1,))),
    "swiglu": lambda t, x: t.swiglu_forward(t.strided_copy(x, (4, 2), (38, 1), 5)),
    "softmax": lambda t, x: t.softmax_forward(x),
    "logsumexp": lambda t, x: t.cross_entropy_forward(x, t.zeros((4,), "int64"))[1],
}


@pytest.mark.parametrize("op", NAN_REACHES)
@on_every_device
def test_nan_is_not_hidden(device: str, op: str):
    table = ops(device)
    x = np.random.default_rng(0).normal(size=(4, 38)).astype(np.float32)
    x[2, 5] = np.nan
    reached = np.isnan(table.to_numpy(NAN_REACHES[op](table, table.from_numpy(x))).reshape(4, -1))
    assert reached[2].all() and not reached[[0, 1, 3]].any()


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@on_every_device
def test_nan_is_not_hidden_by_attention_loss_or_norm(device: str):
    table, random = ops(device), np.random.default_rng(0)
    for which in range(3):
        arrays = [random.normal(size=(1, 9, 2, 32)).astype(np.float32) for _ in range(3)]
        arrays[which][0, 2, :, 5] = np.nan
        y = table.to_numpy(table.attention_forward(*map(table.from_numpy, arrays))[0])[0]  # (T, H, D)
        assert np.isnan(y[2] if which == 0 else y[2:, :, 5]).all(), "qkv"[which]
    logits = random.normal(size=(4, 37)).astype(np.float32)
    logits[2, 5] = np.nan
    targets = table.from_numpy(np.array([1, 2, 3, 4]))
    loss, _ = table.cross_entropy_forward(table.from_numpy(logits), targets)
    assert np.isnan(table.to_numpy(loss))
    gradients = [table.full((70001,), 1.0), table.from_numpy(logits)]
    assert np.isnan(table.to_numpy(table.global_norm(gradients))).all()


@on_every_device
def test_cross_entropy_of_ignored_targets(device: str):
    table, random = ops(device), np.random.default_rng(0)
    logits = table.from_numpy(random.normal(size=(6, 5)).astype(np.float32))
    one = table.from_numpy(np.array(1, np.float32))
    some = table.from_numpy(np.array([2, -1, 4, -1, 0, -1]))
    loss, logsumexp = table.cross_entropy_forward(logits, some)
    dlogits = table.to_numpy(table.cross_entropy_backward(one, logits, some, logsumexp))
    assert (dlogits[[1, 3, 5]] == 0).all() and (dlogits[[0, 2, 4]] != 0).all()
    same = table.from_numpy(np.eye(5, dtype=np.float32))
    mean, together = (table.to_numpy(x) for x in table.linear_cross_entropy(logits, same, None, some))
    np.testing.assert_allclose(mean, table.to_numpy(loss), rtol=1e-6)
    np.testing.assert_allclose(together, dlogits, atol=1e-6)
    assert (together[[1, 3, 5]] == 0).all()
    none = table.from_numpy(np.full(6, -1))
    loss, logsumexp = table.cross_entropy_forward(logits, none)
    assert np.isnan(table.to_numpy(loss)) and np.isfinite(table.to_numpy(logsumexp)).all()
    assert (table.to_numpy(table.cross_entropy_backward(one, logits, none, logsumexp)) == 0).all()


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
    ids=["zeros", "ones", "digits-of-pi"],
)
def test_philox_gives_the_known_answers_of_random123(counter, key, words: str):
    assert " ".join(f"{word:08x}" for word in philox(counter, key)) == words


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 1 - 2**-32, "equal to a word"])
@on_every_device
def test_dropout_keeps_the_same_elements_on_every_device(device: str, probability: float | str):
    table = ops(device)
    for seed, site, size in (([0, 0, 0], 0, 10007), ([0xFFFFFFFF, 7, 0xFFFFFFFE], 3, 4096), ([1, 2, 3], 0xFFFFFFFF, 1)):
        element = np.arange(size)
        words = philox((element // 4, 0, seed[2], site), seed[:2])[element, element % 4]
        p = int(words[0]) / 2**32 if probability == "equal to a word" else probability
        keep = words >= p * 2**32
        random, ones = table.from_numpy(np.array(seed, np.uint32)), table.full((size,), 1.0)
        y = table.to_numpy(table.dropout_forward(ones, p, random, site))
        np.testing.assert_array_equal(y != 0, keep)
        np.testing.assert_allclose(y[keep], 1 / (1 - p), rtol=1e-6)
        np.testing.assert_array_equal(table.to_numpy(table.dropout_backward(ones, p, random, site)), y)


@on_every_device
def test_dropout_drops_what_it_is_asked_to(device: str):
    table, n = ops(device), 200_000
    x = table.full((n,), 1.0)
    masks = [
        table.to_numpy(table.dropout_forward(x, 0.3, table.from_numpy(np.array(seed, np.uint32)), site)) != 0
        for seed, site in (([1, 0, 0], 0), ([1, 0, 0], 1), ([1, 0, 1], 0), ([2, 0, 0], 0), ([1, 1, 0], 0))
    ]
    for mask in masks:
        assert abs(mask.mean() - 0.7) < 5 * np.sqrt(0.3 * 0.7 / n)
    for i, a in enumerate(masks):
        for b in masks[:i]:  # another seed, step or site: independent, so both keep 0.49 of all
            assert abs((a & b).mean() - 0.49) < 5 * np.sqrt(0.49 * 0.51 / n)


@on_every_device
def test_adamw_changes_its_arrays_in_place_and_nothing_else(device: str):
    table = ops(device)
    p, g, m, v = (table.from_numpy(np.full((3,), value, np.float32)) for value in (1.0, 2.0, 0.0, 0.0))
    settings = table.from_numpy(np.array([0.1, 0.1, 0.05], np.float32))
    options = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": [0.5], "max_norm": 1.0}
    norm = table.global_norm([g])
    assert table.adamw_step([p], [g], [m], [v], settings, norm, **options) is None
    # g counts as 2 / sqrt(12) = 0.577; after one step m / correction1 is g and sqrt(v / correction2) too
    np.testing.assert_allclose(table.to_numpy(p), 1 - 0.1 * 0.5 - 0.1, rtol=1e-5)
    np.testing.assert_allclose(table.to_numpy(m), 0.1 / np.sqrt(3), rtol=1e-5)
    np.testing.assert_allclose(table.to_numpy(v), 0.05 / 3, rtol=1e-5)
    np.testing.assert_array_equal(table.to_numpy(g), 2)
    np.testing.assert_allclose(table.to_numpy(norm), np.sqrt(12), rtol=1e-6)


@on_every_device
def test_global_norm_does_not_lose_small_terms(device: str):
    """A running float32 sum of squares would stop growing long before the end, or overflow."""
    table = ops(device)
    arrays = [table.full((1,), 4096.0), table.full((300_000,), 1.0)]
    np.testing.assert_allclose(table.to_numpy(table.global_norm(arrays)), [np.sqrt(4096**2 + 300_000)], rtol=1e-6)


@on_every_device
def test_the_loss_alone_is_the_loss_with_its_gradient(device: str):
    table, random = ops(device), np.random.default_rng(0)
    x, weight, bias = (table.from_numpy(random.normal(size=s).astype(np.float32)) for s in ((9, 5), (37, 5), (37,)))
    targets = table.from_numpy(np.array([3, -1, 36, 0, 7, -1, 9, 9, 1]))
    loss, dlogits = table.linear_cross_entropy(x, weight, bias, targets)
    alone, nothing = table.linear_cross_entropy(x, weight, bias, targets, needs_grad=False)
    assert nothing is None and dlogits.shape == (9, 37)
    np.testing.assert_allclose(table.to_numpy(alone), table.to_numpy(loss), rtol=1e-6)
    valid = table.from_numpy(np.array([3, 9, 36, 0, 7, 9, 9, 9, 1]))  # a class that does not count
    loss, alone = (table.linear_cross_entropy(x, weight, bias, valid, 9, needs_grad)[0] for needs_grad in (True, False))
    np.testing.assert_allclose(table.to_numpy(alone), table.to_numpy(loss), rtol=1e-6)
    none = table.from_numpy(np.full(9, -1))
    for needs_grad in (True, False):
        assert np.isnan(table.to_numpy(table.linear_cross_entropy(x, weight, bias, none, needs_grad=needs_grad)[0]))
    assert not table.to_numpy(table.linear_cross_entropy(x, weight, bias, none)[1]).any()


@on_every_device
def test_a_cache_takes_a_row_at_a_time_and_shows_no_more_than_it_has(device: str):
    """Rows that nobody has written hold nan: they must not be looked at."""
    table, random = ops(device), np.random.default_rng(0)
    B, N, H, G, D = 3, 7, 4, 2, 10
    caches = [table.full((B, N, G, D), float("nan")) for _ in range(2)]
    written: list[list] = [[], []]
    for step in range(N):
        q, k, v = (random.normal(size=(B, 1, heads, D)).astype(np.float32) for heads in (H, G, G))
        length = table.from_numpy(np.array([step], np.int32))
        assert table.cache_append(table.from_numpy(k), table.from_numpy(v), *caches, length) is None
        y = table.cache_attention(table.from_numpy(q), *caches, length)
        for kept, new in zip(written, (k, v), strict=True):
            kept.append(new)
        whole = [np.concatenate(kept, 1).astype(np.float64) for kept in written]
        want, _ = ops("reference").attention_forward(q.astype(np.float64), *whole)
        np.testing.assert_allclose(table.to_numpy(y), want, atol=1e-5)
    for cache, kept in zip(caches, written, strict=True):
        np.testing.assert_array_equal(table.to_numpy(cache), np.concatenate(kept, 1))


@on_every_device
def test_texts_in_pages_see_their_own_rows_and_no_more(device: str):
    """Pages in any order, two texts on one page, and nan in every row that nobody has written."""
    table, random = ops(device), np.random.default_rng(0)
    for P, N, H, G, D, lengths in (
        (9, 4, 4, 2, 10, (1, 9, 16)),
        (5, 1, 1, 1, 32, (3,)),
        (6, 16, 6, 6, 64, (17, 40, 16, 33)),
    ):
        M = -(-max(lengths) // N)
        order = random.permutation(P)
        tables = np.zeros((len(lengths), M), np.int32)
        tables[:] = np.sort(order[:M])  # the texts share what they have in common: each its first rows
        pages = [np.full((P, N, G, D), np.nan) for _ in range(2)]
        rows = [random.normal(size=(max(lengths), G, D)).astype(np.float32) for _ in range(2)]
        k_pages, v_pages = (table.from_numpy(one.astype(np.float32)) for one in pages)
        at = np.arange(max(lengths))
        slots = (tables[0, at // N] * N + at % N).astype(np.int32)
        mixed = random.permutation(len(slots))  # in any order
        given = [table.from_numpy(np.ascontiguousarray(one[mixed])) for one in (*rows, slots)]
        assert table.paged_append(*given[:2], k_pages, v_pages, given[2]) is None
        for text, length in enumerate(lengths):
            of_text = table.from_numpy(tables[text])
            got = table.paged_gather(k_pages, of_text, length)
            np.testing.assert_array_equal(table.to_numpy(got), rows[0][:length])
        q = random.normal(size=(len(lengths), H, D)).astype(np.float32)
        positions = table.from_numpy(np.array(lengths, np.int32) - 1)
        y = table.paged_attention_forward(table.from_numpy(q), k_pages, v_pages, table.from_numpy(tables), positions)
        for text, length in enumerate(lengths):
            whole = [one[None, :length].astype(np.float64) for one in rows]
            want, _ = ops("reference").attention_forward(q[text][None, None].astype(np.float64), *whole)
            np.testing.assert_allclose(table.to_numpy(y)[text], want[0, 0], atol=1e-5)


@on_every_device
def test_pages_slots_and_positions_outside_are_refused(device: str):
    table = ops(device)
    pages, row = table.zeros((3, 4, 1, 2)), table.zeros((1, 1, 2))

    def whole(*numbers):
        return table.from_numpy(np.array(numbers, np.int32))

    with pytest.raises(IndexError, match=r"paged_append: index 12 is outside of 0 .. 11"):
        table.paged_append(row, row, pages, pages, whole(12))
    with pytest.raises(IndexError, match=r"paged_gather: index -1 is outside of 0 .. 2"):
        table.paged_gather(pages, whole(-1), 1)
    with pytest.raises(ValueError, match=r"5 rows were requested, but a table of 1 pages has 4"):
        table.paged_gather(pages, whole(2), 5)
    one = table.from_numpy(np.array([[0, 1]], np.int32))
    with pytest.raises(IndexError, match=r"paged_attention_forward: index 8 is outside of 0 .. 7"):
        table.paged_attention_forward(row, pages, pages, one, whole(8))


# Errors: a sentence that names what was given


def zeros(table, *shape, dtype="float32"):
    return table.zeros(shape, dtype)


def indices(table, *values):
    return table.from_numpy(np.array(values))


def attend(t, q, k, v, **options):
    return t.attention_forward(zeros(t, *q), zeros(t, *k), zeros(t, *v), **options)


def step(t, gradient):
    options = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": [0.1], "max_norm": None}
    t.adamw_step([zeros(t, 3)], [gradient], [zeros(t, 3)], [zeros(t, 3)], zeros(t, 3), None, **options)


def drop(t, probability):
    return t.dropout_forward(zeros(t, 3), probability, zeros(t, 3, dtype="uint32"), 0)


ERRORS = {
    "add": (lambda t: t.add(zeros(t, 2, 3), zeros(t, 4)), ["(2, 3)", "(4,)"]),
    "where": (lambda t: t.where(t.equal(zeros(t, 2), 0), zeros(t, 3), zeros(t, 1)), ["(2,)", "(3,)"]),
    "less": (lambda t: t.less(zeros(t, 2), zeros(t, 3)), ["(2,)", "(3,)"]),
    "add-out-shape": (lambda t: t.add(zeros(t, 3), zeros(t, 3), out=zeros(t, 2, 3)), ["(3,)", "(2, 3)"]),
    "exp-out-dtype": (lambda t: t.exp(zeros(t, 3), out=zeros(t, 3, dtype="int32")), ["float32", "int32"]),
    "matmul-inner": (lambda t: t.matmul(zeros(t, 2, 3), zeros(t, 4, 5)), ["(2, 3)", "(4, 5)"]),
    "matmul-transposed": (lambda t: t.matmul(zeros(t, 3, 2), zeros(t, 3, 5), transpose_b=True), ["(3, 2)", "(3, 5)"]),
    "matmul-leading": (lambda t: t.matmul(zeros(t, 2, 3, 4), zeros(t, 5, 4, 3)), ["(2,", "(5,"]),
    "matmul-axes": (lambda t: t.matmul(zeros(t, 3), zeros(t, 3, 5)), ["(3,)", "(3, 5)"]),
    "matmul-out": (lambda t: t.matmul(zeros(t, 2, 3), zeros(t, 3, 5), out=zeros(t, 5, 2)), ["(2, 5)", "(5, 2)"]),
    "sum-axis": (lambda t: t.sum(zeros(t, 2, 3), axis=2), ["2"]),
    "view": (lambda t: t.view(zeros(t, 6), (2, 3), 1), ["(6", "offset 1"]),
    "strided_copy": (lambda t: t.strided_copy(zeros(t, 6), (2, 3), (3, 1), 1), ["(2, 3)", "(3, 1)", "6"]),
    "strided_copy-below": (lambda t: t.strided_copy(zeros(t, 6), (3,), (-1,), 1), ["(3,)", "(-1,)"]),
    "strided_write": (lambda t: t.strided_write(zeros(t, 6), zeros(t, 2, 4), (3, 1)), ["(2, 4)", "(3, 1)", "6"]),
    "concatenate": (lambda t: t.concatenate([zeros(t, 2, 3), zeros(t, 4, 5)], 0), ["(2, 3)", "(4, 5)"]),
    "scatter_add": (lambda t: t.scatter_add(zeros(t, 3, 4), indices(t, 0, 1), 5), ["(3, 4)", "(2,)"]),
    "linear": (lambda t: t.linear_forward(zeros(t, 2, 3), zeros(t, 5, 4), None), ["(2, 3)", "(5, 4)"]),
    "linear-bias": (lambda t: t.linear_forward(zeros(t, 2, 3), zeros(t, 5, 3), zeros(t, 4)), ["(5, 3)", "(4,)"]),
    "linear_backward": (lambda t: t.linear_backward(zeros(t, 2, 4), zeros(t, 2, 3), zeros(t, 5, 3), True), ["(2, 4)"]),
    "linear_backward_input": (
        lambda t: t.linear_backward_input(zeros(t, 2, 5), zeros(t, 2, 4), zeros(t, 5, 3)),
        ["(2, 4)", "(5, 3)"],
    ),
    "layernorm": (lambda t: t.layernorm_forward(zeros(t, 2, 3), zeros(t, 4), zeros(t, 3), 1e-5), ["(2, 3)", "(4,)"]),
    "residual_layernorm": (
        lambda t: t.residual_layernorm_forward(zeros(t, 2, 3), zeros(t, 3), zeros(t, 3), None, 1e-5),
        ["(2, 3)", "(3,)"],
    ),
    "rmsnorm": (lambda t: t.rmsnorm_forward(zeros(t, 2, 3), zeros(t, 4), 1e-5), ["(2, 3)", "(4,)"]),
    "gelu_backward": (lambda t: t.gelu_backward(zeros(t, 2, 3), zeros(t, 3, 2)), ["(2, 3)", "(3, 2)"]),
    "bias_gelu": (lambda t: t.bias_gelu_forward(zeros(t, 2, 3), zeros(t, 2)), ["(2, 3)", "(2,)"]),
    "swiglu": (lambda t: t.swiglu_forward(zeros(t, 2, 3)), ["(2, 3)"]),
    "swiglu_backward": (lambda t: t.swiglu_backward(zeros(t, 2, 6), zeros(t, 2, 6)), ["(2, 6)"]),
    "convolution": (lambda t: t.convolution_forward(zeros(t, 2, 3, 5), zeros(t, 4, 5)), ["4 taps", "3 steps"]),
    "convolution_backward": (
        lambda t: t.convolution_backward(zeros(t, 2, 3, 5), zeros(t, 2, 7, 5), zeros(t, 4, 5)),
        ["4 steps of 7", "dy has 3"],
    ),
    "softmax_backward": (lambda t: t.softmax_backward(zeros(t, 2, 3), zeros(t, 3, 2)), ["(2, 3)", "(3, 2)"]),
    "softmax-causal": (lambda t: t.softmax_forward(zeros(t, 5, 4), causal=True), ["5", "4"]),
    "rope": (
        lambda t: t.rope_forward(zeros(t, 1, 2, 3, 4), zeros(t, 2, 4), zeros(t, 2, 4)),
        ["(1, 2, 3, 4)", "(2, 4)"],
    ),
    "attention-axes": (lambda t: attend(t, (2, 3, 4), (2, 3, 4), (2, 3, 4)), ["(2, 3, 4)"]),
    "attention-size": (lambda t: attend(t, (1, 3, 2, 8), (1, 3, 2, 4), (1, 3, 2, 4)), ["(1, 3, 2, 8)", "(1, 3, 2, 4)"]),
    "attention-heads": (lambda t: attend(t, (1, 3, 4, 8), (1, 3, 3, 8), (1, 3, 3, 8)), ["4", "3"]),
    "attention-causal": (lambda t: attend(t, (1, 5, 2, 8), (1, 4, 2, 8), (1, 4, 2, 8)), ["5", "4"]),
    "cross_entropy": (lambda t: t.cross_entropy_forward(zeros(t, 3, 4), indices(t, 1, 2)), ["(3, 4)", "(2,)"]),
    "linear_gelu": (lambda t: t.linear_gelu_forward(zeros(t, 2, 3), zeros(t, 5, 4), zeros(t, 5)), ["(2, 3)", "(5, 4)"]),
    "linear_cross_entropy": (
        lambda t: t.linear_cross_entropy(zeros(t, 2, 3), zeros(t, 5, 3), None, indices(t, 1, 2, 3)),
        ["x (2, 3)", "targets (3,)"],
    ),
    "cache_append": (
        lambda t: t.cache_append(*(zeros(t, 2, 1, 3, 4),) * 2, *(zeros(t, 2, 9, 3, 5),) * 2, indices(t, 0)),
        ["(2, 1, 3, 4)", "(2, 9, 3, 5)"],
    ),
    "cache_attention": (
        lambda t: t.cache_attention(zeros(t, 1, 1, 4, 8), *(zeros(t, 1, 9, 3, 8),) * 2, indices(t, 0)),
        ["4", "3"],
    ),
    "dropout-one": (lambda t: drop(t, 1.0), ["1.0"]),
    "dropout-negative": (lambda t: drop(t, -0.1), ["-0.1"]),
    "argmax-axis": (lambda t: t.argmax(zeros(t, 2, 3), 2), ["axis 2"]),
    "argmax-empty": (lambda t: t.argmax(zeros(t, 3, 0)), ["no elements", "(3, 0)"]),
    "max-empty": (lambda t: t.max(zeros(t, 3, 0), axis=1), ["no elements", "(3, 0)"]),
    "sum-twice": (lambda t: t.sum(zeros(t, 2, 3), axis=(1, -1)), ["twice", "(1, -1)"]),
    "attention-no-key": (
        lambda t: attend(t, (1, 3, 2, 8), (1, 0, 2, 8), (1, 0, 2, 8), causal=False),
        ["3 queries", "no key"],
    ),
    "add-dtypes": (lambda t: t.add(zeros(t, 3), zeros(t, 3, dtype="int32")), ["float32", "int32"]),
    "gelu-dtype": (lambda t: t.gelu_forward(zeros(t, 3, dtype="int32")), ["gelu_forward", "float32", "int32"]),
    "strided_write-dtypes": (
        lambda t: t.strided_write(zeros(t, 6), zeros(t, 3, dtype="int32"), (1,)),
        ["float32", "int32"],
    ),
    "where-condition": (lambda t: t.where(zeros(t, 3), zeros(t, 3), zeros(t, 3)), ["condition", "bool", "float32"]),
    "gather-dtype": (lambda t: t.gather(zeros(t, 3), zeros(t, 2)), ["indices", "int32 or int64", "float32"]),
    "dropout-bits": (
        lambda t: t.dropout_forward(zeros(t, 3), 0.5, zeros(t, 2, dtype="uint32"), 0),
        ["random (2,)", "3"],
    ),
    "adamw": (lambda t: step(t, zeros(t, 4)), ["parameter (3,)", "gradient (4,)"]),
    "adamw-dtypes": (lambda t: step(t, zeros(t, 3, dtype="int32")), ["float32", "int32"]),
}

INDEX_ERRORS = {
    "gather-high": (lambda t: t.gather(zeros(t, 5, 2), indices(t, 0, 7)), ["7", "4"]),
    "gather-negative": (lambda t: t.gather(zeros(t, 5, 2), indices(t, 0, -1)), ["-1", "4"]),
    "scatter_add-high": (lambda t: t.scatter_add(zeros(t, 2, 3), indices(t, 0, 5), 5), ["5", "4"]),
    "scatter_add-negative": (lambda t: t.scatter_add(zeros(t, 2, 3), indices(t, 0, -2), 5), ["-2", "4"]),
    "embedding-high": (lambda t: t.embedding_forward(zeros(t, 5, 2), indices(t, 9)), ["9", "4"]),
    "embedding_backward-high": (lambda t: t.embedding_backward(zeros(t, 1, 2), indices(t, 9), 5), ["9", "4"]),
    "cross_entropy-high": (lambda t: t.cross_entropy_forward(zeros(t, 2, 4), indices(t, 0, 4)), ["4", "3"]),
    "cross_entropy-negative": (lambda t: t.cross_entropy_forward(zeros(t, 2, 4), indices(t, 0, -2)), ["-2", "3"]),
    "linear_cross_entropy-high": (
        lambda t: t.linear_cross_entropy(zeros(t, 2, 3), zeros(t, 4, 3), None, indices(t, 0, 4)),
        ["4", "3"],
    ),
}


@pytest.mark.parametrize("what", [*ERRORS, *INDEX_ERRORS])
@on_every_device
def test_misfits_are_refused_in_a_sentence(device: str, what: str):
    call, words = (ERRORS | INDEX_ERRORS)[what]
    with pytest.raises(ValueError if what in ERRORS else IndexError) as raised:
        call(ops(device))
    assert not [word for word in words if word not in str(raised.value)], str(raised.value)


@on_every_device
def test_what_was_let_through_once_lets_nothing_else_through(device: str):
    """A check is remembered by shapes, dtypes, and the values that count."""
    t = ops(device)
    short, long, buffer = zeros(t, 4, 5), zeros(t, 5, 4), zeros(t, 6)
    for _ in range(2):
        t.softmax_forward(short, causal=True)
        t.softmax_forward(long)
        t.view(buffer, (2, 3))
        t.multiply(buffer, 2.0)
        for wrong in (
            lambda: t.softmax_forward(long, causal=True),
            lambda: t.view(buffer, (2, 3), 1),
            lambda: t.multiply(buffer, zeros(t, 6, dtype="int32")),
        ):
            with pytest.raises(ValueError):
                wrong()


# Overlays


@pytest.mark.parametrize("device", available_devices())
def test_overlay_replaces_one_op_until_removed(device: str):
    table = ops(device)
    original = table.gelu_forward
    x = zeros(table, 3)
    with overlay("gelu_forward", lambda x: "mine"):
        assert table.gelu_forward(x) == "mine"
    assert table.gelu_forward is original
    active = overlay("gelu_forward", lambda x: "mine", device=device)
    assert table.gelu_forward(x) == "mine"
    active.remove()
    active.remove()  # a second time does nothing
    assert table.gelu_forward is original


def test_an_overlay_is_given_only_what_fits():
    """What the contract asks is asked before a learner's function runs, whatever that one would have made of it."""
    called = []
    with overlay("linear_forward", lambda x, weight, bias: called.append(x.shape) or x, "cpu"):
        table = ops("cpu")
        table.linear_forward(zeros(table, 2, 3), zeros(table, 5, 3), None)
        with pytest.raises(
            ValueError, match=r"linear_forward expects x .* weight \(5, 4\): K is 3 at first and 4 in weight"
        ):
            table.linear_forward(zeros(table, 2, 3), zeros(table, 5, 4), None)
    with (
        overlay("gather", lambda x, indices: called.append("gather"), "cpu"),
        pytest.raises(IndexError, match="index 7"),
    ):
        ops("cpu").gather(zeros(table, 5, 2), indices(table, 0, 7))
    assert called == [(2, 3)]


@pytest.fixture
def two_devices(monkeypatch: pytest.MonkeyPatch):
    """Devices "first" and "second" with the ops `one` and `two`; nobody has loaded them yet."""
    monkeypatch.setattr(devices, "LOADERS", {"first": "fake_first", "second": "fake_second"})
    monkeypatch.setattr(devices, "_tables", {})
    monkeypatch.setattr(devices, "_overlays", [])
    for name in ("first", "second"):
        module = ModuleType(f"fake_{name}")
        module.table = lambda name=name: {"one": lambda: f"{name} one", "two": lambda: f"{name} two"}
        monkeypatch.setitem(sys.modules, f"fake_{name}", module)


def test_overlay_reaches_tables_loaded_before_and_after(two_devices):
    assert ops("first").one() == "first one"
    with overlay("one", lambda: "mine"):
        assert ops("first").one() == ops("second").one() == "mine"
        assert ops("first").two() == "first two"
    assert (ops("first").one(), ops("second").one()) == ("first one", "second one")


WHOLE_INPUTS = {
    "linear_backward_input": lambda t: t.linear_backward_input(zeros(t, 2, 5), zeros(t, 2, 3), zeros(t, 5, 3)),
    "linear_gelu_forward": lambda t: t.linear_gelu_forward(zeros(t, 2, 3), zeros(t, 5, 3), zeros(t, 5)),
    "linear_gelu_backward": lambda t: t.linear_gelu_backward(
        zeros(t, 2, 5), zeros(t, 2, 3), zeros(t, 5, 3), zeros(t, 5), zeros(t, 2, 5)
    ),
    "linear_cross_entropy": lambda t: t.linear_cross_entropy(
        zeros(t, 2, 3), zeros(t, 5, 3), None, indices(t, 1, 2)
    ),
    "cache_attention": lambda t: t.cache_attention(
        zeros(t, 1, 1, 2, 8), *(zeros(t, 1, 4, 2, 8) for _ in range(2)), t.from_numpy(np.array([1], np.int32))
    ),
}  # fmt: skip
# Of a forward the parts that are forwards, of a backward those that are backwards.
WHOLES = [
    (whole, part)
    for whole in WHOLE_INPUTS
    for part in sorted(composed.PARTS[whole])
    if not whole.endswith("ward") or whole.partition("_gelu_")[2] == part.rpartition("_")[2]
]


@pytest.mark.parametrize("whole, part", WHOLES)
@pytest.mark.parametrize("device", available_devices())
def test_an_overlay_of_a_part_is_reached_through_the_whole(device: str, whole: str, part: str):
    """A learner's op must run in training, also where the device has one kernel for it and its neighbours."""
    table, called = ops(device), []
    own, ours = getattr(table, whole), getattr(table, part)

    def theirs(*inputs, **options):
        called.append(part)
        return ours(*inputs, **options)

    with overlay(part, theirs, device):
        WHOLE_INPUTS[whole](table)
        assert called == [part]
        with overlay(whole, lambda *inputs: "mine", device):
            assert WHOLE_INPUTS[whole](table) == "mine"
        WHOLE_INPUTS[whole](table)
        assert called == [part] * 2
    assert getattr(table, whole) is own and getattr(table, part) is ours


def test_overlay_of_one_device_leaves_the_other_alone(two_devices):
    ops("first")
    with overlay("one", lambda: "mine", device="second"):
        assert (ops("first").one(), ops("second").one()) == ("first one", "mine")
    assert ops("second").one() == "second one"


def test_overlays_of_one_op_come_off_in_reverse_order(two_devices):
    ops("first")
    with overlay("one", lambda: "older"):
        with overlay("one", lambda: "newer"):
            assert ops("first").one() == ops("second").one() == "newer"
        assert ops("first").one() == ops("second").one() == "older"
    assert (ops("first").one(), ops("second").one()) == ("first one", "second one")


def test_overlays_may_come_off_in_any_order(two_devices):
    ops("first")
    older, newer = overlay("one", lambda: "older"), overlay("one", lambda: "newer", device="second")
    older.remove()
    assert (ops("first").one(), ops("second").one()) == ("first one", "newer")
    newer.remove()
    assert (ops("first").one(), ops("second").one()) == ("first one", "second one")


@pytest.mark.parametrize("device", [None, "first", "second"])
def test_a_misspelt_overlay_is_refused_at_once(two_devices, device: str | None):
    ops("first")
    with pytest.raises(ValueError, match="oen"):
        overlay("oen", lambda: "mine", device=device)
    assert (ops("first").one(), ops("second").one()) == ("first one", "second one")


def test_an_overlay_of_no_known_device_is_refused(two_devices):
    with pytest.raises(ValueError, match="third"):
        overlay("one", lambda: "mine", device="third")


def test_a_copied_or_pickled_table_is_the_table():
    table = devices.ops("reference")
    assert copy.deepcopy(table) is table and pickle.loads(pickle.dumps(table)) is table
