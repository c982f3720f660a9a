"""Mutants of chapter 14 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "causal_mask": {
        "return np.where(np.tri(T, S, S - T, dtype=bool), scores, -np.inf)  # (..., T, S) -> return np.where(np.tri(T, S, S - T), scores, -np.inf)  # (..., T, S)": "harmless: np.where takes 1.0 for True",
    },
    "head_attention": {
        "e = np.exp(scores - scores.max(axis=-1, keepdims=True)) -> e = np.exp(scores - scores.max(axis=1, keepdims=True))": "equivalent: the scores are a matrix, whose last axis is axis 1",
        "return e / e.sum(axis=-1, keepdims=True) @ v  # (T, S) @ (S, D) -> (T, D) -> return e / e.sum(axis=1, keepdims=True) @ v  # (T, S) @ (S, D) -> (T, D)": "equivalent: the scores are a matrix, whose last axis is axis 1",
    },
    "attention_forward": {
        "k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)  # (B, S, H, D) -> k, v = np.repeat(k, H / G, axis=2), np.repeat(v, H // G, axis=2)  # (B, S, H, D)": "harmless: H / G is whole, and np.repeat takes 2.0 for 2",
        "k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H // G, axis=2)  # (B, S, H, D) -> k, v = np.repeat(k, H // G, axis=2), np.repeat(v, H / G, axis=2)  # (B, S, H, D)": "harmless: H / G is whole, and np.repeat takes 2.0 for 2",
        "scores = q @ k.swapaxes(-1, -2) / D**0.5  # (B, H, T, S) -> scores = q @ k.swapaxes(-1, 2) / D**0.5  # (B, H, T, S)": "equivalent: of four axes the last but one is axis 2",
    },
}
