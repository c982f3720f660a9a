"""The reverse of the flat index: row and column of an element of a matrix."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("rows of two", 2, 2)
    yield Case("the first element", 0, 4)
    yield Case("one column", 5, 1)
    yield Case("one row", 5, 8)
    yield Case("the end of a row", 48, 7)


exercise = Exercise(
    title="Back from the index",
    minutes=2,
    core=False,
    defines="row_and_column",
    cases=cases,
    reference=divmod,
    results=("the row", "the column"),
    hints=("How many whole rows stand before the element? That is the row. What is left of the index is the column.",),
    wrong=[
        Wrong(Changed(("index // columns, index % columns", "index % columns, index // columns")),
              "Row and column are exchanged: the whole rows before the element are counted by //."),
        Wrong(Changed(("index % columns", "index - columns")),
              "That is the column only in row 1. Take away all rows before the element: index % columns."),
        Wrong(Changed(("//", "/")), "A row is a whole number: // divides and leaves the fraction out."),
    ],
)  # fmt: skip
