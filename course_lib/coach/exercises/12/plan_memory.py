"""Open challenge: offsets in one arena for arrays with known lifetimes; how small can the arena be?"""

from functools import cache

import numpy as np

from course_lib.coach.exercise import Case, Exercise, Goal, Wrong


@cache
def mountain():
    """A step like that of a model: what a layer stores lives until its backward pass; the rest is temporary."""
    random = np.random.default_rng(12)
    lives, time = [], 0
    kept = []
    for _ in range(12):
        for size in random.integers(20, 200, size=3):
            lives.append([int(size), time, time + int(random.integers(2, 5))])
            time += 1
        kept.append(len(lives))
        lives.append([int(random.integers(50, 300)), time, 0])
        time += 1
    for index in reversed(kept):
        for size in random.integers(20, 250, size=3):
            lives.append([int(size), time, time + int(random.integers(2, 6))])
            time += 1
        lives[index][2] = time
        time += 1
    return tuple(tuple(life) for life in lives)


def block_of(lives, offsets):
    return max((offset + size for (size, _, _), offset in zip(lives, offsets, strict=True)), default=0)


def cases(random):
    yield Case("no array", [])
    yield Case("one array", [(4, 0, 1)])
    yield Case("two that never live at the same time", [(4, 0, 1), (4, 1, 2)])
    yield Case("two that live at the same time", [(4, 0, 2), (4, 1, 3)])
    yield Case("the four of the lecture", [(4, 0, 4), (2, 1, 2), (3, 2, 6), (4, 4, 6)])
    some = [(int(size), int(begin), int(begin + long)) for size, begin, long in
            zip(random.integers(1, 50, 40), random.integers(0, 60, 40), random.integers(1, 25, 40), strict=True)]  # fmt: skip
    yield Case("forty arrays", some)


def check(offsets, lives):
    offsets = list(offsets) if isinstance(offsets, list | tuple | np.ndarray) else offsets
    if not isinstance(offsets, list) or len(offsets) != len(lives):
        return f"The result must be a list with one offset for each of the {len(lives)} arrays."
    for i, (size, begins, ends) in enumerate(lives):
        if int(offsets[i]) != offsets[i] or offsets[i] < 0:
            return f"Array {i} is at {offsets[i]}: an offset is an integer, 0 or more."
        for j in range(i):
            other, first, last = lives[j]
            if begins < last and first < ends and offsets[i] < offsets[j] + other and offsets[j] < offsets[i] + size:
                return (f"Arrays {j} and {i} live at the same time, from time {max(begins, first)} on, and overlap: "
                        f"{offsets[j]} to {offsets[j] + other}, and {offsets[i]} to {offsets[i] + size}.")  # fmt: skip
    if lives and not any(
        life[1] < other[2] and other[1] < life[2] for k, life in enumerate(lives) for other in lives[:k]
    ):
        if block_of(lives, offsets) > max(life[0] for life in lives):
            return "These arrays never live at the same time: they can share one offset. At its time `ends` an array is gone."
    return None


exercise = Exercise(
    title="Challenge: the smallest arena",
    minutes=20,
    core=False,
    challenge=True,
    defines="plan_memory",
    cases=cases,
    check=check,
    compared=False,
    goals=[Goal("size of the arena for 84 arrays", lambda answer: block_of(mountain(), answer(list(mountain()))))],
    hints=(
        "The simplest right answer: try the offset 0, then the end of each array that is already placed and lives at the same "
        "time.",
        "The order matters. Large arrays rarely fit into a gap later: place them first.",
        "for i in sorted(range(len(lives)), key=lambda i: -lives[i][0]): ... the lowest gap between those already placed that "
        "live at the same time.",
    ),
    example='''# How many rooms do these meetings need? Each gets the first room that is free.
def rooms(meetings):
    last = []  # when the last meeting of each room ends
    for begins, ends in sorted(meetings):
        free = next((k for k, end in enumerate(last) if end <= begins), None)
        if free is None:
            last.append(ends)
        else:
            last[free] = ends
    return len(last)
''',
    wrong=[
        Wrong("""def plan_memory(lives):
    return [0] * len(lives)
""", generic="overlap"),
        Wrong("""def plan_memory(lives):
    offsets, at = [], 0
    for size, begins, ends in lives:
        offsets.append(at)
        at += size
    return offsets
""", generic="they can share one offset"),
        Wrong("""def plan_memory(lives):
    return {i: 0 for i, life in enumerate(lives)}
""", generic="must be a list with one offset"),
    ],
)  # fmt: skip
