"""What products multiply in is held by each device, for as long as a `with` block lasts."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib import devices
from course_lib.cuda import asarray
from course_lib.devices.gpu import precision
from course_lib.devices.gpu.launching import counting
from tests.kernels.checking import normal


def products() -> dict[str, int]:
    """The launches of a linear layer on the simulator, by the file of the kernel."""
    x, weight = asarray(normal(3, 5)), asarray(normal(4, 5))  # (n, K), (N, K)
    with counting() as launches:
        y = devices.ops("simulator").linear_forward(x, weight, None)
    assert y.dtype == np.float32
    return {name.partition(" ")[0]: count for name, count in launches.items()}


def test_bfloat16_on_one_device_leaves_another_in_float32():
    with devices.computing("cuda", "bfloat16"):
        assert products() == {"gemm.cu": 1}
    with devices.computing("simulator", "bfloat16"):
        assert products() == {"cast.cu": 2, "gemm_bf16.cu": 1}
    assert products() == {"gemm.cu": 1}


def test_the_precision_comes_back_after_an_error_and_what_was_saved_is_forgotten():
    held, copies = precision.Precision(), precision.Copies([])
    x = asarray(normal(3, 5))
    with pytest.raises(KeyError), held.computing("bfloat16", copies, backward=True):
        assert held.saved_cast(x) is not (saved := held.cast_and_save(x))
        assert held.saved_cast(x) is saved
        assert held.saved_cast(x) is not saved, "a saved copy is given once"
        held.cast_and_save(x)
        raise KeyError
    assert (held.compute, held.copies, held.backward) == ("float32", None, False)
    assert copies.taken(x) is None
