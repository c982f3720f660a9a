"""Find the fault: ranks that read each other's windows one step later."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one rank", 2, 0, 1, 3)
    yield Case("rank 1 in step 0", 0, 1, 2, 3)
    yield Case("rank 0 in step 1", 1, 0, 2, 3)
    yield Case("rank 1 in step 1", 1, 1, 2, 3)
    yield Case("four ranks of one window", 5, 2, 4, 1)
    yield Case("eight ranks", 10, 7, 8, 16)


exercise = Exercise(
    title="Find the fault: the same stories",
    minutes=4,
    core=False,
    defines="windows_of_rank",
    cases=cases,
    reference=lambda step, rank, size, count: [step * size * count + rank * count + i for i in range(count)],
    hints=(
        "Which windows does rank 0 read in step 1, and which did rank 1 read in step 0? Before a step begins, `step` steps "
        "of `size * count` windows have been read.",
    ),
    wrong=[
        Wrong("def windows_of_rank(step, rank, size, count):\n    first = (step + rank) * count\n    return "
              "list(range(first, first + count))\n",
              "Rank 0 reads in step 1 what rank 1 has read in step 0. One step reads size * count windows, not count: each "
              "window would be trained on once by every rank."),
        Wrong(Changed(("(step * size + rank) * count", "step * size * count")),
              "All ranks read the same windows. Each must begin `count` windows behind the rank before it."),
        Wrong(Changed(("(step * size + rank) * count", "step * size * count + rank")),
              "Two ranks begin one window apart, so they share all windows but one. Rank 1 begins `count` windows behind "
              "rank 0."),
        Wrong("""def windows_of_rank(step, rank, size, count):
    return [step * size * count + rank + i * size for i in range(count)]
""", "Here the ranks take windows in turn, which overlaps nowhere. But the task is `count` windows in a row for each rank."),
    ],
)  # fmt: skip
