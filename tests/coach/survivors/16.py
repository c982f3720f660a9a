"""Mutants of chapter 16 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "ngram_model": {
        "counts[character][following] += 1 -> counts[character][following] += 0": "an open challenge: all probabilities that sum to 1 are right, however good",
        "found = counts[before[-1:] or characters[0]] -> found = counts[before[-1:] or characters[1]]": "an open challenge: all probabilities that sum to 1 are right, however good",
    },
}
