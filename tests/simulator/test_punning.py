"""Bytes that are used under two types keep their values: without -fno-strict-aliasing g++ computes others, silently."""

import numpy as np
import pytest

from tests.simulator.launching import blocks, both, launch

FILE = "values_punning.cu"
REFERENCES = {  # of x and y, each (n, 4) float32
    "axpy_in_int4": lambda x, y: 2 * x + y,
    "sign_through_unsigned": lambda x, y: 1 - x,
    "array_through_pack": lambda x, y: 10 * x,
    "halves_exchanged": lambda x, y: upper_halves_exchanged(x),
    "halves_in_unsigned": lambda x, y: x.astype(np.float16).astype(np.float32),
    "floats_in_double": lambda x, y: x[:, [1, 2, 3, 2]],
    "shared_under_two_types": lambda x, y: x[:, ::-1],
    "global_under_two_types": lambda x, y: x,
}


def upper_halves_exchanged(x):
    words = x.view(np.uint32)
    partner = words[:, [1, 0, 3, 2]]
    return (words & 0xFFFF | partner & 0xFFFF0000).view(np.float32)


@both
@pytest.mark.parametrize("name", REFERENCES)
def test_bytes_under_two_types(name, mode, compiler):
    random = np.random.default_rng(3)
    for n in (1, 33, 100):
        x, y = random.normal(size=(2, n, 4)).astype(np.float32)
        expected = REFERENCES[name](x, y)
        launch(mode, FILE, name, blocks(n), (64,), (x, y, n))
        np.testing.assert_array_equal(y, expected)
