"""How many paths lead from a result back to an input: one gradient arrives along each."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one path", {"L": ["x", "c"]}, "L", "x")
    yield Case("L = a * a", {"L": ["a", "a"]}, "L", "a")
    lecture = {"L": ["a", "b"], "b": ["a", "c"], "a": ["x", "x"]}
    yield Case("the graph of the lecture, to x", lecture, "L", "x")
    yield Case("the graph of the lecture, to a", lecture, "L", "a")
    yield Case("no path", lecture, "a", "c")
    doubled = {f"y{i + 1}": [f"y{i}", f"y{i}"] for i in range(7)}
    yield Case("seven times y + y", doubled, "y7", "y0")


def paths(inputs, start, end):
    return 1 if start == end else sum(paths(inputs, source, end) for source in inputs.get(start, []))


exercise = Exercise(
    title="How many paths?",
    minutes=4,
    core=False,
    defines="count_paths",
    cases=cases,
    reference=paths,
    hints=(
        "Count the paths from each input of start to end, by the function itself, and sum. inputs.get(start, []) is an "
        "empty list for a number without an entry.",
    ),
    wrong=[
        Wrong(Changed(("in inputs.get(start, [])", "in set(inputs.get(start, []))")),
              "An input that is used twice by one operation is on two paths, as in a * a."),
        Wrong("""def count_paths(inputs, start, end):
    return inputs.get(start, []).count(end)
""", "These are the paths of one step. Longer ones lead through the inputs of the inputs."),
        Wrong("""def count_paths(inputs, start, end):
    seen, found = {start}, 0
    waiting = [start]
    while waiting:
        for source in inputs.get(waiting.pop(0), []):
            found += source == end
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return found
""", "Each number is visited once, so several paths that meet in it count as one. Go on from it once for each path."),
        Wrong(Changed(("inputs.get(start, [])", "inputs[start]")), generic="KeyError"),
    ],
)  # fmt: skip
