"""A model as a policy: how likely its own tokens are, how sure it is, and the losses of policy gradients.

Letters: B texts, T tokens, V vocabulary, n = B T rows. A credit is how much better than expected a token turned out to be;
its estimate is what the methods differ in (reward.py).
"""

import numpy as np

from course_lib.functional import maximum
from course_lib.tensor import Tensor, tensor_from_array
from course_lib.tensor.recording import record


def logsumexp(logits: Tensor) -> Tensor:
    """log of the sum of exp over each row of (n, V) -> (n,)."""
    ops, a = logits.ops, logits.array()
    nobody = ops.from_numpy(np.full(logits.shape[0], -1, np.int64))
    _, y = ops.cross_entropy_forward(a, nobody, -1)

    def backward(dy):
        return (ops.multiply(ops.softmax_forward(a), ops.view(dy, (logits.shape[0], 1), 0)),)

    return record("logsumexp", (logits,), y, backward, saved=(logits,))


def log_probabilities(logits: Tensor, tokens) -> Tensor:
    """log P(token) of each row: logits (n, V), tokens (n,) -> (n,) in nats; a token of -1 stands for any, and is not used."""
    rows, v = logits.shape
    picks = np.arange(rows) * v + np.maximum(np.asarray(tokens).reshape(-1), 0)  # (n,)
    return logits.reshape(rows * v)[picks] - logsumexp(logits)


def entropy(logits: Tensor) -> Tensor:
    """How unsure each row is: logits (n, V) -> -sum p log p, (n,) in nats."""
    ops = logits.ops
    log_p = logits.detach() - logsumexp(logits.detach()).reshape(-1, 1)  # (n, V)
    p = log_p.exp()
    y = -(p * log_p).sum(axis=-1)  # (n,)

    def backward(dy):  # dH / dlogit = -p (log p + H)
        slope = -(p * (log_p + y.reshape(-1, 1)))
        return ((slope * tensor_from_array(dy, ops).reshape(-1, 1)).array(),)

    return record("entropy", (logits,), y.array(), backward, saved=(logits,))


def policy_gradient(log_p: Tensor, credit: np.ndarray) -> Tensor:
    """The loss whose gradient is REINFORCE's: -mean over tokens of credit log P(token). (Williams 1992)

    log_p (n,); credit (n,), nan where there is no token."""
    counted = np.isfinite(credit)
    return -_mean(log_p * _like(log_p, np.where(counted, credit, 0.0)), counted)


def clipped(log_p: Tensor, before: np.ndarray, credit: np.ndarray, clip: float = 0.2) -> Tensor:
    """PPO's loss: the ratio of P(token) now to what it was when it was written, its gain cut off at 1 +- clip.

    (Schulman et al. 2017, eq. 7)  log_p (n,), before (n,) and credit (n,), nan where there is no token."""
    counted = np.isfinite(credit)
    gain = _like(log_p, np.where(counted, credit, 0.0))  # (n,)
    ratio = (log_p - _like(log_p, np.where(counted, before, 0.0))).exp()  # (n,)
    within = -maximum(-maximum(ratio, 1 - clip), -(1 + clip))  # clamp(ratio, 1 - clip, 1 + clip)
    worse = -maximum(-(ratio * gain), -(within * gain))  # the smaller of the two
    return -_mean(worse, counted)


def kl_to_start(log_p: Tensor, start: np.ndarray, counted: np.ndarray) -> Tensor:
    """Mean over tokens of exp(d) - d - 1 with d = log P_start - log P: its mean is KL(now || start), and it is never
    negative. (Schulman 2020, "Approximating KL divergence", k3; as in GRPO: Shao et al. 2024, eq. 4)

    log_p (n,); start (n,): log-probabilities of the same tokens by the model that it began from; counted (n,) bool."""
    d = _like(log_p, np.where(counted, start, log_p.numpy())) - log_p  # (n,)
    return _mean(d.exp() - d - 1.0, counted)


def _like(x: Tensor, values: np.ndarray) -> Tensor:
    """Values as a tensor of the device and dtype of another."""
    return Tensor(values, x.dtype, x.device)


def _mean(x: Tensor, counted: np.ndarray) -> Tensor:
    """The mean over the rows that count."""
    return (x * _like(x, counted / max(int(counted.sum()), 1))).sum()
