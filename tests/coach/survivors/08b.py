"""Mutants of chapter 08b that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "best_rectangle": {
        "for TM in range(1, sums + 1): -> for TM in range(1, sums - 1):": "equivalent: TM is at most the root of sums, and 1 is where it begins",
        "return best, sums // best -> return best, sums / best": "harmless: best divides sums, and 2.0 counts as 2",
    },
}
