"""Linear recurrences: their forms agree, they carry on from a state, and they are what the papers write down."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.devices import ops
from course_lib.devices.reference import recurrence_forms as forms

NAMES = ("gated_linear_attention", "gated_delta", "state_space")
TOLERANCE = {"float32": 1e-6, "float64": 1e-10}  # of the largest element


def inputs(name, B=1, H=2, T=37, D=8, E=5, dtype="float64", seed=0, carried=True):
    """Of an op, up to the state: keys of length 1, decays of many strengths."""
    random = np.random.default_rng(seed)
    q, k, v = random.normal(size=(B, H, T, D)), random.normal(size=(B, H, T, D)), random.normal(size=(B, H, T, E))
    q, k = q / D**0.5, k / np.linalg.norm(k, axis=-1, keepdims=True)
    g = -np.exp(random.uniform(-6, 2, size=(B, H, T) if name == "state_space" else (B, H, T, D)))
    rates = [random.uniform(size=(B, H, T)) for _ in range({"gated_delta": 1, "state_space": 2}.get(name, 0))]
    state = random.normal(size=(B, H, D, E)) if carried else None
    return [None if x is None else x.astype(dtype) for x in (q, k, v, g, *rates, state)]


def other_forms(name, given, chunk):
    if name == "state_space":
        return forms.state_space_parallel(*given), forms.state_space_chunked(*given, chunk=chunk)
    q, k, v, g, *beta, state = given
    beta = beta[0] if beta else None
    return forms.parallel(q, k, v, g, beta, state), forms.chunked(q, k, v, g, beta, state, chunk)


def assert_close(got, want, tolerance):
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * max(1, np.abs(want).max()))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", NAMES)
@given(T=st.integers(1, 40), chunk=st.integers(1, 17), carried=st.booleans(), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_recurrent_chunked_and_parallel_forms_agree(name, dtype, T, chunk, carried, seed):
    given = inputs(name, T=T, dtype=dtype, seed=seed, carried=carried)
    y, last, _ = getattr(ops("reference"), f"{name}_forward")(*given)
    composed_y, composed_last, _ = getattr(ops("cpu"), f"{name}_forward")(*given)
    for other, other_last in (*other_forms(name, given, chunk), (composed_y, composed_last)):
        assert_close(other, y, TOLERANCE[dtype])
        assert_close(other_last, last, TOLERANCE[dtype])


@pytest.mark.parametrize("name", NAMES)
@given(cut=st.integers(1, 36), seed=st.integers(0, 99))
@settings(max_examples=10, deadline=None)
def test_a_text_in_two_parts_is_the_text(name, cut, seed):
    *given, state = inputs(name, seed=seed)
    forward = getattr(ops("cpu"), f"{name}_forward")
    y, last, _ = forward(*given, state)
    first, middle, _ = forward(*(np.ascontiguousarray(x[:, :, :cut]) for x in given), state)
    second, end, _ = forward(*(np.ascontiguousarray(x[:, :, cut:]) for x in given), middle)
    assert_close(np.concatenate([first, second], axis=2), y, 1e-12)
    assert_close(end, last, 1e-12)


def test_without_decay_it_is_attention_without_softmax():
    q, k, v, g, _ = inputs("gated_linear_attention", carried=False)
    y, _, _ = ops("reference").gated_linear_attention_forward(q, k, v, 0 * g, None)
    assert_close(y, np.tril(q @ k.swapaxes(-1, -2)) @ v, 1e-12)


def test_the_delta_rule_overwrites_and_the_sum_does_not():
    """Two values under one key: after the second, the delta rule reads it alone; linear attention reads their sum."""
    key = np.zeros((1, 1, 2, 4))
    key[..., 1] = 1
    values = np.array([[[[1.0, 2.0], [5.0, -3.0]]]])  # (B, H, T, E)
    none, all_ = np.zeros((1, 1, 2, 4)), np.ones((1, 1, 2))
    delta, _, _ = ops("reference").gated_delta_forward(key, key, values, none, all_, None)
    summed, _, _ = ops("reference").gated_linear_attention_forward(key, key, values, none, None)
    np.testing.assert_array_equal(delta[0, 0, 1], [5, -3])
    np.testing.assert_array_equal(summed[0, 0, 1], [6, -1])


def test_the_same_key_again_and_again_loses_no_digits():
    """Where a series of powers for the triangular inverse cancels: T copies of one key, all overwritten."""
    _, k, v, g, beta, _ = inputs("gated_delta", T=32, dtype="float32")
    k = np.ascontiguousarray(np.broadcast_to(k[:, :, :1], k.shape))
    y, _, _ = ops("cpu").gated_delta_forward(k, k, v, 0 * g, 0 * beta + 1, None)
    np.testing.assert_allclose(y, v, atol=3e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_no_step_is_refused(device, name):
    given = inputs(name, T=1)
    empty = [x[:, :, :0].copy() for x in given[:-1]]
    with pytest.raises(ValueError, match="at least one step"):
        getattr(ops(device), f"{name}_forward")(*empty, given[-1])


def test_the_trapezoidal_rule_is_the_papers_recurrence():
    """Mamba-3's h_t, written down term by term, is the state space with gamma and weight of `trapezoid`; also in two parts."""
    random = np.random.default_rng(3)
    q, k, v, g, dt, rate, _ = inputs("state_space", T=9)
    h, ys = np.zeros((1, 2, 8, 5)), []
    for t in range(9):
        alpha = np.exp(g[:, :, t, None, None])
        new = k[:, :, t, :, None] * v[:, :, t, None, :]
        before = k[:, :, t - 1, :, None] * v[:, :, t - 1, None, :] if t else 0
        lam, step = rate[:, :, t, None, None], dt[:, :, t, None, None]
        h = alpha * h + (1 - lam) * step * alpha * before + lam * step * new
        ys.append(np.einsum("bhde,bhd->bhe", h, q[:, :, t]))
    want, forward = np.stack(ys, axis=2), ops("reference").state_space_forward
    y, last, _ = forward(q, k, v, g, *forms.trapezoid(dt, rate), None)
    assert_close(y, want, 1e-12)
    assert_close(last, h, 1e-12)

    cut = int(random.integers(1, 9))
    part = [x[:, :, :cut] for x in (q, k, v, g, dt, rate)], [x[:, :, cut:] for x in (q, k, v, g, dt, rate)]
    first, middle, _ = forward(*part[0][:4], *forms.trapezoid(*part[0][4:]), None)
    again = ((1 - rate) * dt)[:, :, cut, None, None] * k[:, :, cut - 1, :, None] * v[:, :, cut - 1, None, :]
    second, _, _ = forward(*part[1][:4], *forms.trapezoid(*part[1][4:]), middle + again)
    assert_close(np.concatenate([first, second], axis=2), want, 1e-12)
