"""Find the fault: gradients of a number that is used twice."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("L = 3 * x", [("L", [("x", 3.0)])], "L")
    yield Case("L = x * x at x = 5", [("L", [("x", 5.0), ("x", 5.0)])], "L")
    yield Case("loss = 2 * L, L = 3 * x", [("L", [("x", 3.0)]), ("loss", [("L", 2.0)])], "loss")
    yield Case("a used twice: L = a + b, b = 5 * a, a = 6 * x", [("a", [("x", 6.0)]), ("b", [("a", 5.0)]),
                                                                 ("L", [("a", 1.0), ("b", 1.0)])], "L")  # fmt: skip
    values = random.normal(size=(3, 3)).round(2)
    layers = [(f"h{i}", [(f"x{j}", float(values[i, j])) for j in range(3)]) for i in range(3)]
    yield Case("three inputs, each used three times", [*layers, ("L", [("h0", 1.0), ("h1", -2.0), ("h2", 0.5)])], "L")


def right(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = gradients.get(name, 0.0) + gradients[result] * slope
    return gradients


exercise = Exercise(
    title="Find the fault: used twice",
    minutes=5,
    core=False,
    defines="backward_pass",
    cases=cases,
    reference=right,
    hints=(
        "Take L = x * x at x = 5 and follow `gradients` by hand. What does it hold after the first input, and after the second?",
        "The gradient along a second path must not overwrite the one along the first.",
        "`gradients.get(name, 0.0)` is what arrived so far, 0 at first. Add to it.",
    ),
    example='''def count_characters(text):
    """The same accumulation elsewhere: what was there before, plus what is new."""
    counts = {}
    for character in text:
        counts[character] = counts.get(character, 0) + 1
    return counts
''',
    wrong=[
        Wrong("""def backward_pass(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = gradients.get(name, 1.0) * gradients[result] * slope
    return gradients
""", "The gradients along different paths are multiplied. Along one path one multiplies; over the paths one adds."),
        Wrong("""def backward_pass(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = slope * gradients[result]
    return gradients
""", "A number that is used twice keeps only the last gradient. Gradients along different paths add up."),
        Wrong(Changed(("reversed(tape)", "tape"), ("gradients[result]", "gradients.get(result, 0.0)")),
              "You iterate over the tape from its beginning. A number must receive the gradients of all its uses before "
              "it passes its own on."),
        Wrong(Changed((" + gradients[result] * slope", " + slope")),
              "You add up the local slopes. Each must be multiplied by the gradient of its result, gradients[result]."),
        Wrong("""def backward_pass(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients.setdefault(name, gradients[result] * slope)
    return gradients
""", "A number that is used twice keeps only the first gradient. Gradients along different paths add up."),
        Wrong("""def backward_pass(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = gradients.get(name, 1.0) + gradients[result] * slope
    return gradients
""", "Each gradient begins at 0, not at 1. Only that of the loss is 1."),
        Wrong("""def backward_pass(tape, last):
    gradients = {last: 1.0}
    for result, inputs in reversed(tape):
        for name, slope in inputs:
            gradients[name] = gradients.get(name, 0.0) + gradients[result] + slope
    return gradients
""", "The local slope is added. Along one path the slopes are multiplied."),
        Wrong(Changed(("gradients[name] = gradients.get(name, 0.0) +", "gradients[name] +=")),
              "At its first gradient a name has no entry yet that one could add to. Begin at 0: gradients.get(name, 0.0) + ...",
              when=lambda seen: seen.error.startswith("KeyError") and "gradients[name] +=" in seen.text),
        Wrong(Changed(("{last: 1.0}", "{}")), generic="there is no key 'L'"),
    ],
)  # fmt: skip
