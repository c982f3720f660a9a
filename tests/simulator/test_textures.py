"""Textures against NumPy: addressing, filtering with weights of eight bits, normalised reads, memory of each kind; surfaces."""

from itertools import product

import numpy as np
import pytest

from tests.simulator.test_programs import expected, run

pytestmark = pytest.mark.slow

W, H, F = 7, 5, np.float32
PIXELS = (np.arange(W * H) * 13 % 17 - 5.0).reshape(H, W)
BYTES = (np.arange(W * H)[:, None] * 31 + np.arange(4) * 50).reshape(H, W, 4) % 256 / 255


def places(index, size, mode):
    """(which element an index means, whether it lies in the border)."""
    if mode == "wrap":
        return index % size, np.zeros_like(index, bool)
    if mode == "mirror":
        at = index % (2 * size)
        return np.where(at < size, at, 2 * size - 1 - at), np.zeros_like(index, bool)
    return np.clip(index, 0, size - 1), (mode == "border") & ((index < 0) | (index >= size))


def texel(image, x, y, mode, rows=H):
    (column, beside), (row, above) = places(x, W, mode), places(y, rows, mode)
    outside = beside | above
    return np.where(outside[:, None] if image.ndim == 3 else outside, 0, image[row, column])


def sampled(image, x, y, mode, filtered, rows=H):
    """x, y: float32, in elements."""
    if not filtered:
        return texel(image, np.floor(x).astype(int), np.floor(y).astype(int), mode, rows)
    left, top = np.floor(x - F(0.5)), np.floor(y - F(0.5))
    a, b = (np.rint((v - F(0.5) - edge) * 256) / 256 for v, edge in ((x, left), (y, top)))
    if image.ndim == 3:
        a, b = a[:, None], b[:, None]
    left, top = left.astype(int), top.astype(int)
    upper = (1 - a) * texel(image, left, top, mode, rows) + a * texel(image, left + 1, top, mode, rows)
    lower = (1 - a) * texel(image, left, top + 1, mode, rows) + a * texel(image, left + 1, top + 1, mode, rows)
    return (1 - b) * upper + b * lower


