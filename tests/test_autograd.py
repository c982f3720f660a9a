"""The tape: order, accumulation, refusals, threads; and gradcheck itself."""

import gc
import threading
import weakref

import numpy as np
import pytest

from course_lib import autograd, gradcheck, no_grad
from course_lib.autograd import Node, topological_order
from course_lib.gradcheck import GradcheckError
from course_lib.tensor import GraphError, Tensor, record


def leaf(values, name=""):
    return Tensor(values, dtype="float64", requires_grad=True, name=name)


def test_the_tape_knows_no_tensor():
    """Plain floats go through it: y = a * b + a, so dy/da = b + 1 and dy/db = a."""
    a, b = Node("leaf"), Node("leaf")
    product = Node("multiply", [(a, 0), (b, 0)], lambda dy: (dy * 5.0, dy * 3.0))
    total = Node("add", [(product, 0), (a, 0)], lambda dy: (dy, dy))
    autograd.backward((total, 0), 1.0, lambda x, y: x + y)
    assert (a.gradient, b.gradient) == (6.0, 3.0)


def test_topological_order_puts_every_parent_first_and_survives_depth():
    x = leaf([1.0])
    y = x
    for _ in range(20_000):  # deeper than Python's recursion limit
        y = y + 1.0
    order = topological_order(y.node)
    place = {node: i for i, node in enumerate(order)}
    assert all(place[edge[0]] < place[node] for node in order for edge in node.parents if edge)
    y.backward()
    assert x.grad.item() == 1.0


def test_a_value_used_late_and_early_gets_its_whole_gradient():
    """The graph on which a depth-first walk goes wrong: b is used by c and, later, by d."""
    a = leaf([2.0])
    b = a * a  # 4
    c = b * b  # b is used twice here
    d = c + b
    d.backward()
    assert a.grad.item() == pytest.approx(4 * 2.0**3 + 2 * 2.0)  # d(a^4 + a^2)/da


def test_gradients_accumulate_until_they_are_set_to_none():
    x = leaf([3.0])
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad.item() == 12.0
    x.grad = None
    (x * x).sum().backward()
    assert x.grad.item() == 6.0


def test_a_gradient_that_goes_two_ways_is_not_shared():
    """add hands the same gradient to both inputs; adding to one must not change the other."""
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (x + y).sum().backward()
    (x * 10.0).sum().backward()
    assert x.grad.numpy().tolist() == [11.0, 11.0] and y.grad.numpy().tolist() == [1.0, 1.0]


