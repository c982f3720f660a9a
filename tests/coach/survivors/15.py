"""Mutants of chapter 15 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "clip_gradients": {
        "factor = max_norm / norm if norm > max_norm else 1.0 -> factor = max_norm / norm if norm >= max_norm else 1.0": "equivalent: where both are equal the factor is 1 either way",
    },
    "warmup_linear": {
        "progress = min((step - warmup) / max(steps - warmup, 1), 1.0) -> progress = min((step - warmup) / max(steps - warmup, 0), 1.0)": "harmless: it divides by 0 only beyond the end of a run that is all warm-up, of which the task says nothing",
    },
    "mean_loss": {
        "return float(sum(sums)) / self.scored -> return sum(sums) / self.scored": "harmless: NumPy's float64 is a float",
    },
    "gradient_accumulation": {
        "scored = [int((targets != IGNORE).sum()) for _, targets in parts] -> scored = [(targets != IGNORE).sum() for _, targets in parts]": "harmless: NumPy's integers divide as Python's do",
    },
    "learning_rate_schedule": {
        "return [10.0] * steps -> return [20.0] * steps": "an open challenge: other rates are right too",
    },
}
