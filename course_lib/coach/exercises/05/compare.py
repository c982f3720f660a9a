"""Comparisons with broadcasting: a view says where each number lies, and a stride of 0 repeats it."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import KINDS, beyond, whole_numbers
from course_lib.devices.gpu.views import views
from course_lib.devices.layout import broadcast_strides

BLOCK = 64
OPS = {"Equal": np.equal, "NotEqual": np.not_equal, "Less": np.less, "LessEqual": np.less_equal}


def cases(random):
    for label, op, a, b in (("one number", "Less", (1,), (1,)), ("a column and a row", "Less", (2, 1), (3,)),
                            ("a row below a matrix", "Equal", (4, 3), (3,)), ("a single number", "LessEqual", (5, 7), ()),
                            ("three axes", "NotEqual", (4, 1, 7), (3, 1)), ("more than a block", "Less", (9, 1), (23,)),
                            ("one shape", "LessEqual", (130,), (130,))):  # fmt: skip
        a, b = ((random.integers(0, 3, size=shape) / 2).astype(np.float32) for shape in (a, b))
        if label == "a row below a matrix":
            a[1, 1] = b[2] = np.nan
        yield Case(label, op, a, b)
    for kind in (np.int32, np.int64):
        a = whole_numbers(random, 6, kind)
        yield Case(f"{KINDS[a.dtype.name]} numbers that no float holds", "Less", a - 1, a)


def launch(kernel, op, a, b):
    shape = np.broadcast_shapes(a.shape, b.shape)
    y = cuda.empty(shape, bool)
    of_a, of_b = views("compare", shape, *(broadcast_strides(x.shape, shape) for x in (a, b)))
    run = kernel.instance(f"{op}, {KINDS[a.dtype.name]}")
    run((y.size + BLOCK - 1) // BLOCK, BLOCK, (cuda.asarray(a), cuda.asarray(b), y, of_a, of_b, y.size))
    return y


exercise = Exercise(
    title="Compare, whatever the shapes",
    minutes=10,
    core=False,
    language="cuda",
    defines="compare",
    instances=(*(f"{op}, float" for op in OPS), "Less, int", "Less, long long"),
    target="kernel:compare.cu",
    cases=cases,
    reference=lambda op, a, b: OPS[op](a, b),
    call=launch,
    hints=(
        "Thread i owns element i of y, as in chapter 04. Which number of a belongs to it?",
        "offset_of(view_a, i) is its index in a, offset_of(view_b, i) in b. Op::of takes the two numbers.",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = Op::of(a[offset_of(view_a, i)], b[...]);",
    ),
    example='''// The smaller of two numbers, with the same views.
#include "view.cuh"

__global__ void smaller(const float* a, const float* b, float* y, View view_a, View view_b, int n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float from_a = a[offset_of(view_a, i)], from_b = b[offset_of(view_b, i)];
    y[i] = from_a < from_b ? from_a : from_b;
}
''',
    wrong=[
        Wrong(Changed(("Op::of(a[offset_of(view_a, i)], b[offset_of(view_b, i)])",
                       "Op::of((float)a[offset_of(view_a, i)], (float)b[offset_of(view_b, i)])")),
              "The whole numbers were compared as floats, which hold 24 bits of them. Compare them in their own type.",
              like=lambda op, a, b: OPS[op](a.astype(np.float32), b.astype(np.float32))),
        Wrong(Changed(("a[offset_of(view_a, i)], b[offset_of(view_b, i)]", "a[i], b[i]")),
              "You use i as an index of a smaller array. i counts the numbers of y: the index of its partner in a is "
              "offset_of(view_a, i).",
              when=lambda seen: "out-of-bounds" in seen.kinds and ("a[i]" in seen.text or "b[i]" in seen.text)),
        Wrong(Changed(("if (i < n) y", "y")), "There are more threads than numbers in y: those with i >= n must do nothing.",
              when=lambda seen: beyond(seen, np.broadcast(*seen.inputs[1:]).size, BLOCK)),
        Wrong(Changed(("Op::of(a[offset_of(view_a, i)], b[offset_of(view_b, i)])",
                       "Op::of(b[offset_of(view_b, i)], a[offset_of(view_a, i)])")),
              "a and b are swapped: Less::of(a, b) asks whether a is the smaller one.",
              like=lambda op, a, b: OPS[op](b, a)),
        Wrong(Changed(("Op::of(a[offset_of(view_a, i)], b[offset_of(view_b, i)])",
                       "a[offset_of(view_a, i)] < b[offset_of(view_b, i)]")),
              "It compares by `less`, whatever the operation is. Op::of(a, b) does what Op stands for.",
              like=lambda op, a, b: a < b),
        Wrong(Changed(("b[offset_of(view_b, i)]", "b[offset_of(view_a, i)]")),
              "Both numbers come from the index that view_a gives. b has a view of its own.",
              when=lambda seen: seen.text.count("offset_of(view_a") > 1 and "offset_of(view_b" not in seen.text),
    ],
)  # fmt: skip