def test_second_backward_is_refused_unless_the_graph_is_retained():
    x = leaf([2.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0
    with pytest.raises(GraphError, match="freed by the first"):
        y.backward()


def test_backward_off_the_tape_and_of_a_vector_are_refused():
    with pytest.raises(GraphError, match="requires_grad=True"):
        Tensor([1.0]).backward()
    with pytest.raises(GraphError, match=r"shape \(2,\)"):
        (leaf([1.0, 2.0]) * 2.0).backward()


def test_backward_takes_the_gradient_that_arrives():
    x = leaf([1.0, 2.0])
    (x * x).backward(Tensor([10.0, 1.0], dtype="float64"))
    assert x.grad.numpy().tolist() == [20.0, 4.0]


def test_in_place_change_of_what_the_tape_needs_is_caught():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = (x * w).sum()
    with no_grad():
        w[0] = 100.0
    with pytest.raises(GraphError, match="changed in place"):
        y.backward()
    with pytest.raises(GraphError, match="on the tape"):
        x[0] = 1.0


def test_in_place_change_of_what_the_tape_does_not_need_is_fine():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = (x + w).sum()
    with no_grad():
        w[0] = 100.0
    y.backward()
    assert w.grad.numpy().tolist() == [1.0, 1.0]


def test_no_grad_as_block_and_decorator_and_only_in_its_thread():
    x = leaf([1.0])
    with no_grad():
        assert not (x * 2.0).requires_grad
        elsewhere = []
        thread = threading.Thread(target=lambda: elsewhere.append((x * 2.0).requires_grad))
        thread.start()
        thread.join()
    assert elsewhere == [True]
    assert no_grad()(lambda: (x * 2.0).requires_grad)() is False
    assert (x * 2.0).requires_grad


def test_detach_stops_the_gradient_and_shares_the_values():
    x = leaf([2.0])
    y = x.detach()
    (x * y).sum().backward()
    assert x.grad.item() == 2.0
    with no_grad():
        x[0] = 7.0
    assert y.item() == 7.0


def test_several_outputs_and_one_unused():
    x = leaf([1.0, 2.0])
    ops = x.ops
    both = record(
        "twins",
        (x,),
        (ops.multiply(x.array(), 2.0), ops.multiply(x.array(), 3.0)),
        lambda a, b: (ops.multiply(b, 3.0) if a is None else ops.add(ops.multiply(a, 2.0), ops.multiply(b, 3.0)),),
    )
    both[1].sum().backward()
    assert x.grad.numpy().tolist() == [3.0, 3.0]


def test_a_tensor_knows_how_it_was_made():
    x, w = leaf([[1.0, 2.0]], "x"), leaf([[3.0, 4.0]], "w")
    y = (x * w).sum()
    assert y.node.name == "sum"
    ((product, _),) = y.node.parents
    assert product.name == "multiply"
    assert [edge[0].label for edge in product.parents] == ["x", "w"]
    y.backward(keep_gradients=True)
    assert product.gradient.tolist() == [[1.0, 1.0]]


def test_backward_frees_what_it_saved():
    x = leaf(np.ones(1000))
    y = x * 2.0
    middle = weakref.ref(y.storage.array.base if y.storage.array.base is not None else y.storage.array)
    z = (y * y).sum()
    del y
    z.backward()
    gc.collect()
    assert z.node.backward is None
    assert middle() is None


def test_gradcheck_passes_what_is_right_and_names_what_is_wrong():
    values = np.random.default_rng(0).normal(size=(2, 3))
    assert gradcheck(lambda x: (x * x).tanh(), [values]) < 1e-8

    def wrong(x):
        ops, a = x.ops, x.array()

        def backward(dy):
            dx = ops.multiply(dy, ops.multiply(a, 2.0))
            dx[1, 2] *= 1.5
            return (dx,)

        return record("square", (x,), ops.multiply(a, a), backward, saved=(x,))

    with pytest.raises(GradcheckError, match=r"input 0, element \(1, 2\)"):
        gradcheck(wrong, [values])


def test_gradcheck_catches_nan_and_a_missing_gradient():
    with pytest.raises(GradcheckError, match="nan"):
        gradcheck(lambda x: x.sqrt(), [np.array([-1.0])])
    with pytest.raises(GradcheckError, match="element"):
        gradcheck(lambda x, y: x * y.detach(), [np.array([2.0]), np.array([3.0])])


def test_a_rule_without_its_comma_is_refused_even_where_the_lengths_happen_to_fit():
    for values in ([2.0], [1.0, 2.0, 3.0]):
        x = Tensor(values, requires_grad=True)
        doubled = record("double", (x,), x.array() * 2, lambda dy: dy * 2)
        with pytest.raises(GraphError, match=r"rule of 'double' must return a tuple .* no tuple \(ndarray\)"):
            doubled.sum().backward()
    x = Tensor([2.0], requires_grad=True)
    with pytest.raises(GraphError, match=r"each of its 1 inputs.* 2 of them"):
        record("double", (x,), x.array() * 2, lambda dy: (dy, dy)).sum().backward()
    with pytest.raises(TypeError, match="as a tuple"):
        record("double", x, x.array() * 2, lambda dy: (dy * 2,))


def test_gradcheck_says_what_a_function_must_return():
    with pytest.raises(TypeError, match="this one returned float"):
        gradcheck(lambda x: x.sum().item(), [[1.0]])