def lines() -> list[np.ndarray]:
    """What textures.cu prints, line by line."""
    i = np.arange(400)
    x, y = (i % 20 - 6) * F(0.71), (i // 20 - 7) * F(0.53)
    said = []
    for normalised, mode, filtered in product((False, True), ("wrap", "clamp", "mirror", "border"), (False, True)):
        if normalised or mode in ("clamp", "border"):
            at = ((x / F(W)) * F(W), (y / F(H)) * F(H)) if normalised else (x, y)
            said += [sampled(image, *at, mode, filtered).ravel() for image in (PIXELS, BYTES)]
    i = np.arange(14)
    x, y = i * F(0.6) - F(1), i * F(0.37)
    numbers = np.where((i >= 2) & (i < 12), (i - 2) ** 2 + 1, 0)
    said.append(numbers + sampled(PIXELS, x, np.full(14, F(0.5)), "clamp", True))
    return [*said, sampled(PIXELS, x, y, "clamp", True), 2 * PIXELS.ravel(), *of_volumes()]


def of_volumes() -> list[np.ndarray]:
    """What it prints of three dimensions, layers and a cube."""
    numbers, i, said = np.arange(6 * W * W) * 29 % 31, np.arange(400), []
    volume, faces = numbers[: 3 * H * W].reshape(3, H, W).astype(float), numbers.reshape(6, W, W).astype(float)
    x, y, z = (i % 20 - 6) * F(0.71), (i // 20 - 7) * F(0.53), i % 9 * F(0.41) - F(0.5)
    for filtered in (False, True):
        planes = np.array([sampled(plane, x, y, "clamp", filtered) for plane in volume])  # (3, 400)
        near = np.floor(z - F(0.5)) if filtered else np.floor(z)
        c = np.rint((z - F(0.5) - near) * 256) / 256 if filtered else 0
        low, high = (np.clip(near.astype(int) + more, 0, 2) for more in (0, 1))
        said += [(1 - c) * planes[low, i] + c * planes[high, i], planes[np.clip(i % 5 - 1, 0, 2), i]]
        said.append(np.array([on_a_face(faces, number, filtered) for number in i]))
    volume[1] += 100
    return [*said, volume[1:, 2:, 1:].ravel()]


def on_a_face(faces, number, filtered):
    """A fetch from a cube: the direction's axis is number / 2 % 3; "Cubemap Textures" says what s and t are on its face."""
    first, second = (number // 6 % 7 - 3) * F(0.3), (number // 42 % 7 - 3) * F(0.3)
    given = [first, second, F(-1 if number % 2 else 1)]
    direction = [given[(number // 2 + 1) % 3], given[(number // 2 + 2) % 3], given[number // 2 % 3]]
    axis = int(np.argmax(np.abs(direction)))
    positive = direction[axis] > 0
    x, y, z = direction
    s, t = {0: (-z if positive else z, -y), 1: (x, z if positive else -z), 2: (x if positive else -x, -y)}[axis]
    at = [np.array([(v + F(1)) / F(2) * F(W)], F) for v in (s, t)]
    return sampled(faces[2 * axis + (not positive)], *at, "clamp", filtered, rows=W)[0]


@pytest.mark.parametrize("checked", [False, True])
def test_fetches_give_what_the_programming_guide_says(compiler, checked):
    found, said = run("textures.cu", checked)
    assert found.ok, found.findings
    for number, (line, values) in enumerate(zip(said.splitlines(), lines(), strict=True)):
        np.testing.assert_allclose(np.array(line.split(), float), values, rtol=1e-5, atol=1e-5, err_msg=str(number))


def test_a_surface_ends_where_its_array_ends():
    found, _ = run("textures.cu", True, "outside")
    assert {(one.kind, one.line) for one in found.findings} == expected("textures.cu")


def of_lines() -> list[np.ndarray]:
    """What volumes.cu prints, line by line."""
    lines, i = (np.arange(4 * W) * 13 % 17 - 5.0).reshape(4, 1, W), np.arange(60)
    x, middle, layer = (i - 20) * F(0.31), np.full(60, F(0.5)), np.clip(i % 6 - 1, 0, 3)
    said = [np.zeros(1)]
    for mode, filtered in product(("border", "wrap"), (False, True)):
        at = x if mode == "border" else (x / F(W)) * F(W)
        # A line has no rows above and below: their border does not come in.
        rows = [np.repeat(line, 3, 0) for line in lines]
        said.append(np.array([sampled(row, at, middle + 1, mode, filtered, 3) for row in rows])[layer, i])
    volume, padded = (np.arange(4 * H * W) * 29 % 31.0).reshape(4, H, W), np.zeros((4, H, W))
    padded[1:, : H - 1, 1 : W - 1] = volume[1:, 1:, 2:]
    z, y, x = np.indices(padded.shape)
    padded += 100 * z + 10 * y + x
    octets = padded.astype(F).view(np.int32)
    octets[: 4 - 1, : H - 1, : W - 2] = 0x01010101
    return [*said, np.array([1, 4 * W, H]), padded.ravel(), octets.astype(F).ravel()]


@pytest.mark.parametrize("checked", [False, True])
def test_layers_of_one_dimension_and_padded_volumes(compiler, checked):
    found, said = run("volumes.cu", checked)
    assert found.ok, found.findings
    for number, (line, values) in enumerate(zip(said.splitlines(), of_lines(), strict=True)):
        np.testing.assert_allclose(np.array(line.split(), float), values, rtol=1e-5, atol=1e-5, err_msg=str(number))


def test_a_padded_volume_ends_behind_its_last_row():
    found, _ = run("volumes.cu", True, "behind")
    assert {(one.kind, one.line) for one in found.findings} == expected("volumes.cu")
