"""Find the fault: a double buffer whose barrier stands before the writes that it should follow."""

import numpy as np

from course_lib.coach.exercise import Changed, Exercise, Wrong
from course_lib.coach.shared_cases import multiplied, products

SIZES = {"two iterations": (1, 1, 17), "one iteration": (16, 16, 16), "one number": (1, 1, 1),
         "three iterations": (16, 16, 48), "several blocks, ragged": (20, 35, 50)}  # fmt: skip


def lines_that_meet(seen, *words):
    """Whether some race is between lines with these words."""
    return any(i.kind == "race" and all(word in i.source + i.other_source for word in words) for i in seen.issues)


def never_changes(A, B):
    """The first tiles are used in every iteration."""
    left, right = np.zeros((len(A), 16), np.float32), np.zeros((16, B.shape[1]), np.float32)
    left[:, : A.shape[1]], right[: len(B)] = A[:, :16], B[:16]
    return -(-A.shape[1] // 16) * (left @ right)


exercise = Exercise(
    title="Find the fault: a double buffer",
    minutes=10,
    language="cuda",
    defines="double_buffer",
    cases=products(SIZES),
    reference=lambda A, B: A @ B,
    call=multiplied(16, (16, 16)),
    hints=(
        "The report names a line that reads and a line that writes. In which iteration is the one, in which the other?",
        "What is written at the end of an iteration is read at the beginning of the next. What must stand between the two?",
        "First change the half, then write both numbers into it, then __syncthreads().",
    ),
    example='''// Means of neighbours, eight times over, with a double buffer: round n reads what round n - 1 has written.
__global__ void soften(float* x) {  // a block of 64 threads, x of 64 numbers
    __shared__ float row[2][64];
    int i = threadIdx.x;
    row[0][i] = x[i];
    __syncthreads();
    for (int round = 0; round < 8; round++) {
        row[1 - round % 2][i] = 0.5f * (row[round % 2][i] + row[round % 2][(i + 1) % 64]);
        __syncthreads();
    }
    x[i] = row[0][i];
}
''',
    wrong=[
        Wrong(Changed(("        b[half][y][x] = next_b;\n        __syncthreads();\n", "        b[half][y][x] = next_b;\n")),
              "There is no barrier in the loop any more.",
              when=lambda seen: "race" in seen.kinds and seen.text.count("__syncthreads();") == 1),
        Wrong(Changed(("        half = 1 - half;\n        a[half]",
              "        __syncthreads();\n        half = half ^ 1;\n        a[half]"),
                      ("        b[half][y][x] = next_b;\n        __syncthreads();\n", "        b[half][y][x] = next_b;\n")),
              "In the next iteration some threads already multiply their half while others still fill it. Follow one "
              "iteration: in which order come "
              "the writes, the barrier, and the next sum?",
              when=lambda seen: lines_that_meet(seen, "sum +=", "next_")
                  and "half][y][x] = next_a;\n        b[half][y][x] = next_b;\n    }" in seen.text),
        Wrong(Changed(("        half = 1 - half;\n        a[half][y][x] = next_a;\n        b[half][y][x] = next_b;\n",
                       "        a[half][y][x] = next_a;\n        b[half][y][x] = next_b;\n        half = 1 - half;\n")),
              "Numbers of the next iteration are written while others still read there, or after the barrier. First the half "
              "changes, then come both writes, then the barrier.",
              when=lambda seen: lines_that_meet(seen, "sum +=", "next_")),
        Wrong(Changed(("        half = 1 - half;\n        a[half][y][x] = next_a;\n        b[half][y][x] = next_b;\n",
                       "        a[1 - half][y][x] = next_a;\n        b[1 - half][y][x] = next_b;\n")),
              "Every iteration multiplies the first tiles: the two halves are never swapped.", like=never_changes),
    ],
)  # fmt: skip
