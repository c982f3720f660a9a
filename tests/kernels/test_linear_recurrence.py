"""kernels/linear_recurrence*.cu and their twin in WGSL: what test_ops.py does not ask. Memory, order, compilers, counters.

On tensor cores what is multiplied with a state is rounded to bfloat16 (2^-9 each), the state itself is not.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from course_lib.cuda import asarray, nvrtc, source
from course_lib.devices import computing, ops
from course_lib.devices.agreement import NAMES, inputs
from course_lib.devices.gpu import attention_tiles, recurrences
from tests.kernels.checking import assert_close, assert_conflict_free, assert_op_repeats, reports_of
from tests.nvrtc_here import needs_nvrtc

SIMULATOR = ops("simulator")
CUDA_CORES = ("recurrence_forward", "recurrence_backward_states", "recurrence_backward_chunks")
TENSOR_CORES = ("recurrence_bf16_forward",)
KINDS = (recurrences.LINEAR, recurrences.DELTA, recurrences.STATE_SPACE)  # in the order of NAMES


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


@pytest.mark.parametrize("T", [256, pytest.param(4096, marks=pytest.mark.slow)])
def test_bytes_follow_the_formulas_of_chapter_23(T):
    """A tile of queries reads all keys and values up to its own last one; the recurrence reads each once, and writes a state for
    each chunk. One head of 32 numbers."""
    tile, _, _ = attention_tiles.flash(False, 32)
    given = [asarray(x) for x in inputs("gated_delta", H=1, T=T, D=32, E=32, dtype="float32", carried=False)[:-1]]
    q, k, v = (x.reshape(1, T, 1, 32) for x in given[:3])  # (B, T, H, D) each
    (attention,) = reports_of(lambda: SIMULATOR.attention_forward(q, k, v, True))
    (recurrence,) = reports_of(lambda: SIMULATOR.gated_delta_forward(*given, None))
    tiles = T // tile.rows
    assert attention.bytes_moved == 4 * 32 * (2 * T + tile.rows * tiles * (tiles + 1)) + 4 * T
    assert recurrence.bytes_moved == 4 * (T * (6 * 32 + 1) + (T // 16 + 1) * 32 * 32)
    if T == 4096:
        assert (attention.bytes_moved, recurrence.bytes_moved) == (35_143_680, 4_214_784)  # as the chapter prints them


def on_tensor_cores(run):
    with computing("simulator", "bfloat16"):
        return run()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "sizes", [{"T": 37, "D": 27, "E": 67}, {"T": 16, "D": 64, "E": 64, "carried": False}], ids=["ragged", "whole"]
)
def test_tensor_cores_agree_with_float64(name, sizes):
    """Clean, too; and the gradients, which are computed from the states and errors that it kept."""
    plain = inputs(name, B=1, H=2, dtype="float32", **sizes)
    wide = [None if x is None else x.astype(float) for x in plain]
    reference = ops("reference")
    y, last, kept = getattr(reference, f"{name}_forward")(*wide)
    want = [y, last, *getattr(reference, f"{name}_backward")(y, last, *wide, kept)]
    got = []

    def forward():
        got.extend(getattr(SIMULATOR, f"{name}_forward")(*(None if x is None else asarray(x) for x in plain)))

    (report,) = on_tensor_cores(lambda: reports_of(forward))
    assert report.kernel.startswith("recurrence_bf16_forward")
    given = [None if x is None else asarray(x) for x in plain]
    upstream = asarray(y.astype(np.float32)), asarray(last.astype(np.float32))
    got[2:] = getattr(SIMULATOR, f"{name}_backward")(*upstream, *given, got[2])
    for number, (one, other) in enumerate(zip(got, want, strict=True)):
        if other is not None:
            assert_close(np.asarray(one), other, 2**-6, f"result {number}")
            error = np.sqrt(np.mean((one - other) ** 2) / np.mean(other**2))
            assert error < 2**-7, f"result {number}: {error:.2g} on average"


def test_tensor_cores_have_the_same_bits_in_every_order():
    given = [asarray(x) for x in inputs("gated_delta", B=1, H=2, T=19, D=32, E=35, dtype="float32")]
    forward = SIMULATOR.gated_delta_forward
    assert_op_repeats(lambda: on_tensor_cores(lambda: flat(forward(*given))), runs=2)


def flat(results):
    y, last, (states, errors) = results
    return y, last, states, errors


def test_tensor_cores_wait_for_shared_memory_a_quarter_of_the_time():
    """A fragment of the state meets a whole chunk in one instruction; on CUDA cores each number is loaded for each column."""
    given, wavefronts, moved = (
        [asarray(x) for x in inputs("gated_delta", B=1, H=1, T=32, D=64, E=64, dtype="float32")],
        {},
        {},
    )
    for kind in ("float32", "bfloat16"):
        with computing("simulator", kind):
            (report,) = reports_of(lambda: SIMULATOR.gated_delta_forward(*given))
        shared = [line for line in report.lines if line.space == "shared"]
        wavefronts[kind] = sum(line.requests * line.wavefronts_per_request for line in shared)
        moved[kind] = report.bytes_moved
    assert wavefronts["bfloat16"] < wavefronts["float32"] / 4
    assert moved["bfloat16"] < moved["float32"]  # a block has 64 columns, not 32: q, k and g are read once, not twice


@pytest.mark.parametrize(("T", "D", "stem"), [(2, 64, "recurrence_bf16"), (1, 64, "recurrence"), (2, 65, "recurrence")])
def test_one_step_and_wide_heads_stay_on_cuda_cores(T, D, stem, monkeypatch):
    asked = []
    monkeypatch.setattr(recurrences, "kernel", lambda file, name: asked.append(name) or (lambda *launch: None))
    given = [asarray(x) for x in inputs("gated_delta", H=1, T=T, D=D, E=4, dtype="float32")]
    on_tensor_cores(lambda: SIMULATOR.gated_delta_forward(*given))
    assert asked == [f"{stem}_forward<1, {64 if D == 64 else 128}>"]


def compiled_instances():
    """Every instance that a launch asks for, on every architecture; all but one kind at one size of head take long together."""
    for file, parts, largest in ((recurrences.FILE, CUDA_CORES, 128), (recurrences.TENSOR_FILE, TENSOR_CORES, 64)):
        for architecture in nvrtc.ARCHITECTURES[file == recurrences.TENSOR_FILE :]:  # mma of bfloat16 needs sm_80
            for kind, D in product(KINDS, (size for size in attention_tiles.FLASH_FORWARD if size <= largest)):
                quick = (architecture, kind, D) == ("sm_80", recurrences.DELTA, 64)
                marks = [] if quick else [pytest.mark.slow]
                yield pytest.param(architecture, file, [f"{part}<{kind}, {D}>" for part in parts], marks=marks)


@needs_nvrtc
@pytest.mark.parametrize(("architecture", "file", "names"), list(compiled_instances()))
def test_nvidia_compiles_it(architecture, file, names):
    cubin, lowered = nvrtc.compile_text(source.find(source.KERNELS / file), names, architecture)
    assert cubin[:4] == b"\x7fELF" and set(lowered) == set(names)


@pytest.mark.parametrize("name", NAMES)
def test_only_what_was_compiled_is_launched(name, monkeypatch):
    """Forward and backward, of heads of every size that is taken, on CUDA cores and on tensor cores."""
    asked, sizes = set(), (1, 31, 32, 33, 63, 64, 65, 128)
    monkeypatch.setattr(recurrences, "kernel", lambda file, name: asked.add((file, name)) or (lambda *launch: None))
    for D, cores in product(sizes, (lambda run: run(), on_tensor_cores)):
        cores(lambda D=D: run(name, B=1, H=1, T=2, D=D, E=3))
    compiled = {(file, one) for _, file, names in (param.values for param in compiled_instances()) for one in names}
    kind = NAMES.index(name)
    assert asked == {one for one in compiled if f"<{kind}," in one[1]}


def test_a_head_too_large_is_refused_in_a_sentence():
    q = asarray(np.zeros((1, 1, 1, 129), np.float32))
    with pytest.raises(ValueError, match="at most 128 numbers, but D is 129"):
        SIMULATOR.gated_linear_attention_forward(q, q, q, q, None)
