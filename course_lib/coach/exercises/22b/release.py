"""Find the fault: pages that are freed while somebody holds them, so that they are freed twice."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one page", [0], [1])
    yield Case("the example", [4, 1], [0, 1, 0, 0, 2])
    yield Case("every page is shared", [2, 0], [2, 0, 3])
    yield Case("nobody shares", [1, 0, 2], [1, 1, 1])
    yield Case("an empty table", [], [1, 0])
    yield Case("many pages", random.permutation(30)[:20].tolist(), random.integers(1, 4, 30).tolist())


def call(answer, table, holders):
    table, holders = list(table), list(holders)
    freed = answer(table, holders)
    return [freed, table, holders]


def right(table, holders):
    holders[:] = (np.array(holders, int) - np.bincount(np.array(table, int), minlength=len(holders))).tolist()
    freed = [page for page in table if not holders[page]]
    del table[:]
    return freed


ASKS = "        if holders[page] == 0:\n            freed.append"
ELSE = "        if holders[page] == 1:\n            freed.append(page)\n        else:\n            holders[page] -= 1\n"

exercise = Exercise(
    title="Find the page that is freed twice",
    minutes=4,
    core=False,
    defines="release",
    target="course_lib.serving.pages.release",
    cases=cases,
    results=("the list that is returned", "the table", "the list holders"),
    call=call,
    reference=right,
    hints=("Which pages does it return, and which of them does a text still hold? Look at holders[page] after counting down.",),
    wrong=[
        Wrong(Changed((ASKS, ASKS.replace("holders[page] == 0", "True"))),
              "A page is freed although another text still holds it; when that one ends, it is freed a second time. Only a page "
              "that no text holds any more is free."),
        Wrong(Changed(("    table.clear()\n", "")),
              "The table still names its pages: releasing it again counts them down a second time. Empty it."),
        Wrong(Changed((ASKS, ASKS.replace("0", "1"))),
              "You ask too late: the count has been lowered already, so 1 means that another text holds the page."),
        Wrong(Changed((ASKS + "(page)\n", ""), ("        holders[page] -= 1\n", ELSE)),
              "A page that is freed keeps the count of 1: the text that takes it next seems to share it. Count every page down."),
        Wrong(Changed(("        holders[page] -= 1\n", "")), generic="without its `holders[page] -= 1`"),
    ],
)  # fmt: skip
