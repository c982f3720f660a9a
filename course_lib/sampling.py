"""From logits to a token: temperature, top-k, top-p, a draw. Plain NumPy, one small function for each.

Letters: V vocabulary, R rows (one for each text that is being written).
"""

import numpy as np


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Probabilities (R, V), float64, of logits (R, V) divided by `temperature`; at 0 all on the largest logit."""
    logits = np.asarray(logits, np.float64)
    if temperature == 0:
        return np.eye(logits.shape[-1])[logits.argmax(-1)]  # the first, where several are equal
    scaled = (logits - logits.max(-1, keepdims=True)) / temperature  # the maximum first: no overflow however cold
    raised = np.exp(scaled)
    return raised / raised.sum(-1, keepdims=True)


def top_k_filter(probabilities: np.ndarray, k: int) -> np.ndarray:
    """Only the k most likely tokens of each row of (R, V), renormalised; those equal to the k-th stay too. (Fan et al. 2018)"""
    k = min(k, probabilities.shape[-1])
    least = np.sort(probabilities, -1)[..., -k, None]  # (R, 1) the k-th largest
    kept = np.where(probabilities >= least, probabilities, 0.0)
    return kept / kept.sum(-1, keepdims=True)


def top_p_filter(probabilities: np.ndarray, p: float) -> np.ndarray:
    """Only the most likely tokens of each row of (R, V) that together reach p, renormalised. (Holtzman et al. 2020)"""
    order = np.argsort(-probabilities, -1, kind="stable")
    sorted_ = np.take_along_axis(probabilities, order, -1)
    before = np.cumsum(sorted_, -1) - sorted_  # what the more likely ones sum to already
    kept = np.where(before < p, sorted_, 0.0)  # so at least one stays
    filtered = np.empty_like(probabilities)
    np.put_along_axis(filtered, order, kept, -1)
    return filtered / filtered.sum(-1, keepdims=True)


def draw(probabilities: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """One token per row: the first whose cumulative probability exceeds `uniform` (R,), numbers in [0, 1)."""
    cumulative = np.cumsum(probabilities, -1)  # (R, V)
    total = cumulative[:, -1:]  # (R, 1) one, up to rounding
    return ((cumulative <= uniform[:, None] * total) & (cumulative < total)).sum(-1)
