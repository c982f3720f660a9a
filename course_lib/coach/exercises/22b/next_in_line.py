"""Fairness: who has least gets the next batch slot."""

from course_lib.coach.exercise import Case, Exercise, Wrong


def cases(random):
    names = ["ann", "bob", "cid", "dee"]
    yield Case("one request", ["ann"], [])
    yield Case("the example", ["ann", "ann", "bob"], ["ann"])
    yield Case("nobody runs yet", ["bob", "ann"], [])
    yield Case("all have as many", ["bob", "ann", "ann"], ["ann", "bob"])
    yield Case("one is nowhere yet", ["ann", "bob", "cid"], ["ann", "bob", "bob"])
    yield Case("the one with fewest does not wait", ["ann", "bob"], ["ann", "ann", "bob", "cid", "bob", "bob"])
    yield Case("twelve clients, none with a text", [f"client {i}" for i in (5, 2, 9, 0, 11, 7, 1, 10, 3, 8, 6, 4)], [])
    for count in (7, 20):
        waiting, running = ([names[i] for i in random.integers(0, 4, n)] for n in (count, 16))
        yield Case(f"{count} requests", waiting, running)


def right(waiting, running):
    found = 0
    for i, client in enumerate(waiting):
        if running.count(client) < running.count(waiting[found]):
            found = i
    return found


exercise = Exercise(
    title="Whose turn is it?",
    minutes=4,
    core=False,
    defines="next_in_line",
    target="course_lib.serving.scheduling.next_in_line",
    given="from collections import Counter",
    cases=cases,
    reference=right,
    hints=("min(range(len(waiting)), key=...) gives the index with the smallest key, and of several the first. The key is "
           "running.count(waiting[i]).",),
    wrong=[
        Wrong("""def next_in_line(waiting, running):
    return 0
""", "The oldest request is always next here: who sends a hundred keeps out all others. Count what each client has running."),
        Wrong("""def next_in_line(waiting, running):
    return max(range(len(waiting)), key=lambda i: (running.count(waiting[i]), -i))
""", "The client with the most running is next here; it should be the one with the fewest."),
        Wrong("""def next_in_line(waiting, running):
    return min(range(len(waiting)), key=lambda i: (running.count(waiting[i]), -i))
""", "Of clients with equally few running the youngest request is taken. It should be the oldest, the first in the list."),
        Wrong("""def next_in_line(waiting, running):
    return min(range(len(waiting)), key=lambda i: waiting.count(waiting[i]))
""", "You count how many requests each client has waiting. What matters is how many are running."),
    ],
)  # fmt: skip
