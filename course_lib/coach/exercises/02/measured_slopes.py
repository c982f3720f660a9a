"""The slopes of a function, measured by small steps to both sides: the heart of gradcheck."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong

FUNCTIONS = {
    "sum of squares": lambda x: float((x * x).sum()),
    "100 times the squares": lambda x: 100.0 * float((x * x).sum()),
    "sum of cubes": lambda x: float((x**3).sum()),
    "product of all": lambda x: float(x.prod()),
    "squares, weighted by row": lambda x: float((x * x * np.arange(1, len(x) + 1)[:, None]).sum()),
    "largest softmax": lambda x: float(np.exp(x - x.max()).max() / np.exp(x - x.max()).sum()),
}


def cases(random):
    return [
        Case("one number", "sum of squares", np.array([3.0]), 1e-5),
        Case("two numbers that multiply", "product of all", np.array([2.0, 5.0]), 1e-5),
        Case("the bottom of a steep valley", "100 times the squares", np.array([0.0, 1.0]), 1e-5),
        Case("a long step", "sum of cubes", np.array([1.0, -2.0]), 0.1),
        Case("a matrix", "squares, weighted by row", random.normal(size=(2, 3)), 1e-5),
        Case("a transposed matrix", "squares, weighted by row", random.normal(size=(3, 2)).T, 1e-5),
        Case("a number without axes", "sum of cubes", np.array(2.0), 1e-5),
        Case("three axes", "product of all", random.uniform(0.5, 1.5, size=(2, 2, 3)), 1e-5),
        Case("eight scores", "largest softmax", random.normal(size=8), 1e-5),
    ]


def call(answer, name, x, step):
    return answer(FUNCTIONS[name], x, step)


def measured(function, x, step, way=lambda up, here, down, step: (up - down) / (2 * step)):
    slopes = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        moved = np.zeros(x.shape)
        moved[index] = step
        slopes[index] = way(function(x + moved), function(x), function(x - moved), step)
    return slopes


def one_side(function, x, step):
    return measured(function, x, step, lambda up, here, down, step: (up - here) / step)


def half(function, x, step):
    return measured(function, x, step, lambda up, here, down, step: (up - down) / step)


def all_at_once(function, x, step):
    return (function(x + step) - function(x - step)) / (2 * step) + np.zeros(x.shape)


def never_back(function, x, step):
    x, slopes = np.array(x), np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        x[index] += step
        up = function(x)
        x[index] -= 2 * step
        slopes[index] = (up - function(x)) / (2 * step)
    return slopes


exercise = Exercise(
    title="Slopes by small steps",
    minutes=15,
    defines="measured_slopes",
    given="import numpy as np",
    cases=cases,
    reference=measured,
    call=call,
    tolerance=1e-7,
    mistakes=[
        Mistake("You step to one side only. Its error is as large as the step; a step to both sides, (up - down) / (2 * step), "
                "has a far smaller one.", like=one_side),
        Mistake("From x - step to x + step it is two steps, so divide by 2 * step.", like=half),
        Mistake("All numbers move at the same time, so this is the slope in all directions together. Move one of them, and leave "
                "the others where they are.", like=all_at_once),
        Mistake("After its turn each number must go back exactly to where it was, before the next one moves.", like=never_back),
        Mistake("`= x` gives the same array a second name and copies nothing, so both steps move it, and it ends where it began. "
                "x.copy() makes an array of its own.",
                when=lambda seen: re.search(r"= *x *(#.*)?$", seen.text, re.M) and np.shape(seen.got) and not np.any(seen.got)),
        Mistake("The steps never reach the function: a reshape of a view that is not in order is a copy. Use the index, "
                "x[index], from np.ndindex(x.shape).",
                when=lambda seen: seen.label == "a transposed matrix" and seen.got is not None and not np.any(seen.got)),
    ],
    hints=(
        "For one number it was in the lecture: (loss(w + h) - loss(w - h)) / (2 * h). Now do it for each element in turn.",
        "np.ndindex(x.shape) gives the index of each element, whatever the number of axes. Make a copy of x for each step.",
        "For each index: up = x.copy(); up[index] += step; down likewise with -=; slopes[index] = (function(up) - "
        "function(down)) / (2 * step).",
    ),
    sibling='''def curvature(function, x, step):
    """By the same steps, how fast the slope itself changes: zero on a straight line."""
    bends = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        bends[index] = (function(up) - 2 * function(x) + function(down)) / step**2
    return bends
''',
    right=[
        """def measured_slopes(function, x, step=1e-5):
    result = np.empty(x.shape)
    for index in np.ndindex(*x.shape):
        before = x[index]
        x[index] = before + step
        up = function(x)
        x[index] = before - step
        down = function(x)
        x[index] = before
        result[index] = (up - down) / (2 * step)
    return result
""",
        """def measured_slopes(function, x, step=1e-5):
    directions = np.eye(x.size).reshape(x.size, *x.shape) * step
    slopes = [(function(x + d) - function(x - d)) / (2 * step) for d in directions]
    return np.array(slopes).reshape(x.shape)
""",
    ],
    wrong=[
        Wrong("""def measured_slopes(function, x, step=1e-5):
    slopes = np.zeros_like(x)
    here = function(x)
    for index in np.ndindex(x.shape):
        moved = x.copy()
        moved[index] += step
        slopes[index] = (function(moved) - here) / step
    return slopes
""", "You step to one side only"),
        Wrong(Changed(("(2 * step)", "step")), "so divide by 2 * step"),
        Wrong("""def measured_slopes(function, x, step=1e-5):
    return np.full(x.shape, (function(x + step) - function(x - step)) / (2 * step))
""", "All numbers move at the same time"),
        Wrong("""def measured_slopes(function, x, step=1e-5):
    x = x.copy()
    slopes = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        x[index] += step
        up = function(x)
        x[index] -= 2 * step
        down = function(x)
        slopes[index] = (up - down) / (2 * step)
    return slopes
""", "back exactly to where it was"),
        Wrong("""def measured_slopes(function, x, step=1e-5):
    slopes = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        up = x
        up[index] += step
        down = x
        down[index] -= step
        slopes[index] = (function(up) - function(down)) / (2 * step)
    return slopes
""", "copies nothing"),
        Wrong("""def measured_slopes(function, x, step=1e-5):
    slopes = np.zeros(x.size)
    flat = x.reshape(-1)
    for i in range(x.size):
        before = flat[i]
        flat[i] = before + step
        up = function(x)
        flat[i] = before - step
        down = function(x)
        flat[i] = before
        slopes[i] = (up - down) / (2 * step)
    return slopes.reshape(x.shape)
""", "a view that is not in order is a copy"),
        Wrong("""def measured_slopes(function, x, step=1e-5):
    slopes = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        x[index] += step
        up = function(x)
        x[index] -= 2 * step
        down = function(x)
        x[index] += step
        slopes[index] = (up - down) / (2 * step)
    return slopes
""", "was changed by your code"),
    ],
)  # fmt: skip
