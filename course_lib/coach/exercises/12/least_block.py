"""What no plan of an arena can do without: the bytes that are alive at the fullest moment."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

NOT_ALIVE = "Arrays that do not live at this moment are added too: those that have ended, or have not begun."


def cases(random):
    yield Case("one after the other", [(4, 0, 2), (3, 2, 5)])
    yield Case("two that meet", [(4, 0, 3), (3, 2, 5)])
    yield Case("the four of the lecture", [(4, 0, 4), (2, 1, 2), (3, 2, 6), (4, 4, 6)])
    yield Case("three that begin together", [(1, 5, 6), (2, 5, 9), (4, 5, 7), (6, 0, 5)])
    drawn = zip(random.integers(1, 90, 12), random.integers(0, 30, 12), random.integers(1, 12, 12), strict=True)
    yield Case("twelve arrays", [(int(size), int(begins), int(begins + long)) for size, begins, long in drawn])


def fullest(lives):
    return max(sum(size for size, begins, ends in lives if begins <= now < ends) for now in range(50))


exercise = Exercise(
    title="The fullest moment",
    minutes=3,
    core=False,
    defines="least_block",
    cases=cases,
    reference=fullest,
    hints=("An array lives now if begins <= now and now < ends. Add up the sizes of these.",),
    wrong=[
        Wrong(Changed(("begins <= now < ends", "begins <= now <= ends")),
              "At the time `ends` an array lives no longer: another one that begins then can have its memory."),
        Wrong(Changed(("begins <= now < ends", "begins < now < ends")), "An array lives at the time `begins` already."),
        Wrong(Changed((" if begins <= now < ends", "")), NOT_ALIVE),
        Wrong(Changed(("begins <= now < ends", "begins <= now")), NOT_ALIVE, also=True),
        Wrong(Changed(("begins <= now < ends", "begins == now")),
              "Only the arrays that begin at this moment are added. Those that began before, and have not ended, live too."),
        Wrong(Changed(("sum(size for", "sum(1 for")),
              "This is how many arrays live at the fullest moment. How large are they together?"),
    ],
)  # fmt: skip
