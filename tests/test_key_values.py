"""The key-value cache: it grows in place, is never overwritten by a second way to go on, and loses nothing on the tape."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import Tensor, functional, key_values, no_grad

ROOM, H, G, D = 12, 4, 2, 8


def drawn(B: int, T: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """q (B, T, H, D), k and v (B, T, G, D)."""
    random = np.random.default_rng(seed)
    return tuple(Tensor(random.normal(size=(B, T, heads, D)), "float64") for heads in (H, G, G))


def whole(parts: list) -> np.ndarray:
    """Attention of the last queries over all keys and values so far."""
    _, keys, values = (functional.concatenate(tensors, axis=1) for tensors in zip(*parts, strict=True))
    return functional.attention(parts[-1][0], keys, values).numpy()


@no_grad()
@pytest.mark.parametrize("lengths", [(1,) * ROOM, (5, 1, 1), (3, 4, 1, 2), (ROOM, 1, 1), (7, 7, 1), (1, 20)])
@pytest.mark.parametrize("B", [1, 3])
def test_any_pieces_give_the_attention_over_the_whole(B, lengths):
    """Also beyond the room that it was made with."""
    cache, parts = [], []
    for number, T in enumerate(lengths):
        parts.append(drawn(B, T, number))
        y = key_values.attend(cache, ROOM, *parts[-1])
        np.testing.assert_allclose(y.numpy(), whole(parts), atol=1e-12)
        S = sum(lengths[: number + 1])
        assert [tensor.shape for tensor in cache] == [(B, S, G, D)] * 2
        np.testing.assert_array_equal(cache[1].numpy(), np.concatenate([v.numpy() for _, _, v in parts], 1))


@no_grad()
def test_a_row_is_written_behind_the_others_which_stay_where_they_are():
    cache = []
    key_values.attend(cache, ROOM, *drawn(2, 3, 0))
    where = [tensor.storage for tensor in cache]
    for step in range(ROOM - 3):
        key_values.attend(cache, ROOM, *drawn(2, 1, step))
        assert [tensor.storage for tensor in cache] == where
    key_values.attend(cache, ROOM, *drawn(2, 1, 0))
    assert [tensor.storage for tensor in cache] != where, "there was no room left"


@no_grad()
@pytest.mark.parametrize("T", [1, 2])
def test_two_ways_to_go_on_do_not_overwrite_each_other(T):
    start, one, other = drawn(1, 4, 0), drawn(1, T, 1), drawn(1, T, 2)
    first: list = []
    key_values.attend(first, ROOM, *start)
    second = list(first)
    key_values.attend(first, ROOM, *one)
    y = key_values.attend(second, ROOM, *other)
    np.testing.assert_allclose(y.numpy(), whole([start, other]), atol=1e-12)
    np.testing.assert_array_equal(first[0].numpy()[:, 4:], one[1].numpy())
    assert key_values.attend(first, ROOM, *drawn(1, 1, 3)).shape == (1, 1, H, D)


def test_on_the_tape_the_gradient_reaches_what_is_in_the_cache():
    cache, parts = [], [drawn(1, 3, 0), drawn(1, 1, 1)]
    for part in parts:
        for tensor in part:
            tensor.requires_grad_()
        y = key_values.attend(cache, ROOM, *part)
    y.sum().backward()
    assert all(np.abs(tensor.grad.numpy()).sum() > 0 for tensor in (parts[0][2], *parts[1]))
    with no_grad():  # and from there on without it
        parts.append(drawn(1, 1, 2))
        np.testing.assert_allclose(key_values.attend(cache, ROOM, *parts[-1]).numpy(), whole(parts), atol=1e-12)
