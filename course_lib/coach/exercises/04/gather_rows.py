"""Integer division finds the row: a thread for each number that is copied out of a table."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates, sectors
from course_lib.coach.shared_cases import beyond

BLOCK = 32


def cases(random):
    shapes = {"two rows of three": (4, 2, 3), "one number": (2, 1, 1), "one column": (50, 40, 1), "one long row": (3, 1, 70),
              "several blocks, rows named twice": (9, 7, 13), "sixteen rows of 64": (50, 16, 64)}  # fmt: skip
    for label, (V, n, C) in shapes.items():
        rows = random.integers(0, V, size=n)
        rows[0] = V - 1  # never the table's own order
        yield Case(label, (0.5 + random.integers(-99, 100, size=(V, C))).astype(np.float32), rows.astype(np.int32))


def launch(kernel, table, rows):
    y = cuda.empty((len(rows), table.shape[1]))  # (n, C)
    grid = (y.size + BLOCK - 1) // BLOCK
    kernel(grid, BLOCK, (cuda.asarray(table), cuda.asarray(rows), y, len(rows), table.shape[1]))
    return y


def first_only(table, rows):
    y = np.full(len(rows) * table.shape[1], np.nan, table.dtype)
    y[: len(rows)] = table[rows].reshape(-1)[: len(rows)]
    return y.reshape(len(rows), -1)


def rows_n_apart(seen):
    """Does row r of the table begin at r * n?"""
    table, rows = seen.inputs
    n, C = len(rows), table.shape[1]
    return None if seen.issues else np.array_equal(seen.got, table.ravel()[rows[:, None] * n + np.arange(C)])


exercise = Exercise(
    title="Gather rows of a table",
    minutes=15,
    language="cuda",
    defines="gather_rows",
    cases=cases,
    reference=lambda table, rows: table[rows],
    call=launch,
    measured="sixteen rows of 64",
    goals=rates(3.5 * 8 * 16 * 64, read=4.0, write=4.0),  # each warp may read for itself which row it copies
    hints=(
        "Number the elements of y from 0 to n * C - 1, and give one to each thread. Which row is element i in?",
        "With rows of C numbers, element i lies in row i / C, by integer division, and column i % C.",
        "if (i < n * C): int t = i / C; int c = i % C; and the number to copy is table[rows[t] * C + c].",
    ),
    example='''// Every row times a number of its own: x and y (n, C), factor (n).
__global__ void scale_rows(const float* x, const float* factor, float* y, int n, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * C) {
        y[i] = factor[i / C] * x[i];
    }
}
''',
    wrong=[
        Wrong(Changed(("rows[t] * C + c", "t * C + c")),
              "These are the first rows of the table, whatever `rows` says. Row t of y is row rows[t] of the table.",
              like=lambda table, rows: table[: len(rows)]),
        Wrong(Changed(("rows[t] * C + c", "rows[t] * n + c")),
              "A row of the table has C numbers, so row r begins at r * C. n is the number of rows of y.", when=rows_n_apart),
        Wrong(Changed(("rows[t] * C + c", "rows[t] + c")),
              "A row of the table has C numbers, so row r begins at r * C, not at r.",
              like=lambda table, rows: table.reshape(-1)[rows[:, None] + np.arange(table.shape[1])]),
        Wrong(Changed(("if (i < n * C) {", "if (i < n) {")),
              "Only the first n numbers of y are written. It has n rows of C numbers each.", like=first_only),
        Wrong(Changed(("if (i < n * C) {", "{")),
              "There are more threads than numbers in y: those from n * C on must do nothing.",
              when=lambda seen: beyond(seen, len(seen.inputs[1]) * seen.inputs[0].shape[1], BLOCK)),
        Wrong("""__global__ void gather_rows(const float* table, const int* rows, float* y, int n, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        for (int c = 0; c < C; c++) {
            y[i * C + c] = table[rows[i] * C + c];
        }
    }
}
""",
              "The results are right. But neighbouring lanes work far apart, each in another row. Let neighbouring threads "
              "copy neighbouring numbers of a row: count through y.",
              when=lambda seen: all(outcome.right for outcome in seen.outcomes)
                  and sectors("read")(seen.outcomes[-1].reports) > 8),
        Wrong(Changed(("y[i] = table", "int number = table"), ("+ c];", "+ c];\n        y[i] = number;")),
              generic="so its fractional part is lost"),
    ],
)  # fmt: skip
