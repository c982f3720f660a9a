"""Which ranks read windows that other ranks read as well."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import on_ranks


def cases(random):
    def case(label, *windows):
        return Case(label, [np.array(one) for one in windows])

    yield case("two ranks, nothing in common", [0, 1], [2, 3])
    yield case("two ranks with the same windows", [4, 5], [4, 5])
    yield case("one window in common", [0, 1], [2, 3], [1, 4])
    yield case("the same windows in another order", [1, 2], [2, 1])
    yield case("a rank that reads one window twice", [3, 3], [1, 2])
    yield case("the last of three reads one window twice", [1, 2], [3, 4], [5, 5])
    yield case("one rank", [0, 0])
    yield case("only the last two of four ranks", [0, 1, 2], [3, 4, 5], [6, 7, 8], [8, 9, 10])
    yield case("all of three", [7], [7], [7])


def called(answer, windows):
    return on_ranks(answer, windows, given=("all_gather",))[0]


def same(communicator, windows):
    everyone = np.split(communicator.all_gather(windows), communicator.size)
    found = [np.unique(one) for one in everyone]
    numbers, counts = np.unique(np.concatenate(found), return_counts=True)
    return [rank for rank, own in enumerate(found) if np.isin(own, numbers[counts > 1]).any()]


exercise = Exercise(
    title="Who trains on the same data?",
    minutes=10,
    core=False,
    defines="same_windows",
    cases=cases,
    reference=same,
    call=called,
    hints=(
        "After one all_gather every rank holds all windows, and can compare them without the others.",
        "all_gather returns one long array. reshape(communicator.size, -1) gives a row for each rank. Sets find what is "
        "common: `a & b` is empty if nothing is.",
        "sets = [set(row.tolist()) for row in rows]; return [rank for rank, own in enumerate(sets) if any(own & sets[other] "
        "for other in range(len(sets)) if other != rank)].",
    ),
    example='''def shared_letters(words):
    """The numbers of the words that have a letter in common with the first."""
    sets = [set(word) for word in words]
    return [number for number, letters in enumerate(sets) if number and letters & sets[0]]
''',
    wrong=[
        Wrong("""def same_windows(communicator, windows):
    rows = communicator.all_gather(windows).reshape(communicator.size, -1).tolist()
    return [rank for rank, row in enumerate(rows) if rows.count(row) > 1]
""", "You look for ranks whose windows are all the same, in the same order. One common window is enough."),
        Wrong("""def same_windows(communicator, windows):
    everyone = communicator.all_gather(windows).tolist()
    rows = np.array(everyone).reshape(communicator.size, -1).tolist()
    return [rank for rank, row in enumerate(rows) if any(everyone.count(window) > 1 for window in row)]
""", "A rank that reads one window twice itself is named, too. Compare each rank with the others only."),
        Wrong(Changed((" if number != rank", "")), "Every rank has its own windows in common with itself. Leave it out of "
                                                   "the comparison."),
        Wrong(Changed((" if number != rank", " if number < rank")),
              "A rank is compared with those before it only, so the first of two that read the same is not named. Name both."),
        Wrong(Changed(("any(own & other for number, other in enumerate(sets) if number != rank)",
                       "own & sets[(rank + 1) % len(sets)]")),
              "A rank is compared with the next one only. Any two ranks may read the same window."),
        Wrong("""def same_windows(communicator, windows):
    rows = communicator.all_gather(windows).reshape(communicator.size, -1)
    own = set(windows.tolist())
    return [rank for rank, row in enumerate(rows) if rank != communicator.rank and own & set(row.tolist())]
""", "Each rank lists those that have a window in common with itself, so the lists differ. All ranks return the same list, "
              "of all that are concerned."),
    ],
)  # fmt: skip
