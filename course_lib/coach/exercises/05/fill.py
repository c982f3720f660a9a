"""The smallest kernel of all: one value everywhere, in whatever type."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

BLOCK = 64
TYPES = {"float": np.float32, "int": np.int32, "unsigned char": np.uint8}


def cases(random):
    for label, kind, value, n in (("one number", "float", 2.5, 1), ("a block and one more", "float", -1.5, 65),
                                  ("integers", "int", -7, 130), ("bytes", "unsigned char", 200, 99),
                                  ("a large integer", "int", 2**24 + 1, 3)):  # fmt: skip
        yield Case(label, kind, value, n)


def launch(kernel, kind, value, n):
    y = cuda.empty(n, TYPES[kind])
    kernel.instance(kind)((n + BLOCK - 1) // BLOCK, BLOCK, (y, TYPES[kind](value), n))
    return y


def filled(kind, value, n, of=lambda value: value):
    return np.full(n, TYPES[kind](of(value)))


exercise = Exercise(
    title="One value everywhere",
    minutes=5,
    core=False,
    language="cuda",
    defines="fill",
    instances=tuple(TYPES),
    target="kernel:strided_copy.cu",
    cases=cases,
    reference=filled,
    call=launch,
    hints=(
        "The number of this thread first, as in chapter 04. Is there such a number in y?",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; and a condition with n.",
        "if (i < n) y[i] = value;",
    ),
    example='''// Every number of a range: y[i] = first + i.
template <class T> __global__ void count_up(T* y, T first, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = first + (T)i;
}
''',
    wrong=[
        Wrong(Changed(("if (i < n) y[i]", "y[i]")), "There are more threads than numbers: those with i >= n must do nothing.",
              when=lambda seen: "out-of-bounds" in seen.kinds and "<n" not in seen.text.replace(" ", "")
                  and ">=n" not in seen.text.replace(" ", "")),
        Wrong(Changed(("y[i] = value;", "y[i] = (int)value;")),
              "The value lost its fraction on its way: keep it in a `T`.",
              like=lambda kind, value, n: filled(kind, value, n, of=int)),
        Wrong(Changed(("y[i] = value;", "y[i] = (float)value;")),
              "The value went through a float, which holds integers exactly only up to 2^24: keep it in a `T`.",
              like=lambda kind, value, n: filled(kind, value, n, of=np.float32)),
        Wrong("""template <class T> __global__ void fill(T* y, T value, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = value;
}
""", "Every block writes the first 64 numbers: the number of a thread is blockIdx.x * blockDim.x + threadIdx.x.",
              when=lambda seen: "blockIdx" not in seen.text and seen.inputs[2] > BLOCK),
    ],
)  # fmt: skip
