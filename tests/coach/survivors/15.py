"""Mutants of chapter 15 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "learning_rate_schedule": {
        "return [10.0] * steps -> return [20.0] * steps": "an open challenge: other rates are right too",
    },
}
