"""Find the fault: a choice made by multiplying keeps what was not chosen, if that is inf or nan."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import KINDS, whole_numbers
from course_lib.devices.gpu.views import views
from course_lib.devices.layout import broadcast_strides

BLOCK = 64
CHOICE = "condition[offset_of(view_c, i)] ? a[offset_of(view_a, i)] : b[offset_of(view_b, i)]"


def cases(random):
    for label, condition, a, b in (("two numbers", (2,), (2,), (2,)), ("masked scores", (3, 3), (3, 3), ()),
                                   ("a row is divided by zero", (4,), (4,), (4,)), ("three shapes", (5, 1), (7,), (3, 1, 1)),
                                   ("more than a block", (11, 9), (11, 9), (9,))):  # fmt: skip
        condition = random.integers(0, 2, size=condition).astype(bool)
        a, b = ((0.5 + random.integers(1, 9, size=shape)).astype(np.float32) for shape in (a, b))
        if label == "two numbers":
            condition[:], a[:], b[:] = (True, False), (1, 2), (3, 4)
        if label == "masked scores":
            condition, b = np.tril(np.ones((3, 3), bool)), np.array(-np.inf, np.float32)
        if label == "a row is divided by zero":
            condition[:], a[:], b[:] = (True, False, True, False), (1, np.nan, 3, np.inf), 0
        yield Case(label, condition, a, b)
    for kind in (np.int32, np.int64):
        a = whole_numbers(random, 6, kind)
        yield Case(f"{KINDS[a.dtype.name]} numbers that no float holds", np.arange(6) % 2 == 0, a, a + 2)


def launch(kernel, condition, a, b):
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    y = cuda.empty(shape, a.dtype)
    layouts = views("where", shape, *(broadcast_strides(x.shape, shape) for x in (condition, a, b)))
    arrays = (cuda.asarray(x) for x in (condition, a, b))
    kernel.instance(KINDS[y.dtype.name])((y.size + BLOCK - 1) // BLOCK, BLOCK, (*arrays, y, *layouts, y.size))
    return y


def multiplied(condition, a, b):
    return condition * a + (1 - condition.astype(np.float32)) * b


def zero_where_not_finite(condition, a, b):
    y = multiplied(condition, a, b)
    return np.where(np.isnan(y), 0, y)


exercise = Exercise(
    title="Find the fault: chosen by multiplying",
    minutes=10,
    core=False,
    language="cuda",
    defines="where",
    instances=("float", "int", "long long"),
    target="kernel:compare.cu",
    cases=cases,
    reference=np.where,
    call=launch,
    hints=(
        "Look at the first element that is nan. What stands there in a, in b, and what does the kernel do with both?",
        "0 * inf is nan, not 0. So what is not chosen must not be part of any sum or product.",
        "C++ has a choice that evaluates one side only: `condition ? a : b`, for each thread's own number.",
    ),
    example='''// 1 / x where x is not 0, and 0 elsewhere: the division by zero is never made.
__global__ void safe_inverse(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] != 0.0f ? 1.0f / x[i] : 0.0f;
}
''',
    wrong=[
        Wrong(Changed((CHOICE, "a[offset_of(view_a, i)] * condition[offset_of(view_c, i)] + b[offset_of(view_b, i)] * "
                               "!condition[offset_of(view_c, i)]")),
              "What was not chosen is multiplied by 0, and 0 times inf is nan, as is 0 "
              "times nan. Do not compute with it: choose.", like=multiplied),
        Wrong(Changed((f"    if (i < n) y[i] = {CHOICE};",
                       "    if (i >= n) return;\n    T c = condition[offset_of(view_c, i)];\n    T mixed = c * "
                       "a[offset_of(view_a, i)] + (1 - c) * b[offset_of(view_b, i)];\n    y[i] = mixed == mixed ? mixed : 0;")),
              "Every nan became 0. But where a score is not masked, y is that score, also beside a -inf that was not chosen.",
              like=zero_where_not_finite),
        Wrong(Changed(("a[offset_of(view_a, i)] : b[offset_of(view_b, i)]", "b[offset_of(view_b, i)] : a[offset_of(view_a, i)]")),
              "a and b are swapped: where the condition is true, y is a.",
              like=lambda condition, a, b: np.where(condition, b, a)),
        Wrong(Changed((CHOICE, "a[offset_of(view_a, i)]")), "a is taken everywhere: the condition is ignored.",
              like=lambda condition, a, b: np.broadcast_arrays(a, condition, b)[0]),
        Wrong(Changed((CHOICE, "condition[i] ? a[i] : b[i]")),
              "The indices are computed as if all arrays had the shape of y. Each of the three has a view of its own.",
              when=lambda seen: "out-of-bounds" in seen.kinds and any(word in seen.text for word in ("a[i]", "b[i]", "n[i]"))),
    ],
)  # fmt: skip
