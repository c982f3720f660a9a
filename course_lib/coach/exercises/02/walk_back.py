"""Find the fault: gradients of a number that is used twice."""

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    yield Case("L = 3 * x", [("L", [("x", 3.0)])], "L")
    yield Case("L = x * x at x = 5", [("L", [("x", 5.0), ("x", 5.0)])], "L")
    yield Case("a used twice: L = a + b, b = 5 * a, a = 6 * x", [("a", [("x", 6.0)]), ("b", [("a", 5.0)]),
                                                                 ("L", [("a", 1.0), ("b", 1.0)])], "L")  # fmt: skip
    values = random.normal(size=(3, 3)).round(2)
    layers = [(f"h{i}", [(f"x{j}", float(values[i, j])) for j in range(3)]) for i in range(3)]
    yield Case("three inputs, each used three times", [*layers, ("L", [("h0", 1.0), ("h1", -2.0), ("h2", 0.5)])], "L")


def overwriting(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = gradients[result] * slope
    return gradients


def forward_order(tape, last):
    gradients = {last: 1.0}
    for result, inputs in tape:
        for name, slope in inputs:
            gradients[name] = gradients.get(name, 0.0) + gradients.get(result, 0.0) * slope
    return gradients


def local_only(tape, last):
    gradients = {last: 1.0}
    for _, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = gradients.get(name, 0.0) + slope
    return gradients


def right(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = gradients.get(name, 0.0) + gradients[result] * slope
    return gradients


def variant(start=0.0, times=True, once=False):
    def walk(tape, last):
        gradients = {last: 1.0}
        for result, inputs in reversed(tape):
            for name, slope in inputs:
                new = gradients[result] * slope if times else gradients[result] + slope
                if not (once and name in gradients):
                    gradients[name] = gradients.get(name, start) + new
        return gradients

    return walk


exercise = Exercise(
    title="Find the fault: used twice",
    minutes=5,
    core=False,
    defines="walk_back",
    cases=cases,
    reference=right,
    mistakes=[
        Mistake("A number that is used twice keeps only what came last. Slopes along different ways add up.", like=overwriting),
        Mistake("The tape is walked from its beginning. A number must have heard from all its users before it passes on.",
                like=forward_order),
        Mistake("You add up the local slopes. Each must be multiplied by the gradient that arrives.", like=local_only),
        Mistake("A number that is used twice keeps only what came first. Slopes along different ways add up.",
                like=variant(once=True)),
        Mistake("Each gradient begins at 0, not at 1. Only that of the loss is 1.", like=variant(start=1.0)),
        Mistake("The local slope is added. Along one way the slopes are multiplied.", like=variant(times=False)),
    ],
    hints=(
        "Take L = x * x at x = 5 and follow `gradients` by hand. What stands there after the first input, and after the second?",
        "The second way to a number must not wipe out the first.",
        "`gradients.get(name, 0.0)` is what arrived so far, 0 at first. Add to it.",
    ),
    sibling='''def count_letters(text):
    """The same habit in another place: what was there before, plus what comes."""
    counts = {}
    for letter in text:
        counts[letter] = counts.get(letter, 0) + 1
    return counts
''',
    right=[
        """from collections import defaultdict

def walk_back(tape, last):
    gradients = defaultdict(float)
    gradients[last] = 1.0
    for result, inputs in tape[::-1]:
        for name, slope in inputs:
            gradients[name] += gradients[result] * slope
    return dict(gradients)
""",
        """def walk_back(tape, last):
    gradients = {last: 1.0}
    for place in range(len(tape) - 1, -1, -1):
        result, inputs = tape[place]
        for name, slope in inputs:
            if name not in gradients:
                gradients[name] = 0.0
            gradients[name] = gradients[name] + slope * gradients[result]
    return gradients
""",
    ],
    wrong=[
        Wrong("""def walk_back(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = slope * gradients[result]
    return gradients
""", "Slopes along different ways add up"),
        Wrong(Changed(("reversed(tape)", "tape"), ("gradients[result]", "gradients.get(result, 0.0)")),
              "walked from its beginning"),
        Wrong(Changed((" + gradients[result] * slope", " + slope")), "multiplied by the gradient that arrives"),
        Wrong(Changed(("{last: 1.0}", "{}")), "there is no key 'L'"),
        Wrong("""def walk_back(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients.setdefault(name, gradients[result] * slope)
    return gradients
""", "keeps only what came first"),
        Wrong("""def walk_back(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = gradients.get(name, 1.0) + gradients[result] * slope
    return gradients
""", "begins at 0, not at 1"),
        Wrong("""def walk_back(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = gradients.get(name, 0.0) + gradients[result] + slope
    return gradients
""", "Along one way the slopes are multiplied"),
    ],
)  # fmt: skip
