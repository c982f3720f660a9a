"""A step of the scheduler: decode first, then prefill in chunks."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one text that is being written", [1], 8)
    yield Case("one prompt", [5], 8)
    yield Case("a prompt longer than the budget", [20], 8)
    yield Case("a token and a prompt", [3, 1], 3)
    yield Case("the example", [50, 1, 7, 1], 32)
    yield Case("two prompts", [6, 4], 8)
    yield Case("more tokens than the budget has", [1, 1, 1, 1], 2)
    yield Case("new tokens take all of it", [9, 1, 1], 2)
    yield Case("no text", [], 8)
    for count in (9, 30):
        needed = [int(n) if n > 5 else 1 for n in random.integers(1, 40, count)]
        yield Case(f"{count} texts", needed, 64)


def right(needed, budget):
    order = sorted(range(len(needed)), key=lambda i: needed[i] > 1)
    given, left = [0] * len(needed), budget
    for i in order:
        given[i] = max(0, min(needed[i], left))
        left -= given[i]
    return given


def call(answer, needed, budget):
    mine = list(needed)
    return [list(answer(mine, budget)), mine]


exercise = Exercise(
    title="A step of the scheduler",
    minutes=12,
    defines="share_budget",
    target="course_lib.serving.scheduling.share_budget",
    cases=cases,
    results=("the list that is returned", "needed"),
    call=call,
    reference=right,
    hints=(
        "Two passes over the texts: one for those that need 1, one for the others. What is left of the budget after the first?",
        "Begin with given = [0] * len(needed). In each pass, for a text of its kind: given[i] = min(needed[i], budget), and then "
        "budget -= given[i].",
        "for writing in (True, False): for i, count in enumerate(needed): if (count == 1) == writing: take min(count, budget).",
    ),
    example='''def share_coins(wishes, coins):
    """Coins for wishes, each child at most what it wishes for, the smallest wish first."""
    given = [0] * len(wishes)
    for i in sorted(range(len(wishes)), key=lambda i: wishes[i]):
        given[i] = min(wishes[i], coins)
        coins -= given[i]
    return given
''',
    wrong=[
        Wrong("""def share_budget(needed, budget):
    given = []
    for count in needed:
        given.append(min(count, budget))
        budget -= given[-1]
    return given
""", "The texts take what they need in the order in which they came, so a long prompt stops every reader. Those that need 1 come "
              "first."),
        Wrong("""def share_budget(needed, budget):
    given = [1 if count == 1 else 0 for count in needed]
    budget -= sum(given)
    for i, count in enumerate(needed):
        if count > 1:
            given[i] = max(0, min(count, budget))
            budget -= given[i]
    return given
""", "Every text that needs 1 gets it, also where the budget has fewer: the step would compute more than it may."),
        Wrong(Changed(("            if (count == 1) == writing:\n                given[i] = min(count, budget)\n",
                       "            if (count == 1) == writing:\n                given[i] = count if count <= budget else 0\n")),
              "A prompt gets all that it needs or nothing. It can be read in chunks: give it what is left."),
        Wrong(Changed(("                budget -= given[i]\n", "")),
              "Each text gets tokens as if it were alone: take from the budget what you give."),
        Wrong(Changed(("(True, False)", "(False, True)")),
              "The prompts come first here, and the readers get what is left."),
    ],
)  # fmt: skip
