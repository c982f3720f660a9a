"""kernels/cross_entropy.cu and kernels/cross_entropy_backward.cu against the reference in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.cuda import Kernel, asarray
from course_lib.devices import ops
from course_lib.devices.gpu import loss as device_loss
from tests.kernels.checking import (
    assert_bytes,
    assert_close,
    assert_coalesced,
    assert_op_repeats,
    new,
    normal,
    reports_of,
)

REFERENCE, SIMULATOR = ops("reference"), ops("simulator")
SIZES = [(1, 1), (1, 37), (3, 255), (3, 256), (3, 257), (37, 2), (33, 1025), (130, 65)]


def draw(n, V, ignored=0.3, kind="int64", seed=0):
    random = np.random.default_rng(seed + n + V)
    targets = np.where(random.random(n) < ignored, -1, random.integers(0, V, n)).astype(kind)
    targets[0] = V - 1  # one at least counts
    return normal(n, V, seed=seed, deviation=3.0), asarray(targets), asarray(np.array(1.7, np.float32))


def expected(logits, targets, dloss):
    """loss, logsumexp, dlogits in float64."""
    logits = logits.astype(np.float64)
    loss, logsumexp = REFERENCE.cross_entropy_forward(logits, targets)
    return loss, logsumexp, REFERENCE.cross_entropy_backward(np.float64(dloss), logits, targets, logsumexp)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize(("n", "V"), SIZES)
def test_cross_entropy_agrees_with_float64(n, V, kind):
    logits, targets, dloss = draw(n, V, kind=kind)
    loss, logsumexp, dlogits = expected(logits, targets, dloss)
    got, kept = SIMULATOR.cross_entropy_forward(logits, targets)
    assert_close(got, loss)
    assert_close(kept, logsumexp)
    assert_close(SIMULATOR.cross_entropy_backward(dloss, logits, targets, kept), dlogits)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(("n", "V"), SIZES)
def test_loss_and_gradient_in_one_pass(n, V, in_place):
    logits, targets, dloss = draw(n, V, kind="int32")
    loss, _, dlogits = expected(logits, targets, dloss)
    before = logits.copy()
    got, gradient = device_loss.cross_entropy_fused(dloss, logits, targets, in_place=in_place)
    assert_close(got, loss)
    assert_close(gradient, dlogits)
    assert (gradient is logits) == in_place
    assert in_place or (logits == before).all()


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize(("n", "V"), [*SIZES, (257, 3)])
def test_the_loss_from_a_logsumexp_that_is_known(n, V, kind):
    logits, targets, _ = draw(n, V, kind=kind)
    loss, logsumexp, _ = expected(logits, targets, 1.0)
    known = asarray(logsumexp.astype(np.float32))
    assert_close(device_loss.cross_entropy_of_logsumexp(logits, known, targets), loss)
    reports = reports_of(lambda: device_loss.cross_entropy_of_logsumexp(logits, known, targets))
    read = [line for line in reports[0].lines if (line.space, line.op) == ("global", "read")]
    assert sum(line.bytes_requested for line in read) <= n * (8 + targets.itemsize), "one logit of each row is enough"
    assert_op_repeats(lambda: [device_loss.cross_entropy_of_logsumexp(logits, known, targets)])


@given(st.integers(1, 9), st.integers(1, 600), st.sampled_from([8, 32]), st.integers(0, 99))
def test_any_vocabulary_and_either_number_of_lanes(n, V, lanes, seed):
    logits, targets, _ = draw(n, V, seed=seed)
    losses, logsumexp = new(n), new(n)
    kernel = Kernel("cross_entropy.cu", f"cross_entropy_forward<long long, {lanes}>")
    kernel((-(-n * lanes // 256),), (256,), (logits, targets, losses, logsumexp, n, V, -1))
    _, wanted, _ = expected(logits, targets, 1.0)
    assert_close(logsumexp, wanted)
    rows = np.arange(n)
    assert_close(losses, np.where(targets == -1, 0.0, wanted - logits[rows, targets]), what="losses")


def test_logits_that_are_hidden_count_for_nothing():
    """A logit of -inf has probability 0, in the first piece that a lane reads and in later ones."""
    logits, targets, dloss = draw(4, 700, ignored=0.0)
    logits[:, :650] = -np.inf
    loss, logsumexp, dlogits = expected(logits, targets, dloss)
    got, kept = SIMULATOR.cross_entropy_forward(logits, targets)
    assert_close(got, loss)
    assert_close(kept, logsumexp)
    assert_close(SIMULATOR.cross_entropy_backward(dloss, logits, targets, kept), dlogits)


def test_no_target_counts():
    logits, targets, dloss = draw(5, 7)
    targets[...] = -1
    loss, logsumexp = SIMULATOR.cross_entropy_forward(logits, targets)
    assert np.isnan(loss)
    assert (SIMULATOR.cross_entropy_backward(dloss, logits, targets, logsumexp) == 0).all()
    assert np.isnan(device_loss.cross_entropy_fused(dloss, logits, targets)[0])


def test_cross_entropy_is_clean_and_repeats_itself():
    logits, targets, dloss = draw(21, 300)
    _, logsumexp = SIMULATOR.cross_entropy_forward(logits, targets)
    runs = [
        lambda: SIMULATOR.cross_entropy_forward(logits, targets),
        lambda: [SIMULATOR.cross_entropy_backward(dloss, logits, targets, logsumexp)],
        lambda: device_loss.cross_entropy_fused(dloss, logits, targets),
        lambda: device_loss.cross_entropy_fused(dloss, asarray(logits.copy()), targets, in_place=True),
    ]
    for run in runs:
        reports_of(run)
        assert_op_repeats(run)


def test_the_logits_are_read_once_and_the_probabilities_never_stored():
    n, V = 32, 1024
    logits, targets, dloss = draw(n, V, ignored=0.0)  # an ignored row is not read a second time
    forward = reports_of(lambda: SIMULATOR.cross_entropy_forward(logits, targets))[0]
    assert (
        max(forward.lines, key=lambda line: line.bytes_moved).sectors_per_request == 4
    )  # the row; not the target's logit
    assert_bytes(forward, 4 * n * V, most=1.05)
    fused = reports_of(lambda: device_loss.cross_entropy_fused(dloss, logits, targets))[1]
    assert_bytes(fused, 12 * n * V, most=1.05)
    assert sum(x.bytes_moved for x in fused.lines if (x.space, x.op) == ("global", "write")) <= 1.05 * 4 * n * V
    _, logsumexp = SIMULATOR.cross_entropy_forward(logits, targets)
    backward = reports_of(lambda: SIMULATOR.cross_entropy_backward(dloss, logits, targets, logsumexp))[1]
    assert_coalesced(backward)
    a_warp_reads = 4 * 32 * n * V // 32  # a sector each of dloss, kept, target and logsumexp, which a cache serves
    assert_bytes(backward, 8 * n * V + a_warp_reads, most=1.05)


@pytest.mark.peers
@pytest.mark.parametrize(("n", "V"), SIZES)
def test_cross_entropy_agrees_with_pytorch(n, V):
    import torch

    logits, targets, _ = draw(n, V)
    x = torch.tensor(logits.copy(), requires_grad=True)
    loss = torch.nn.functional.cross_entropy(x, torch.tensor(targets.copy()), ignore_index=-1)
    loss.backward()
    got, gradient = device_loss.cross_entropy_fused(asarray(np.array(1, np.float32)), logits, targets)
    assert_close(got, loss.detach().numpy().astype(np.float64))
    assert_close(gradient, x.grad.numpy().astype(np.float64))
