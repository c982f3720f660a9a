"""The shape of a thread's rectangle: the nearer to a square, the fewer reads."""

from course_lib.coach.exercise import Case, Exercise, Wrong


def cases(random):
    for sums in (4, 1, 7, 32, 18, 60, 144):
        yield Case(f"{sums} sum{'s' * (sums > 1)}", sums)


def best_rectangle(sums):
    return max((TM, sums // TM) for TM in range(1, sums + 1) if sums % TM == 0 and TM * TM <= sums)


exercise = Exercise(
    title="The best rectangle",
    minutes=3,
    core=False,
    defines="best_rectangle",
    results=("TM", "TN"),
    cases=cases,
    reference=best_rectangle,
    hints=("Try every TM with sums % TM == 0. For each, TN is sums // TM, and the reads are TM + TN.",),
    wrong=[
        Wrong("def best_rectangle(sums):\n    return int(sums**0.5), sums // int(sums**0.5)",
              "The nearest square may not fit: TM * TN must be the number of sums."),
        Wrong("def best_rectangle(sums):\n    return 1, sums",
              "That is the worst shape: sums + 1 reads. With a given number of sums, TM + TN must be small."),
        Wrong("def best_rectangle(sums):\n    TM = max(t for t in range(1, sums + 1) if sums % t == 0 and t * t <= sums)\n"
              "    return sums // TM, TM",
              "The shape is right, but the smaller number comes first."),
    ],
)  # fmt: skip
