"""kernels/linear_recurrence.cu and its twin in WGSL: what test_ops.py does not ask. Memory, order, compilers, counters."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.cuda import asarray, nvrtc, source
from course_lib.devices import ops
from course_lib.devices.gpu import recurrences
from tests.kernels.checking import assert_conflict_free, assert_op_repeats, reports_of
from tests.test_recurrences import NAMES, inputs

SIMULATOR = ops("simulator")


def run(name, **sizes):
    """A forward and a backward on the simulator: all their results."""
    given = [None if x is None else asarray(x) for x in inputs(name, dtype="float32", **sizes)]
    y, last, kept = getattr(SIMULATOR, f"{name}_forward")(*given)
    gradients = getattr(SIMULATOR, f"{name}_backward")(y, last, *given, kept)
    return [y, last, *(x for x in gradients if x is not None)]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_clean_on_ragged_sizes(name):
    """No race, nothing read that nobody wrote, nothing outside: a last chunk of 3 steps, 3 columns and 27 channels of a block."""
    reports = reports_of(lambda: run(name, B=1, H=1, T=19, D=27, E=35))
    assert [report.kernel.partition("<")[0] for report in reports] == [
        "recurrence_forward", "recurrence_backward_states", "recurrence_backward_chunks"
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_it_has_the_same_bits_in_every_order(name):
    assert_op_repeats(lambda: run(name, B=1, H=2, T=19, D=32, E=35), runs=2)


def test_a_pass_over_the_states_waits_for_no_bank():
    reports = reports_of(lambda: run("gated_delta", B=1, H=1, T=32, D=64, E=64))
    for report in reports[:2]:
        assert_conflict_free(report)


def test_every_16_steps_more_move_the_same_bytes_more():
    """The state stays in registers, but for the copies that a backward needs: work and traffic grow with T, not with T^2."""
    moved = []
    for T in (16, 32, 48):
        given = [asarray(x) for x in inputs("gated_delta", H=1, T=T, D=32, E=32, dtype="float32")]
        (report,) = reports_of(lambda given=given: SIMULATOR.gated_delta_forward(*given))
        moved.append(report.bytes_moved)
    assert moved[2] - moved[1] == moved[1] - moved[0] > 0


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed: pip install cupy-cuda13x nvidia-cuda-nvrtc")
@pytest.mark.parametrize(
    "architecture",
    ["sm_80", pytest.param("sm_75", marks=pytest.mark.slow), pytest.param("sm_90", marks=pytest.mark.slow)],
)
def test_nvidia_compiles_it(architecture):
    """Those of the delta rule at the head size of the presets; a card compiles the others by the same text."""
    text = source.find(source.KERNELS / recurrences.FILE)
    names = tuple(f"recurrence_{part}<1, 64>" for part in ("forward", "backward_states", "backward_chunks"))
    cubin, lowered = nvrtc.compile_text(text, names, architecture)
    assert cubin[:4] == b"\x7fELF" and set(lowered) == set(names)


def test_a_head_too_large_is_refused_in_a_sentence():
    q = asarray(np.zeros((1, 1, 1, 129), np.float32))
    with pytest.raises(ValueError, match="at most 128 numbers, but D is 129"):
        SIMULATOR.gated_linear_attention_forward(q, q, q, q, None)
