"""A block table, read once."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the first row", [3], 0, 4)
    yield Case("the example", [7, 2], 5, 4)
    yield Case("the last row of a page", [7, 2], 3, 4)
    yield Case("four pages", [5, 3, 9, 1], 6, 4)
    yield Case("one row in a page", [5, 0, 9], 2, 1)
    yield Case("a long text", random.permutation(40).tolist(), 301, 8)


def right(table, j, rows):
    page, row = divmod(j, rows)
    return rows * table[page] + row


exercise = Exercise(
    title="Where a row lies",
    minutes=3,
    core=False,
    defines="slot_of_row",
    cases=cases,
    reference=right,
    hints=("The page is table[j // rows], and j % rows is the row in it. Before page p lie p * rows rows.",),
    wrong=[
        Wrong(Changed(("table[j // rows] * rows + j % rows", "table[j // rows] + j % rows")),
              "A page has several rows: before page p lie p * rows of them, not p."),
        Wrong(Changed(("table[j // rows] * rows + j % rows", "j // rows * rows + j % rows")),
              "This is where the row would lie if the pages of the text were 0, 1, 2. Ask the table."),
        Wrong(Changed(("table[j // rows] * rows + j % rows", "table[j % rows] * rows + j // rows")),
              "The remainder and the quotient stand in each other's place: j // rows says which page of the text, j % rows which "
              "row in it."),
        Wrong(Changed(("table[j // rows] * rows + j % rows", "table[j // rows] * rows")),
              "This is the first slot of the page. The row is j % rows slots further."),
    ],
)  # fmt: skip
