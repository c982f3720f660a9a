"""Which chunk a rank sends in a step of a ring reduce-scatter."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("two ranks, rank 1", 1, 0, 2)
    yield Case("two ranks, rank 0: the last chunk", 0, 0, 2)
    yield Case("four ranks, step 0", 1, 0, 4)
    yield Case("four ranks, step 1", 1, 1, 4)
    yield Case("four ranks, the last step", 3, 2, 4)
    yield Case("eight ranks", 2, 5, 8)


exercise = Exercise(
    title="Which chunk now?",
    minutes=3,
    core=False,
    defines="chunk_sent",
    cases=cases,
    reference=lambda rank, step, size: (rank + 2 * size - step - 1) % size,
    hints=(
        "In each step the number falls by one, and from one rank to the next it rises by one. Where does it start? `% size` "
        "brings a negative number back: -1 % 4 is 3.",
    ),
    wrong=[
        Wrong(Changed((" % size", "")),
              "A number below 0 is no chunk: before chunk 0 comes the last one. `-1 % size` is size - 1."),
        Wrong(Changed(("rank - step - 1", "rank - step")),
              "In step 0 a rank does not send the chunk of its own number, but the one before it. Otherwise it would end "
              "with the whole sum of another rank's chunk."),
        Wrong(Changed(("rank - step - 1", "rank + step - 1")),
              "From step to step the number falls: a rank sends the chunk that has just arrived, and the rank before it is "
              "one chunk behind."),
        Wrong(Changed(("rank - step - 1", "rank + step")),
              "In step 0 a rank sends the chunk before the one of its own number, and from step to step the number falls: what "
              "it sends has just arrived from the rank before it."),
        Wrong(Changed(("rank - step - 1", "rank - 1")),
              "This is the same chunk in every step. In each step a rank sends the chunk that arrived in the step before."),
    ],
)  # fmt: skip
