"""The first lines of C++ of one's own: one element of a matrix, by its row and column."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, (M, N), i, j in (("2 x 3", (2, 3), 1, 0), ("4 x 4", (4, 4), 2, 1), ("5 x 2", (5, 2), 3, 1)):
        yield Case(label, (0.5 + random.permutation(M * N)).reshape(M, N).astype(np.float32), i, j)


def launch(kernel, x, i, j):
    y = cuda.empty((1,))  # (1,)
    kernel(1, 1, (cuda.asarray(x), y, i, j, x.shape[1]))
    return y


exercise = Exercise(
    title="One element of a matrix",
    minutes=2,
    core=False,
    language="cuda",
    defines="matrix_element",
    cases=cases,
    reference=lambda x, i, j: x[i, j : j + 1],
    call=launch,
    hints=("Before row i stand i whole rows, of N numbers each: i * N numbers. Then j more.",),
    wrong=[
        Wrong(Changed(("x[i * N + j]", "x[i + j]")), "Row i does not begin at x[i]: a row has N numbers.",
              like=lambda x, i, j: x.ravel()[i + j : i + j + 1]),
        Wrong(Changed(("x[i * N + j]", "x[j * N + i]")), "Row and column are exchanged: i counts the rows.",
              when=lambda seen: seen.inputs[1] != seen.inputs[2]
              and seen.got is not None
              and seen.inputs[0].ravel()[seen.inputs[2] * seen.inputs[0].shape[1] + seen.inputs[1]] == seen.got[0]),
        Wrong(Changed(("y[0]", "y[i]")), generic="a write of 4 bytes at element 1 of 'y'"),
    ],
)  # fmt: skip
