"""An open challenge: which values should the tape keep, and which recompute, so that it needs the least memory?"""

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
        Case("one large value among them", [1] * 20 + [5] + [1] * 20),
        Case("56 values, from 1 to 11", LARGE),
    ]


def as_list(answer, sizes):
    return list(answer(sizes))


def memory(sizes, places):
    """The most memory in use at one time: all kept values, and the largest segment that is recomputed."""
    segments, segment = [0], 0
    for place, size in enumerate(sizes):
        segment = 0 if place in places else segment + size
        segments.append(segment)
    return sum(sizes[place] for place in places) + max(segments)


def check(places, sizes):
    for place in places:
        if isinstance(place, bool) or not hasattr(place, "__index__"):
            return f"{place!r} is not an index: indices are integers from 0 to {len(sizes) - 1}."
        if not 0 <= place < len(sizes):
            return f"There is no value {place}: the indices go from 0 to {len(sizes) - 1}."
    if len(set(places)) < len(places):
        return "An index stands in your list twice. Each value is kept once or not at all."
    needs = memory(sizes, set(places))
    if len(sizes) >= 16 and 2 * needs > sum(sizes):
        return f"With your choice {needs} are in use, and keeping all takes {sum(sizes)}: at most half of it may be in use."
    return None


exercise = Exercise(
    title="Open challenge: a tape that forgets",
    minutes=20,
    core=False,
    defines="choose_checkpoints",
    cases=cases,
    call=as_list,
    compared=False,
    check=check,
    goals=[Goal("memory for the 56 values", lambda answer: memory(LARGE, set(as_list(answer, list(LARGE)))))],
    challenge=True,
    hints=(
        "Take 16 equal values and keep every k-th. How much is kept, and how large is the largest segment between two "
        "kept values? Which k is best?",
        "With equal sizes, sqrt(n) segments of sqrt(n) values are about best. With unequal ones: keep small values.",
        "Choose a limit for a segment. Iterate over the values, and when the next one would exceed the limit, keep the "
        "smallest of the last "
        "few. Try all limits, and take the one that needs least.",
    ),
    example='''def page_breaks(lines, limit):
    """The same loop with another aim: where must a page end so that none has more than `limit` lines?"""
    breaks, used = [], 0
    for index, height in enumerate(lines):
        if used + height > limit:
            breaks.append(index)
            used = 0
        used += height
    return breaks
''',
    wrong=[
        Wrong("def choose_checkpoints(sizes):\n    return []",
              "Nothing is kept, so the backward pass must recompute everything, and hold it, as one segment.",
              when=lambda seen: len(seen.inputs[0]) >= 16 and seen.got == []),
        Wrong("def choose_checkpoints(sizes):\n    return list(range(len(sizes)))", "Everything is kept, so nothing is saved.",
              when=lambda seen: len(seen.inputs[0]) >= 16 and seen.got == list(range(len(seen.inputs[0])))),
        Wrong("def choose_checkpoints(sizes):\n    return [0, len(sizes)]", generic="There is no value 1"),
        Wrong("def choose_checkpoints(sizes):\n    return list(range(0, len(sizes), 2))",
              generic="at most half of it may be in use"),
        Wrong("def choose_checkpoints(sizes):\n    return [i * len(sizes) / 4 for i in range(4)]", generic="0.0 is not an index"),
        Wrong("def choose_checkpoints(sizes):\n    return [0, 0]", generic="stands in your list twice"),
    ],
)  # fmt: skip
