"""Linear recurrences: their forms agree, they carry on from a state, and they are what the papers write down."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.devices import agreement, ops, overlay
from course_lib.devices.agreement import NAMES, by_form, inputs
from course_lib.devices.reference import recurrence_forms as forms

TOLERANCE = {"float32": 1e-6, "float64": 1e-10}  # of the largest element


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
    others = by_form("parallel", name, given), by_form("chunked", name, given, chunk=chunk)
    for other, other_last in (*others, (composed_y, composed_last)):
        assert_close(other, y, TOLERANCE[dtype])
        assert_close(other_last, last, TOLERANCE[dtype])


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_chapter_23_has_every_form_and_device(name):
    rows = agreement.rows(name, ["reference", "cpu"])
    assert [row.by for row in rows] == ["parallel", "chunked", "reference", "cpu"]
    for row in rows:
        assert row.float32 < 1e-6 and row.float64 < 1e-10 and row.gradient < 1e-6, row
        assert row.float32 > 1e-9, "which float32 cannot be"


def test_the_table_shows_a_state_and_a_gradient_that_are_wrong(monkeypatch):
    """A form whose last state is off, and a device whose gradient of the decay has another sign, each in its own column."""
    chunked, backward = forms.chunked, ops("cpu").gated_delta_backward
    monkeypatch.setattr(forms, "chunked", lambda *given: (chunked(*given)[0], chunked(*given)[1] * 1.001))
    with overlay("gated_delta_backward", lambda *given: _negative(backward(*given), 3), "cpu"):
        parallel, chunks, _, cpu = agreement.rows("gated_delta", ["reference", "cpu"])
    assert chunks.float64 == pytest.approx(0.001) and cpu.float64 < 1e-10
    assert cpu.gradient > 1e-3 and parallel.gradient < 1e-6


def _negative(results, number):
    return [-x if at == number else x for at, x in enumerate(results)]


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
