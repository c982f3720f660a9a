"""Copy on write, on plain lists."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the first page", [], 0, 4, [0, 0], [1, 0])
    yield Case("a page of its own", [1], 2, 4, [0, 1], [0])
    yield Case("the example", [4], 2, 4, [0, 0, 0, 0, 2], [0, 3])
    yield Case("the first row of the second page", [2], 4, 4, [0, 0, 1, 0], [3, 0, 1])
    yield Case("the page before is shared, this one is not", [0, 2], 5, 4, [3, 0, 1, 0], [1, 3])
    yield Case("a new page after a shared one", [0], 4, 4, [2, 0], [1])
    yield Case("three texts hold the page", [1, 0], 3, 2, [3, 3, 0, 0], [2, 3])
    yield Case("pages of one row", [3, 1], 2, 1, [0, 1, 0, 2], [2, 0])
    yield Case("the last page of all", [0], 3, 8, [2, 0], [1])
    yield Case("the page is there before its first row", [2, 0], 4, 4, [1, 0, 1, 0], [1, 3])
    yield Case("a page behind it as well", [2, 0, 1], 4, 4, [2, 1, 1, 0], [3])


def call(answer, table, length, rows, holders, free):
    table, holders, free = list(table), list(holders), list(free)
    copied = answer(table, length, rows, holders, free)
    return [copied, table, holders, free]


def right(table, length, rows, holders, free):
    page = table[length // rows] if length // rows < len(table) else None
    if page is not None and holders[page] == 1:
        return None
    new = free.pop()
    holders[:] = [1 if p == new else count - (p == page) for p, count in enumerate(holders)]
    table[length // rows : length // rows + 1] = [new]
    return page


exercise = Exercise(
    title="Copy on write",
    minutes=15,
    defines="page_for_next",
    target="course_lib.serving.pages.page_for_next",
    cases=cases,
    results=("what is returned", "the table", "the list holders", "the list free"),
    call=call,
    reference=right,
    hints=(
        "Which of the three cases is it? length // rows says which entry of the table is asked for; compare it with len(table).",
        "The first and the third case both take a page: new = free.pop(), then holders[new] = 1. In the first it is appended, in "
        "the third it replaces the old one, whose count goes down by 1.",
        "at = length // rows; old = table[at] if at < len(table) else None. If old is not None and holders[old] is 1, return "
        "None. Else take a page. With no old one append it; else put it at `at` and count the old one down. Return old.",
    ),
    example='''def own_line(lines, number, users):
    """A shared line is copied before it is changed: users[k] counts who has line k. Returns the line to write to."""
    line = lines[number]
    if users[line] > 1:
        users[line] -= 1
        users.append(1)
        lines[number] = len(users) - 1
    return lines[number]
''',
    wrong=[
        Wrong(Changed(("    if old is not None and holders[old] == 1:\n", "    if old is not None:\n")),
              "The text writes into a page that others hold as well, and changes what they read. Take a page of its own if "
              "holders[page] is more than 1."),
        Wrong(Changed(("    if old is not None and holders[old] == 1:\n        return None\n", "")),
              "A page that the text alone holds is exchanged for a new one. There is nothing to do then: return None."),
        Wrong(Changed(("    holders[new] = 1\n", "")),
              "The new page has no holder: set holders[new] to 1, or it passes for a shared one at the next row."),
        Wrong(Changed(("        holders[old] -= 1\n", "")),
              "The text let go of the old page, but its count is as high as before, so that it will never be free again."),
        Wrong(Changed(("        table[at] = new\n", "        table.append(new)\n")),
              "The new page is appended behind the shared one. It must take its place in the table."),
        Wrong(Changed(("    return old", "    return new")), generic="must be `old`"),
        Wrong(Changed(("free.pop()", "free.pop(0)")), "The page was taken from the beginning of `free`; take the last one."),
        Wrong(Changed(("at = length // rows", "at = (length - 1) // rows")),
              generic="`- 1` is too much"),
    ],
)  # fmt: skip
