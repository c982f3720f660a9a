"""The slopes of a function, measured by finite differences: the core of gradcheck."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

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
        Case("the minimum of a steep function", "100 times the squares", np.array([0.0, 1.0]), 1e-5),
        Case("a long step", "sum of cubes", np.array([1.0, -2.0]), 0.1),
        Case("a matrix", "squares, weighted by row", random.normal(size=(2, 3)), 1e-5),
        Case("a transposed matrix", "squares, weighted by row", random.normal(size=(3, 2)).T, 1e-5),
        Case("a number without axes", "sum of cubes", np.array(2.0), 1e-5),
        Case("three axes", "product of all", random.uniform(0.5, 1.5, size=(2, 2, 3)), 1e-5),
        Case("eight scores", "largest softmax", random.normal(size=8), 1e-5),
    ]


def call(answer, name, x, step):
    return answer(FUNCTIONS[name], x, step)


def measured(function, x, step):
    slopes = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        moved = np.zeros(x.shape)
        moved[index] = step
        slopes[index] = (function(x + moved) - function(x - moved)) / (2 * step)
    return slopes


exercise = Exercise(
    title="A gradient by finite differences",
    minutes=15,
    defines="numerical_gradient",
    given="import numpy as np",
    cases=cases,
    reference=measured,
    call=call,
    tolerance=1e-7,
    hints=(
        "For one number it was in the lecture: (loss(w + h) - loss(w - h)) / (2 * h). Now do it for each element in turn.",
        "np.ndindex(x.shape) gives the index of each element, whatever the number of axes. Make a copy of x for each step.",
        "slopes = np.zeros(x.shape); for each index: up = x.copy(); up[index] += step; down likewise with -=; slopes[index] "
        "= (function(up) - function(down)) / (2 * step).",
    ),
    example='''def curvature(function, x, step):
    """How fast the slope itself changes, by finite differences as well: zero on a straight line."""
    curvatures = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        curvatures[index] = (function(up) - 2 * function(x) + function(down)) / step**2
    return curvatures
''',
    wrong=[
        Wrong("""def numerical_gradient(function, x, step=1e-5):
    slopes = np.zeros_like(x)
    here = function(x)
    for index in np.ndindex(x.shape):
        moved = x.copy()
        moved[index] += step
        slopes[index] = (function(moved) - here) / step
    return slopes
""",
              "This finite difference has a step to one side only: its error grows with the step. With steps to "
              "both sides, (up - down) / (2 * step), the error is far smaller."),
        Wrong("""def numerical_gradient(function, x, step=1e-5):
    slopes = np.zeros_like(x)
    here = function(x)
    for index in np.ndindex(x.shape):
        moved = x.copy()
        moved[index] += step
        slopes[index] = (function(moved) - here) / (2 * step)
    return slopes
""", "You divide by two steps, and there is only one, from x to x + step: measure at x - step too."),
        Wrong(Changed(("(2 * step)", "step")), "From x - step to x + step it is two steps, so divide by 2 * step."),
        Wrong("""def numerical_gradient(function, x, step=1e-5):
    return np.full(x.shape, (function(x + step) - function(x - step)) / (2 * step))
""",
              "All numbers change at the same time, so this is the sum of all slopes. Change one of them, and "
              "leave the others as they are."),
        Wrong("""def numerical_gradient(function, x, step=1e-5):
    x = x.copy()
    slopes = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        x[index] += step
        up = function(x)
        x[index] -= 2 * step
        down = function(x)
        slopes[index] = (up - down) / (2 * step)
    return slopes
""", "Restore each number exactly before you change the next one."),
        Wrong("""def numerical_gradient(function, x, step=1e-5):
    slopes = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        up = x
        up[index] += step
        down = x
        down[index] -= step
        slopes[index] = (function(up) - function(down)) / (2 * step)
    return slopes
""",
              "`= x` gives the same array a second name and copies nothing, so both steps change it, and they cancel. "
              "x.copy() makes a new array.",
              when=lambda seen: re.search(r"= *x *(#.*)?$", seen.text, re.M) and np.shape(seen.got) and not np.any(seen.got),
              once="the text says so"),
        Wrong("""def numerical_gradient(function, x, step=1e-5):
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
""",
              "The steps never reach the function: a reshape of a view that is not contiguous is a copy. Use the index, "
              "x[index], from np.ndindex(x.shape).",
              when=lambda seen: seen.label == "a transposed matrix" and seen.got is not None and not np.any(seen.got)
                  and re.search(r"reshape|ravel", seen.text), once="the only view that is not contiguous"),
        Wrong("""def numerical_gradient(function, x, step=1e-5):
    slopes = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        x[index] += step
        up = function(x)
        x[index] -= 2 * step
        down = function(x)
        x[index] += step
        slopes[index] = (up - down) / (2 * step)
    return slopes
""", generic="was changed by your code"),
    ],
)  # fmt: skip
