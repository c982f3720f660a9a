"""Tensor against NumPy: values and strides of views, arithmetic, reductions, gradients by finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from course_lib import functional, gradcheck
from course_lib.tensor import GraphError, Tensor

shapes = arrays.array_shapes(min_dims=1, max_dims=4, max_side=5)


def pair(shape, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return values, Tensor(values, dtype="float64", device="reference")


def test_dtypes_are_float32_unless_asked():
    assert Tensor([1, 2]).dtype == np.float32
    assert Tensor(np.ones(2)).dtype == np.float32
    assert Tensor(np.ones(2), dtype="float64").dtype == np.float64
    assert Tensor(np.array([1, 2], dtype=np.int32)).dtype == np.int32
    assert Tensor(3.0).shape == ()
    assert Tensor(Tensor([1.0, 2.0])).numpy().tolist() == [1.0, 2.0]


def test_a_tensor_does_not_share_memory_with_what_made_it():
    values = np.zeros(3, dtype=np.float32)
    tensor = Tensor(values)
    values[0] = 5.0
    out = tensor.numpy()
    out[1] = 7.0
    assert tensor.numpy().tolist() == [0.0, 0.0, 0.0]


@given(shapes, st.data())
def test_transpose_reshape_and_slices_look_as_in_numpy_and_share_the_buffer(shape, data):
    values, tensor = pair(shape)
    order = data.draw(st.permutations(range(len(shape))))
    assert np.array_equal(tensor.transpose(order).numpy(), values.transpose(order))
    assert tensor.transpose(order).storage is tensor.storage
    assert np.array_equal(tensor.transpose(order).reshape(-1).numpy(), values.transpose(order).reshape(-1))
    index = data.draw(arrays.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    index = index if isinstance(index, tuple) else (index,)
    expected = values[index]
    shown = tensor[index]
    assert shown.shape == expected.shape and np.array_equal(shown.numpy(), expected)
    assert shown.storage is tensor.storage
    if expected.ndim and expected.size:  # strides in elements, as NumPy has them in bytes; lengths of 1 may differ
        view = values[index]
        for length, ours, theirs in zip(shown.shape, shown.strides, view.strides, strict=True):
            assert length == 1 or ours * 8 == theirs


@given(arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4), st.sampled_from("+-*/"))
def test_binary_operations_broadcast_and_their_gradients_are_right(broadcast, sign):
    a, b = broadcast.input_shapes
    generator = np.random.default_rng(1)
    x, y = generator.normal(size=a), generator.uniform(0.5, 2.0, size=b)
    rules = {"+": lambda p, q: p + q, "-": lambda p, q: p - q, "*": lambda p, q: p * q, "/": lambda p, q: p / q}
    rule = rules[sign]
    ours = rule(Tensor(x, dtype="float64"), Tensor(y, dtype="float64")).numpy()
    np.testing.assert_allclose(ours, rule(x, y), rtol=1e-14)
    gradcheck(rule, [x, y])


def test_numbers_on_either_side_keep_the_dtype():
    x = Tensor([1.0, 4.0])
    results = {
        "x + 1": x + 1, "1 + x": 1 + x, "1 - x": 1 - x, "2 * x": 2 * x, "2 / x": 2 / x, "x / 2": x / 2, "x ** 2": x**2,
        "array * x": np.array([2.0, 2.0], dtype=np.float32) * x,
    }  # fmt: skip
    expected = {
        "x + 1": [2, 5], "1 + x": [2, 5], "1 - x": [0, -3], "2 * x": [2, 8], "2 / x": [2, 0.5], "x / 2": [0.5, 2],
        "x ** 2": [1, 16], "array * x": [2, 8],
    }  # fmt: skip
    for name, result in results.items():
        assert result.dtype == np.float32, name
        assert result.numpy().tolist() == expected[name], name


FUNCTIONS = {
    "exp": lambda x: x.exp(),
    "log": lambda x: (x * x + 1.0).log(),
    "tanh": lambda x: x.tanh(),
    "sqrt": lambda x: (x * x + 1.0).sqrt(),
    "sin": lambda x: (x * 3.0).sin(),
    "cos": lambda x: (x * 3.0).cos(),
    "power": lambda x: x**3,
    "negative power": lambda x: (x * x + 1.0) ** -0.5,
    "sum axis": lambda x: x.sum(1) * x.sum((0, 2), keepdims=True).reshape(-1)[0],
    "mean": lambda x: x.mean(-1, keepdims=True) * x,
    "max": lambda x: x.max(1) * 2.0,
    "max all": lambda x: x.max(),
    "reshape": lambda x: x.reshape(4, -1) * x.reshape(-1)[3],
    "transpose": lambda x: x.transpose(2, 0, 1).tanh(),
    "swapaxes": lambda x: x.swapaxes(0, 2).reshape(4, 6) ** 2,
    "broadcast": lambda x: x[:, None].broadcast_to(2, 5, 3, 4).tanh(),
    "slice": lambda x: x[1, ::2, 1:3].exp(),
    "negative step": lambda x: x[:, ::-1] * x,
    "rows": lambda x: x[np.array([0, 1, 1])].tanh(),
    "matmul": lambda x: x @ x.swapaxes(1, 2),
    "matmul broadcast": lambda x: x @ x[0].T,
    "matmul of a slice": lambda x: x[:, :, :2] @ x[:, :2, :],
    "where": lambda x: functional.where(x > 0.0, x * x, x * 3.0),
    "maximum": lambda x: functional.maximum(x, x.swapaxes(0, 0) * 0.5 + 0.1),
    "maximum number": lambda x: functional.maximum(x, 0.2),
    "concatenate": lambda x: functional.concatenate([x, x * 2.0], axis=-1).tanh(),
    "split": lambda x: functional.split(x, (1, 3), axis=2)[1] * functional.split(x, (3, 1), axis=2)[0],
    "split, one part unused": lambda x: functional.split(x, (1, 3))[1].tanh(),
    "detach": lambda x: x.contiguous() + x.T.contiguous().T,
}


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree_with_finite_differences(name, device):
    values = np.random.default_rng(2).normal(size=(2, 3, 4))
    gradcheck(FUNCTIONS[name], [values], device=device)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.booleans(), st.booleans())
def test_matmul_of_transposed_views_copies_nothing(n, k, m, turn_a, turn_b):
    a, x = pair((k, n) if turn_a else (n, k), 1)
    b, z = pair((m, k) if turn_b else (k, m), 2)
    a, x = (a.T, x.T) if turn_a else (a, x)
    b, z = (b.T, z.T) if turn_b else (b, z)
    np.testing.assert_allclose((x @ z).numpy(), a @ b, rtol=1e-12)
    gradcheck(
        lambda p, q: (p.T if turn_a else p) @ (q.T if turn_b else q), [a.T if turn_a else a, b.T if turn_b else b]
    )


@given(shapes, st.data())
def test_reductions_agree_with_numpy(shape, data):
    values, tensor = pair(shape)
    axis = data.draw(st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1)))
    keep = data.draw(st.booleans())
    np.testing.assert_allclose(tensor.sum(axis, keep).numpy(), values.sum(axis, keepdims=keep), rtol=1e-12)
    np.testing.assert_allclose(
        tensor.mean(axis, keep).numpy(), values.mean(axis, keepdims=keep), rtol=1e-12, atol=1e-12
    )
    assert np.array_equal(tensor.max(axis, keep).numpy(), values.max(axis, keepdims=keep))
    last = -1 if axis is None else axis
    assert np.array_equal(tensor.argmax(last).numpy(), values.argmax(last))


def test_what_is_reduced_may_be_empty_where_that_has_an_answer():
    empty = Tensor(np.zeros((0, 3)))
    assert empty.mean(1).shape == (0,) and empty.max(1, keepdims=True).shape == (0, 1)
    assert empty.sum(0).numpy().tolist() == [0, 0, 0]
    for what in ("mean", "max"):
        with pytest.raises(ValueError, match=f"{what} of no elements has no answer"):
            getattr(empty, what)()
        with pytest.raises(ValueError, match=f"{what}: axis 5 does not exist"):
            getattr(empty, what)(5)


def test_equal_largest_elements_share_the_gradient():
    x = Tensor([1.0, 3.0, 3.0], requires_grad=True)
    x.max().backward()
    assert x.grad.numpy().tolist() == [0.0, 0.5, 0.5]


def test_writing_into_a_view_changes_the_tensor():
    x = Tensor(np.zeros((3, 4)))
    x[1:, ::2] = Tensor([[1.0], [2.0]])
    assert x.numpy().tolist() == [[0, 0, 0, 0], [1, 0, 1, 0], [2, 0, 2, 0]]
    x[0].detach()[1] = 9.0
    assert x.numpy()[0, 1] == 9.0


WRONG = {
    "shapes that do not broadcast": (lambda: Tensor(np.ones((2, 3))) + Tensor(np.ones(4)), ValueError, r"\(2, 3\) and \(4,\)"),
    "matmul": (lambda: Tensor(np.ones((2, 3))) @ Tensor(np.ones((2, 3))), ValueError, r"\(2, 3\) and \(2, 3\)"),
    "matmul of a number": (lambda: Tensor(np.ones((2, 3))) @ 2.0, ValueError, "float"),
    "reshape": (lambda: Tensor(np.ones(6)).reshape(4, 2), ValueError, r"6 elements do not fit the shape \(4, 2\)"),
    "reshape two unknown": (lambda: Tensor(np.ones(6)).reshape(-1, -1), ValueError, "6 elements"),
    "transpose": (lambda: Tensor(np.ones((2, 3))).transpose(0, 0), ValueError, "once"),
    "axis": (lambda: Tensor(np.ones((2, 3))).sum(2), ValueError, "axis 2 .* numbered -2 to 1"),
    "index": (lambda: Tensor(np.ones((2, 3)))[2], IndexError, "Index 2"),
    "too many indices": (lambda: Tensor(np.ones((2, 3)))[0, 0, 0], IndexError, "3 indices"),
    "index by text": (lambda: Tensor(np.ones(2))["a"], IndexError, "cannot be indexed"),
    "rows outside": (lambda: Tensor(np.ones((2, 3)))[np.array([0, 5])], IndexError, "5"),
    "rows by floats": (lambda: Tensor(np.ones(2))[np.array([0.5])], IndexError, "ints"),
    "item": (lambda: Tensor(np.ones(2)).item(), ValueError, "one element"),
    "len": (lambda: len(Tensor(1.0)), TypeError, "no length"),
    "broadcast": (lambda: Tensor(np.ones(3)).broadcast_to(2, 4), ValueError, "neither is 1"),
    "mixed dtypes": (lambda: Tensor([1.0]) + Tensor([1.0], dtype="float64"), TypeError, "float32 and float64"),
    "two devices": (lambda: Tensor([1.0]) + Tensor([1.0], device="reference"), ValueError, "two devices"),
    "no such device": (lambda: Tensor([1.0], device="abacus"), ValueError, "abacus"),
    "ragged lists": (lambda: Tensor([[1, 2], [3]]), ValueError, "rows have the same length"),
    "no numbers": (lambda: Tensor({"a": 1}), TypeError, "of this dict"),
    "gradient of integers": (lambda: Tensor(np.arange(3), requires_grad=True), GraphError, "floating-point"),
    "tensor as exponent": (lambda: Tensor([1.0]) ** Tensor([1.0]), TypeError, "needs a number"),
    "split": (lambda: functional.split(Tensor(np.ones(5)), (2, 2)), ValueError, "add up"),
    "linear": (lambda: functional.linear(Tensor(np.ones((2, 3))), Tensor(np.ones((4, 5)))), ValueError, r"\(2, 3\).*\(4, 5\)"),
    "float targets": (lambda: functional.cross_entropy(Tensor(np.ones((2, 3))), [0.5, 1.0]), TypeError, "integers"),
    "targets": (lambda: functional.cross_entropy(Tensor(np.ones((2, 3))), [0]), ValueError, "one target per row"),
    "attention heads": (
        lambda: functional.attention(*[Tensor(np.ones((1, 2, h, 4))) for h in (3, 2, 2)]), ValueError, "cannot share 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_gets_a_sentence(name):
    act, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        act()
