"""Mutants of chapter 17 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "top_k_filter": {
        "least = np.sort(probabilities, -1)[..., -k, None]  # (R, 1) the k-th largest -> least = np.sort(probabilities, 1)[..., -k, None]  # (R, 1) the k-th largest": "equivalent: the probabilities are a matrix, whose last axis is axis 1",
    },
}
