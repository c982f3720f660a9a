"""Mutants of chapter 03 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "stable_cross_entropy": {
        "largest = logits.max(axis=-1, keepdims=True)  # (n, 1) -> largest = logits.max(axis=1, keepdims=True)  # (n, 1)": "equivalent: the logits are a matrix, whose last axis is axis 1",
        "logsumexp = (largest + np.log(np.exp(logits - largest).sum(axis=-1, keepdims=True)))[:, 0]  # (n) -> logsumexp = (largest + np.log(np.exp(logits - largest).sum(axis=1, keepdims=True)))[:, 0]  # (n)": "equivalent: the logits are a matrix, whose last axis is axis 1",
    },
    "minimise": {
        "for _ in range(300): -> for _ in range(301):": "an open challenge: every way to the minimum is right, however long",
        "for _ in range(300): -> for _ in range(300 - 1):": "an open challenge: every way to the minimum is right, however long",
        "if np.abs(gradient).max() < 0.005 and np.abs(velocity).max() < 0.005: -> if False:": "an open challenge: every way to the minimum is right, however long",
        "if np.abs(gradient).max() < 0.005 and np.abs(velocity).max() < 0.005: -> if np.abs(gradient).max() <= 0.005 and np.abs(velocity).max() < 0.005:": "an open challenge: every way to the minimum is right, however long",
        "if np.abs(gradient).max() < 0.005 and np.abs(velocity).max() < 0.005: -> if np.abs(gradient).max() < 0.01 and np.abs(velocity).max() < 0.005:": "an open challenge: every way to the minimum is right, however long",
        "if np.abs(gradient).max() < 0.005 and np.abs(velocity).max() < 0.005: -> if np.abs(gradient).max() < 0.005 and np.abs(velocity).min() < 0.005:": "an open challenge: every way to the minimum is right, however long",
        "if np.abs(gradient).max() < 0.005 and np.abs(velocity).max() < 0.005: -> if np.abs(gradient).max() < 0.005 and np.abs(velocity).max() <= 0.005:": "an open challenge: every way to the minimum is right, however long",
        "if np.abs(gradient).max() < 0.005 and np.abs(velocity).max() < 0.005: -> if np.abs(gradient).max() < 0.005 and np.abs(velocity).max() < 0.01:": "an open challenge: every way to the minimum is right, however long",
        "velocity = 0.8 * velocity - 0.02 * gradient -> velocity = 0.8 * velocity - 0.04 * gradient": "an open challenge: every way to the minimum is right, however long",
    },
}
