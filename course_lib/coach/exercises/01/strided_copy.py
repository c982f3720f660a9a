"""Write a view out in order: the one copy that every strided library needs."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Refused, Wrong
from course_lib.devices import ops


def cases(random):
    numbers = np.arange(12, dtype=np.float32) * 10
    return [
        Case("two numbers in order", numbers[:2], (2,), (1,), 0),
        Case("two numbers from the middle", numbers[:6], (2,), (1,), 3),
        Case("a matrix in order", numbers, (3, 4), (4, 1), 0),
        Case("its transpose", numbers, (4, 3), (1, 4), 0),
        Case("every second column, without the first row", numbers, (2, 2), (4, 2), 4),
        Case("backwards", numbers[:4], (4,), (-1,), 3),
        Case("one row, repeated", numbers, (2, 3), (0, 1), 5),
        Case("one number, repeated", numbers, (2, 2), (0, 0), 7),
        Case("one number, no axes", numbers, (), (), 11),
        Case("no rows", numbers, (0, 3), (3, 1), 0),
        Case("x has two axes itself", numbers.reshape(3, 4), (4, 3), (1, 4), 0),
        Case("integers", np.arange(6), (3, 2), (1, 3), 0),
        Case("three axes, transposed, in float64", random.normal(size=60), (4, 3, 5), (5, 20, 1), 0),
        Case("four axes", random.normal(size=48).astype(np.float32), (2, 2, 3, 4), (24, 4, 8, 1), 0),
    ]


def own_copy(answer, x, shape, strides, offset):
    result = answer(x, shape, strides, offset)
    if isinstance(result, np.ndarray) and np.shares_memory(result, x):
        raise Refused(
            "The result shares its memory with x: a change of one would show in the other. Give an array of its own."
        )
    if isinstance(result, np.ndarray) and not result.flags.c_contiguous:
        raise Refused(
            "The rows of the result do not lie one after the other in memory: np.array and np.copy of a transposed view keep "
            "its order. Write the numbers out row after row, as the array's own method .copy() does."
        )
    return result


def check(result, x, shape, strides, offset):
    if not isinstance(result, np.ndarray | np.generic):  # without axes, NumPy gives a number with a dtype
        return f"The result is a {type(result).__name__}. It must be a NumPy array, since the next operation takes one."
    if result.dtype != x.dtype:
        return (
            f"The numbers are right, but their dtype is {result.dtype}; that of x is {x.dtype}. A copy keeps the dtype."
        )
    return None


exercise = Exercise(
    title="Write a view out in order",
    minutes=20,
    test_out=True,
    defines="strided_copy",
    target="op:strided_copy",
    large=lambda random: Case(
        "a transpose of 98,304 numbers", random.normal(size=98_304).astype(np.float32), (8, 8, 32, 48), (12_288, 48, 384, 1), 0
    ),
    given="import numpy as np",
    cases=cases,
    reference=ops("reference").strided_copy,
    call=own_copy,
    check=check,
    hints=(
        "At which index of the buffer does the element (i, j) lie? Write the formula of the lecture down once more.",
        "np.ndindex(shape) gives every index, one after the other, for any number of axes. Each belongs to one position "
        "in x.reshape(-1).",
        "result = np.empty(shape, x.dtype); for index in np.ndindex(shape): position = offset + sum(i * s for i, s in zip(index, "
        "strides)); then result[index] = x.reshape(-1)[position].",
    ),
    example='''def fill_view(buffer, shape, strides, offset, value):
    """The other direction: write one value to every element that a view of a list shows."""
    for index in np.ndindex(shape):
        buffer[offset + sum(i * stride for i, stride in zip(index, strides))] = value
''',
    wrong=[
        Wrong("""def strided_copy(x, shape, strides, offset=0):
    steps = [s * x.itemsize for s in strides]
    return np.lib.stride_tricks.as_strided(x.reshape(-1)[offset:], shape, steps)
""", generic="The result shares its memory with x"),
        Wrong("""def strided_copy(x, shape, strides, offset=0):
    steps = [s * x.itemsize for s in strides]
    return np.array(np.lib.stride_tricks.as_strided(x.reshape(-1)[offset:], shape, steps))
""",
              generic="The rows of the result do not lie one after the other in memory"),
        Wrong("""def strided_copy(x, shape, strides, offset=0):
    size = 1
    for n in shape:
        size *= n
    return x.reshape(-1)[offset:offset + size].reshape(shape).copy()
""", "You read the buffer in its own order and ignore the strides."),
        Wrong("""from numpy.lib.stride_tricks import as_strided

def strided_copy(x, shape, strides, offset=0):
    return as_strided(x.ravel()[offset:], shape, strides).copy()
""", "NumPy's own strides count bytes, and those given here count elements: multiply them by x.itemsize."),
        Mistake("The strides of as_strided count bytes, and the numbers of x are not all of one size: multiply by x.itemsize.",
                when=lambda seen: "as_strided" in seen.text and re.search(r"\* *[248]\b", seen.text)
                    and "itemsize" not in seen.text, once="the text says so"),
        Wrong(Changed(("x.reshape(-1)[places]", "x[places]")),
              "x may have axes of its own. View it as one row first: x.reshape(-1).",
              when=lambda seen: seen.label == "x has two axes itself" and bool(seen.error)),
        Wrong(Changed(("np.array(offset)", "np.array(0)")), "The view begins at index `offset` of the buffer, not at 0."),
        Wrong("""def strided_copy(x, shape, strides, offset=0):
    result = np.empty(shape)
    for index in np.ndindex(shape):
        result[index] = x.reshape(-1)[offset + sum(i * s for i, s in zip(index, strides))]
    return result
""", generic="A copy keeps the dtype"),
        Wrong("""def strided_copy(x, shape, strides, offset=0):
    result = np.empty(shape, x.dtype)
    for i in range(shape[0]):
        for j in range(shape[1]):
            result[i, j] = x.reshape(-1)[offset + i * strides[0] + j * strides[1]]
    return result
""", generic="IndexError"),
    ],
)  # fmt: skip
