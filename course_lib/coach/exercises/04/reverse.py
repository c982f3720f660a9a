"""Find the fault: an array reversed in place, where threads overwrite what others still need."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

BLOCK = 32
OVERWRITTEN = (
    "One half was overwritten before it was saved: both hold the same numbers now. A swap needs a variable of its own for one "
    "of the two."
)


def cases(random):
    lengths = {"two numbers": 2, "three numbers": 3, "one number": 1, "one full block": 32, "an odd number, several blocks": 71,
               "many blocks": 200}  # fmt: skip
    for label, length in lengths.items():
        yield Case(label, (0.5 + random.permutation(length)).astype(np.float32))


def launch(kernel, x):
    x = cuda.asarray(x)  # (N,)
    kernel((len(x) + BLOCK - 1) // BLOCK, BLOCK, (x, len(x)))
    return x


def first_half_written(x):
    y = x.copy()
    y[: len(x) // 2] = x[::-1][: len(x) // 2]
    return y


def second_half_written(x):
    y = x.copy()
    y[len(x) - len(x) // 2 :] = x[: len(x) // 2][::-1]
    return y


def first_thread_at_the_end(seen):
    """Did thread 0 of all reach for x[n]?"""
    beyond = f"element {len(seen.inputs[0])} "
    return any(issue.block[0] == 0 == issue.thread[0] and beyond in issue.message
               for issue in seen.issues if issue.kind == "out-of-bounds")  # fmt: skip


exercise = Exercise(
    title="Find the fault: reversed in place",
    minutes=10,
    core=False,
    language="cuda",
    defines="reverse",
    cases=cases,
    reference=lambda x: x[::-1].copy(),
    call=launch,
    hints=(
        "Run the cell, and read the report: which two threads use the same element?",
        "Threads i and n - 1 - i work on the same two elements. One of them is enough. It must swap: both numbers move.",
        "if (i < n / 2) { float left = x[i]; then put x[n - 1 - i] into x[i], and left into x[n - 1 - i]; }",
    ),
    example='''// Neighbours are swapped, two by two: thread i owns the elements 2 i and 2 i + 1.
__global__ void swap_neighbours(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < n) {
        float first = x[2 * i];
        x[2 * i] = x[2 * i + 1];
        x[2 * i + 1] = first;
    }
}
''',
    wrong=[
        Wrong("""__global__ void reverse(float* x, int n) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < n; i++) {
            float saved = x[i];
            x[i] = x[n - 1 - i];
            x[n - 1 - i] = saved;
        }
    }
}
""", "The order is unchanged. This also happens if every pair is swapped twice.",
              when=lambda seen: not seen.issues and seen.got is not None and np.array_equal(seen.got, seen.inputs[0])),
        Wrong("""__global__ void reverse(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = x[i];
    }
}
""", OVERWRITTEN, like=first_half_written),
        Wrong(Changed(("float left = x[i];", "x[n - 1 - i] = x[i];"), ("        x[n - 1 - i] = left;\n", "")), OVERWRITTEN,
              like=second_half_written, also=True),
        Wrong(Changed(("x[i] = x[n - 1 - i];", "x[i] = x[n - i];")),
              "x[n - i] is x[n] for the first thread. The numbers end at x[n - 1].", when=first_thread_at_the_end),
        Wrong(Changed(("if (i < n / 2) {", "if (i < n) {")),
              "A race: one thread has already written where another one still reads. Give each pair of elements to one thread "
              "alone, which reads both before it writes.",
              when=lambda seen: seen.kinds == {"race"} and "one thread reads" in seen.issues[0].message),
    ],
)  # fmt: skip
