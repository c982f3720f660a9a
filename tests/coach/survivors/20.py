"""Mutants of chapter 20 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "answer_log_probabilities": {
        "picked = np.take_along_axis(logits, np.where(scored, targets, 0)[..., None], -1)  # (B, T, 1) -> "
        "picked = np.take_along_axis(logits, np.where(scored, targets, 1)[..., None], -1)  # (B, T, 1)": "what is picked where nothing is scored is dropped, and every vocabulary has two tokens",
        "return np.where(scored, (picked - total)[..., 0], 0.0).sum(-1) -> "
        "return np.where(scored, (picked - total)[..., 0], 0.0).sum(1)": "the array has two axes, so the last one is axis 1",
    },
}
