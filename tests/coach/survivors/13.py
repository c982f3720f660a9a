"""Mutants of chapter 13 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "learn_merges": {
        "words = [(list(piece), often) for piece, often in pieces.items()] -> words = [(piece, often) for piece, often in pieces.items()]": "harmless: `merge` and the loop take bytes as they take a list",
        "counts[pair] = counts.get(pair, 0) + often -> counts[pair] = counts.get(pair, 1) + often": "equivalent: every pair has one more, so their order is the same",
    },
    "split_special": {
        "longest_first = sorted(special_tokens, key=len, reverse=True) -> longest_first = sorted(special_tokens, reverse=True)": "equivalent: in reverse alphabetical order too, a token stands before those that it begins with",
    },
    "fewest_tokens": {
        "best.append(min(found, key=len)) -> best.append(max(found, key=len))": "an open challenge: every split is right, however many tokens it has",
        "best.append(min(found, key=len)) -> best.append(min(found))": "an open challenge: every split is right, however many tokens it has",
    },
}
