"""Where an element of a matrix lies in memory, in both layouts."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, row, term, M, K in (("2 x 3", 1, 2, 2, 3), ("the first row", 0, 3, 5, 4), ("the first term", 4, 0, 5, 7),
                                   ("33 x 70", 20, 41, 33, 70)):  # fmt: skip
        for transposed in (False, True):
            yield Case(f"{label}{', transposed' * transposed}", transposed, row, term, M, K)


exercise = Exercise(
    title="Two layouts",
    minutes=2,
    core=False,
    defines="offset_of_term",
    cases=cases,
    reference=lambda transposed, row, term, M, K: term * M + row if transposed else row * K + term,
    hints=("Transposed, the memory holds K rows of M numbers each: all rows of term 0, then all rows of term 1.",),
    wrong=[
        Wrong(Changed(("term * M + row", "term * K + row")),
              "Transposed, a row of the memory holds one term of all M rows. So it has M numbers, not K."),
        Wrong(Changed(("row * K + term", "row * M + term")),
              "Not transposed, a row of the memory holds the K terms of one row of A."),
        Wrong(Changed(("if transposed", "if not transposed")), "The two layouts are exchanged."),
    ],
)  # fmt: skip
