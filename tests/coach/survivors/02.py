"""Mutants of chapter 02 that may pass, and why: see course_lib/coach/mutation.py."""

SURVIVORS = {
    "local_gradients": {
        "first = 0.5 if a == b else float(a > b) -> first = 0.5 if a == b else a > b": "harmless: True and False count as 1 and 0",
        "first = 0.5 if a == b else float(a > b) -> first = 0.5 if a == b else float(a >= b)": "equivalent: a is not b here",
    },
    "choose_checkpoints": {
        "best, least = [], sum(sizes) + 1 -> best, least = [], sum(sizes) - 1": "an open challenge: every choice within the bound is right, however good",
        "best, least = [], sum(sizes) + 1 -> best, least = [], sum(sizes) + 0": "an open challenge: every choice within the bound is right, however good",
        "for every in range(1, len(sizes) + 1):  # keep every second, every third, ... -> for every in range(1, len(sizes) - 1):  # keep every second, every third, ...": "an open challenge: every choice within the bound is right, however good",
        "for every in range(1, len(sizes) + 1):  # keep every second, every third, ... -> for every in range(1, len(sizes) + 0):  # keep every second, every third, ...": "an open challenge: every choice within the bound is right, however good",
        "for every in range(1, len(sizes) + 1):  # keep every second, every third, ... -> for every in range(1, len(sizes) + 1 - 1):  # keep every second, every third, ...": "an open challenge: every choice within the bound is right, however good",
        "kept = list(range(every - 1, len(sizes), every)) -> kept = range(every - 1, len(sizes), every)": "an open challenge: every choice within the bound is right, however good",
        "kept = list(range(every - 1, len(sizes), every)) -> kept = list(range(every + 1, len(sizes), every))": "an open challenge: every choice within the bound is right, however good",
        "kept = list(range(every - 1, len(sizes), every)) -> kept = list(range(every - 0, len(sizes), every))": "an open challenge: every choice within the bound is right, however good",
        "kept = list(range(every - 1, len(sizes), every)) -> kept = list(range(every - 1, len(sizes) - 1, every))": "an open challenge: every choice within the bound is right, however good",
        "longest = max(sum(sizes[place : place + every - 1]) for place in range(0, len(sizes), every)) -> longest = max(sum(sizes[place : place + every + 1]) for place in range(0, len(sizes), every))": "an open challenge: every choice within the bound is right, however good",
        "longest = max(sum(sizes[place : place + every - 1]) for place in range(0, len(sizes), every)) -> longest = max(sum(sizes[place : place + every - 0]) for place in range(0, len(sizes), every))": "an open challenge: every choice within the bound is right, however good",
        "if room < least: -> if room <= least:": "an open challenge: every choice within the bound is right, however good",
    },
}
