"""cuComplex.h against NumPy's complex numbers, and the constants of math_constants.h."""

from math import e, inf, log, log2, pi, sqrt

import numpy as np

from tests.simulator.launching import blocks, both, launch

FILE = "values_complex.cu"


@both
def test_complex_numbers_and_constants(mode, compiler):
    for name, real in (("complex_floats", np.float32), ("complex_doubles", np.float64)):
        for n in (1, 97):
            a, b = np.random.default_rng(n).standard_normal((2, n, 2))
            a[-1] *= 1e15  # its square would still fit; its fourth power, in float, would not
            a, b = a.astype(real), b.astype(real)
            y = np.zeros((n, 2), real)
            launch(mode, FILE, name, blocks(n), (64,), (a, b, y, n))
            p, q = (v.astype(np.float64) @ [1, 1j] for v in (a, b))
            expected = (p * q / (p - q.conj()) + np.abs(p) + 1j * q.imag) * p.real + q
            np.testing.assert_allclose(y @ [1, 1j], expected, rtol=2e-5 if real == np.float32 else 1e-11)
    y, z = np.zeros(13, np.float32), np.zeros(13)
    launch(mode, FILE, "constants", (1,), (1,), (y, z))
    shared = [pi, pi / 2, sqrt(2), sqrt(0.5), log2(e), log(2), log(10), sqrt(2 / pi), 1 / 3, inf]
    np.testing.assert_array_equal(y, np.float32([*shared, np.finfo(np.float32).max, 2.0**-149, 2.0**126]))
    np.testing.assert_allclose(z, [*shared, sqrt(2 * pi), 5e-324, 2.0**-1022], rtol=3e-16)
