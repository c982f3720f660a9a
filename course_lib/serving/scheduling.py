"""Who is next, and how many tokens each text computes in a step: plain numbers, no model. (Yu et al. 2022, "Orca", section 4)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def share_budget(needed: Sequence[int], budget: int) -> list[int]:
    """How many tokens each running text computes in a step that computes `budget` at most.

    needed: the tokens that each still has to compute, the oldest text first: 1 for one that is being written, more for one whose
    prompt is being read. Those that need one get it first, since their readers are waiting for the next word; the rest goes to
    the prompts, the oldest first. (Agrawal et al. 2023, "SARATHI", section 4: chunked prefills)
    """
    given = [0] * len(needed)
    for writing in (True, False):
        for i, count in enumerate(needed):
            if (count == 1) == writing:
                given[i] = min(count, budget)
                budget -= given[i]
    return given


def next_in_line(waiting: Sequence[str], running: Sequence[str]) -> int:
    """Whose request is next: the index in `waiting` of the oldest one of the client that has fewest running.

    Both are the client of each request, in the order of arrival: who sends a hundred does not keep out who sends one.
    """
    busy = Counter(running)
    return min(range(len(waiting)), key=lambda i: (busy[waiting[i]], i))
