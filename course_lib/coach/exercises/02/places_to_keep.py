"""An open challenge: which values should the tape keep, and which compute again, so that it needs the least memory?"""

from course_lib.coach.exercise import Case, Exercise, Goal, Wrong

LARGE = [(7 * i * i + 3 * i) % 11 + 1 for i in range(56)]  # the values that the verdict counts with: 276 in all


def cases(random):
    return [
        Case("one value", [3]),
        Case("two values", [3, 5]),
        Case("16 equal values", [1] * 16),
        Case("17 equal values", [1] * 17),
        Case("100 equal values", [1] * 100),
        Case("values of many sizes", random.integers(1, 10, 40).tolist()),
        Case("one giant among them", [1] * 20 + [5] + [1] * 20),
        Case("56 values, from 1 to 11", LARGE),
    ]


def as_list(answer, sizes):
    return list(answer(sizes))


def memory(sizes, places):
    """The most that is held at one time: what is kept, and the longest stretch that is computed again."""
    stretches, stretch = [0], 0
    for place, size in enumerate(sizes):
        stretch = 0 if place in places else stretch + size
        stretches.append(stretch)
    return sum(sizes[place] for place in places) + max(stretches)


def check(places, sizes):
    for place in places:
        if isinstance(place, bool) or not hasattr(place, "__index__"):
            return f"{place!r} is not a place: places are whole numbers from 0 to {len(sizes) - 1}."
        if not 0 <= place < len(sizes):
            return f"There is no value {place}: the {len(sizes)} values are numbered 0 to {len(sizes) - 1}."
    if len(set(places)) < len(places):
        return "A place stands in your list twice. Each value is kept once or not at all."
    needs = memory(sizes, set(places))
    if len(sizes) >= 16 and 2 * needs > sum(sizes):
        return (
            f"Your places need room for {needs}, and keeping all takes {sum(sizes)}: at least half of it must be saved."
        )
    return None


exercise = Exercise(
    title="Open challenge: a tape that forgets",
    minutes=20,
    core=False,
    defines="places_to_keep",
    cases=cases,
    call=as_list,
    compared=False,
    check=check,
    goals=[Goal("room for the 56 values", lambda answer: memory(LARGE, set(as_list(answer, list(LARGE)))))],
    challenge=True,
    hints=(
        "Take 16 equal values and keep every k-th. How much is kept, how long is the longest stretch? Which k is best?",
        "With equal sizes, sqrt(n) stretches of sqrt(n) values are about best. With unequal ones: cut where it costs little.",
        "Choose a limit for a stretch. Walk along, and when the next value would exceed the limit, keep the smallest of the last "
        "few. Try all limits, and take the one that needs least.",
    ),
    sibling='''def page_breaks(lines, limit):
    """The same walk with another aim: where must a page end so that none has more than `limit` lines?"""
    breaks, used = [], 0
    for place, height in enumerate(lines):
        if used + height > limit:
            breaks.append(place)
            used = 0
        used += height
    return breaks
''',
    wrong=[
        Wrong("def places_to_keep(sizes):\n    return []",
              "Nothing is kept, so on the way back everything must be computed again, and held, in one stretch.",
              when=lambda seen: len(seen.inputs[0]) >= 16 and seen.got == []),
        Wrong("def places_to_keep(sizes):\n    return list(range(len(sizes)))", "Everything is kept, so nothing is saved.",
              when=lambda seen: len(seen.inputs[0]) >= 16 and seen.got == list(range(len(seen.inputs[0])))),
        Wrong("def places_to_keep(sizes):\n    return [0, len(sizes)]", generic="There is no value 1"),
        Wrong("def places_to_keep(sizes):\n    return list(range(0, len(sizes), 2))",
              generic="at least half of it must be saved"),
        Wrong("def places_to_keep(sizes):\n    return [i * len(sizes) / 4 for i in range(4)]", generic="0.0 is not a place"),
        Wrong("def places_to_keep(sizes):\n    return [0, 0]", generic="stands in your list twice"),
    ],
)  # fmt: skip
