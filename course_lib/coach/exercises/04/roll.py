"""Remainders in C++, and the grid-stride loop: an array shifted, where what leaves at one end enters at the other."""

import re

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

GRID, BLOCK = 2, 32


def cases(random):
    trials = {"shifted by more than its length": (3, 4), "shifted by one": (3, 1), "one number": (1, 2),
              "shifted by nothing": (5, 0), "shifted back": (7, -2), "far back": (70, -1000),
              "more numbers than threads": (200, 33)}  # fmt: skip
    for label, (length, shift) in trials.items():
        yield Case(label, (0.5 + random.permutation(length)).astype(np.float32), shift)


def launch(kernel, x, shift):
    x, y = cuda.asarray(x), cuda.empty(x.shape)  # (N,)
    kernel(GRID, BLOCK, (x, y, shift, len(x)))
    return y


def one_each(x, shift):
    y = np.full_like(x, np.nan)
    y[: GRID * BLOCK] = np.roll(x, shift)[: GRID * BLOCK]
    return y


def reached(place, unless=r"(?!)"):
    """Was x[place] asked for, in the first case, by a kernel whose text does not hold the pattern `unless`?"""
    return lambda seen: (
        len(seen.inputs[0]) == 3
        and not re.search(unless, seen.text)
        and any(f"element {place} of 'x'" in issue.message for issue in seen.issues if issue.kind == "out-of-bounds")
    )


def wrote_before_the_beginning(seen):
    """Was y[-2] or its like written to, by a kernel that takes remainders?"""
    return "%" in seen.text and any(
        re.search(r"a write .* element -\d+ of 'y'", issue.message) for issue in seen.issues
    )


exercise = Exercise(
    title="Roll an array",
    minutes=10,
    core=False,
    language="cuda",
    defines="roll",
    cases=cases,
    reference=lambda x, shift: np.roll(x, shift),
    call=launch,
    hints=(
        "At which index of x does the number for y[i] stand? Begin with a shift of 1, then think of y[0].",
        "(i - shift) % n lies between -(n - 1) and n - 1. If it is negative, n more brings it back in. Around this goes a "
        "grid-stride loop.",
        "int from = (i - shift) % n; if (from < 0) from += n; y[i] = x[from]; and i runs on by gridDim.x * blockDim.x.",
    ),
    example='''// The hour on a clock of 12 hours, some hours later or earlier: hours 0 to 11.
__global__ void clock_hours(const int* hour, int* later, int hours, int n) {
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        int sum = (hour[i] + hours) % 12;
        later[i] = sum < 0 ? sum + 12 : sum;
    }
}
''',
    wrong=[
        Wrong(Changed(("(i - shift) % n", "(i + shift) % n")),
              "This shifts the other way. Number 0 goes to index `shift`, so y[i] is the number that stood at i - shift.",
              like=lambda x, shift: np.roll(x, -shift)),
        Wrong(Changed(("i += threads", "i += n")),
              "Each thread wrote one number, and then stopped. There are only 64 threads, so each must go on.", like=one_each),
        Wrong(Changed(("(i - shift) % n", "i - shift"), ("if (from < 0) {", "if (from >= n) {")),
              "x[-4] was read: the index i - shift may lie outside, and must then wrap around to the other end.",
              when=reached(-4)),
        Wrong(Changed(("if (from < 0) {", "if (from < -n) {")),
              "x[-1] was read. In C++ the remainder of a negative number is not positive: -4 % 3 is -1. And one n more "
              "may not be enough if `shift` is larger than n.",
              when=reached(-1, unless=r"\bi\s*-\s*shift\s*%")),
        Wrong("""__global__ void roll(const float* x, float* y, int shift, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[(i + shift) % n] = x[i];
}
""",
              "An element before the beginning of y was written. In C++ the remainder of a negative number is not positive: "
              "-2 % 7 is -2, where Python says 5.", when=wrote_before_the_beginning),
        Wrong("""__global__ void roll(const float* x, float* y, int shift, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[abs(i - shift) % n];
}
""", "abs() turns -1 into 1. But what lies one before the beginning is the last number, n - 1.",
              like=lambda x, shift: x[np.abs(np.arange(len(x)) - shift) % len(x)]),
    ],
)  # fmt: skip
