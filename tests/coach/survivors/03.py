"""Mutants of chapter 03 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "stable_cross_entropy": {
        "logsumexp = (largest + np.log(np.exp(logits - largest).sum(axis=-1, keepdims=True)))[:, 0]  # (n) -> logsumexp = (largest + np.log(np.exp(logits - largest).sum(axis=1, keepdims=True)))[:, 0]  # (n)": "equivalent: the logits are a matrix, whose last axis is axis 1",
    },
}
