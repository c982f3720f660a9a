"""Mutants of chapter 22b that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "share_budget": {
        "given = [0] * len(needed) -> given = [1] * len(needed)": "every entry is written, in one pass or the other",
    },
}
