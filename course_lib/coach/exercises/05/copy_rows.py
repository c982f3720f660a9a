"""Find the fault: two matrices whose rows lie differently far apart, and one column too many."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong
from course_lib.coach.kernels import rates
from course_lib.coach.shared_cases import KINDS, whole_numbers

WIDE, HIGH = 32, 4  # threads of a block
DOWN = 2  # blocks along the rows


def cases(random):
    shapes = {"two rows out of wider ones": (2, 3, 5, 3), "one number": (1, 1, 1, 1), "into wider rows": (3, 4, 4, 7),
              "one column": (9, 1, 6, 2), "more rows than threads": (19, 40, 50, 43),
              "several blocks": (17, 96, 128, 96)}  # fmt: skip
    for label, (rows, columns, x_row, y_row) in shapes.items():
        x = (0.5 + random.integers(1, 100, size=(rows, x_row))).astype(np.float32)
        yield Case(label, x, np.full((rows, y_row), -0.5, np.float32), columns)
    for kind in (np.int32, np.int64):
        x = whole_numbers(random, (2, 5), kind)
        yield Case(f"{KINDS[x.dtype.name]} numbers that no float holds", x, np.zeros((2, 4), kind), 3)


def launch(kernel, x, y, columns):
    (rows, x_row), x, y = x.shape, cuda.asarray(x), cuda.asarray(y)
    kernel.instance(KINDS[x.dtype.name])(
        ((columns + WIDE - 1) // WIDE, DOWN), (WIDE, HIGH), (x, y, x_row, y.shape[1], rows, columns)
    )
    return y


def copied(x, y, columns, rows=None):
    y[:rows, :columns] = x[:rows, :columns]
    return y


def by(seen, who, where=""):
    """Did a thread reach outside of an array whose column, and the number of columns, are as `who` says?"""
    return any(who(issue.block[0] * WIDE + issue.thread[0], seen.inputs[2])
               for issue in seen.issues if issue.kind == "out-of-bounds" and where in issue.message)  # fmt: skip


exercise = Exercise(
    title="Find the faults: rows that lie apart",
    minutes=10,
    core=False,
    language="cuda",
    defines="copy_rows",
    instances=("float", "int", "long long"),
    target="kernel:strided_copy.cu",
    cases=cases,
    reference=copied,
    call=launch,
    measured="several blocks",
    goals=rates(1.1 * 8 * 17 * 96, write=4.0),
    hints=(
        "The report names a line and a thread. Which row and column does this thread own, and where should it write?",
        "x and y have rows of different lengths. Column `column` of row `row` lies at row * x_row + column in x; and in y?",
        "There are two faults: one in the test of the column, one in the index in y.",
    ),
    example='''// The first column of a matrix whose rows lie x_row apart.
template <class T> __global__ void first_column(const T* x, T* y, long long x_row, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) y[row] = x[row * x_row];
}
''',
    wrong=[
        Wrong(Changed(("y[row * y_row", "y[row * x_row")),
              "A write went beyond the end of y, by a thread whose column does exist. Where does its row begin in y?",
              when=lambda seen: by(seen, lambda column, columns: column < columns, "of 'y'")),
        Wrong(Changed(("column >= columns", "column > columns")),
              "A thread whose column is `columns` takes part. The columns are 0 to columns - 1.",
              when=lambda seen: by(seen, lambda column, columns: column == columns)),
        Wrong(Changed(("row += gridDim.y * blockDim.y", "row += rows")),
              "Only as many rows are copied as the grid has threads along y. A thread must go on, a whole grid further down.",
              like=lambda x, y, columns: copied(x, y, columns, DOWN * HIGH)),
        Mistake("A number to the right of the columns was overwritten, where y must stay as it is.",
                when=lambda seen: (seen.got[:, seen.inputs[2]:] != seen.expected[:, seen.inputs[2]:]).any()),
        Wrong(Changed(("y[row * y_row + column] = x[row * x_row + column]", "y[column * y_row + row] = x[column * x_row + row]")),
              generic="out of bounds"),
    ],
)  # fmt: skip
