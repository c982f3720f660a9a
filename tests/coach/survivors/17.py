"""Mutants of chapter 17 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "likeliest_pair": {
        "best = (0.0, 0, 0) -> best = (0.0, 1, 0)": "equivalent: the first text that is possible at all takes its place",
        "best = (0.0, 0, 0) -> best = (0.0, 0, 1)": "equivalent: the first text that is possible at all takes its place",
    },
    "top_k_filter": {
        "k = min(k, probabilities.shape[-1]) -> k = min(k, probabilities.shape[1])": "equivalent: the probabilities are a matrix, whose last axis is axis 1",
        "least = np.sort(probabilities, -1)[..., -k, None]  # (R, 1) the k-th largest -> least = np.sort(probabilities, 1)[..., -k, None]  # (R, 1) the k-th largest": "equivalent: the probabilities are a matrix, whose last axis is axis 1",
        "return kept / kept.sum(-1, keepdims=True) -> return kept / kept.sum(1, keepdims=True)": "equivalent: the probabilities are a matrix, whose last axis is axis 1",
    },
    "sample_tokens": {
        "cumulative = np.cumsum(probabilities, -1)  # (R, V) -> cumulative = np.cumsum(probabilities, 1)  # (R, V)": "equivalent: the probabilities are a matrix, whose last axis is axis 1",
        "return ((cumulative <= uniform[:, None] * total) & (cumulative < total)).sum(-1) -> return ((cumulative <= uniform[:, None] * total) & (cumulative <= total)).sum(-1)": "equivalent: the number is below 1, so a prefix sum that it reaches is below the total",
        "return ((cumulative <= uniform[:, None] * total) & (cumulative < total)).sum(-1) -> return ((cumulative <= uniform[:, None] * total) & (cumulative < total)).sum(1)": "equivalent: the probabilities are a matrix, whose last axis is axis 1",
    },
    "softmax_temperature": {
        "logits = np.asarray(logits, np.float64) -> logits = np.asarray(logits, np.float32)": "harmless: the task asks for no type; the shared cases hold for float32 too",
        "return np.eye(logits.shape[-1])[logits.argmax(-1)]  # the first, where several are equal -> return np.eye(logits.shape[1])[logits.argmax(-1)]  # the first, where several are equal": "equivalent: the logits are a matrix, whose last axis is axis 1",
        "return np.eye(logits.shape[-1])[logits.argmax(-1)]  # the first, where several are equal -> return np.eye(logits.shape[-1])[logits.argmax(1)]  # the first, where several are equal": "equivalent: the logits are a matrix, whose last axis is axis 1",
        "scaled = (logits - logits.max(-1, keepdims=True)) / temperature  # the maximum first: no overflow however cold -> scaled = (logits - logits.max(1, keepdims=True)) / temperature  # the maximum first: no overflow however cold": "equivalent: the logits are a matrix, whose last axis is axis 1",
        "return raised / raised.sum(-1, keepdims=True) -> return raised / raised.sum(1, keepdims=True)": "equivalent: the logits are a matrix, whose last axis is axis 1",
    },
    "top_p_filter": {
        'order = np.argsort(-probabilities, -1, kind="stable") -> order = np.argsort(-probabilities, 1, kind="stable")': "equivalent: the probabilities are a matrix, whose last axis is axis 1",
        'order = np.argsort(-probabilities, -1, kind="stable") -> order = np.argsort(-probabilities, -1)': "equivalent: the probabilities are a matrix, whose last axis is axis 1",
        "sorted_ = np.take_along_axis(probabilities, order, -1) -> sorted_ = np.take_along_axis(probabilities, order, 1)": "equivalent: the probabilities are a matrix, whose last axis is axis 1",
        "before = np.cumsum(sorted_, -1) - sorted_  # what the more likely ones sum to already -> before = np.cumsum(sorted_, 1) - sorted_  # what the more likely ones sum to already": "equivalent: the probabilities are a matrix, whose last axis is axis 1",
        "np.put_along_axis(filtered, order, kept, -1) -> np.put_along_axis(filtered, order, kept, 1)": "equivalent: the probabilities are a matrix, whose last axis is axis 1",
        "return filtered / filtered.sum(-1, keepdims=True) -> return filtered / filtered.sum(1, keepdims=True)": "equivalent: the probabilities are a matrix, whose last axis is axis 1",
    },
    "most_likely_text": {
        "tokens.append(int(probabilities(tokens).argmax())) -> tokens.append(probabilities(tokens).argmax())": "harmless: NumPy's integers are tokens too",
    },
}
