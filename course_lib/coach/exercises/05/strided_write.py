"""The reverse of a view's copy: numbers in order go to the indices that a view gives."""

import re

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import KINDS, beyond, whole_numbers
from course_lib.devices.gpu.views import views

BLOCK = 64


def cases(random):
    for label, size, shape, strides, offset in (
        ("the example", 6, (2, 2), (3, 1), 1), ("one number", 3, (1,), (1,), 2), ("a column of a matrix", 20, (5,), (4,), 3),
        ("transposed", 12, (3, 4), (1, 3), 0), ("backwards", 9, (9,), (-1,), 8),
        ("a row of a cache", 96, (3, 1, 8), (32, 8, 1), 16),
        ("more than a block", 400, (9, 11), (33, 3), 5),
    ):  # fmt: skip
        x = (0.5 + random.integers(-9, 0, size)).astype(np.float32)
        values = (0.5 + random.integers(1, 99, int(np.prod(shape)))).astype(np.float32)
        if label == "the example":
            x, values = np.zeros(6, np.float32), np.array([1, 2, 3, 4], np.float32)
        yield Case(label, x, values, shape, strides, offset)
    for kind in (np.int32, np.int64):
        x = np.zeros(6, kind)
        yield Case(
            f"{KINDS[x.dtype.name]} numbers that no float holds", x, whole_numbers(random, 4, kind), (2, 2), (3, 1), 1
        )


def places(shape, strides, offset):
    """Where each number of the view lies, in row-major order."""
    index = np.indices(shape).reshape(len(shape), -1)
    return offset + (index * np.array(strides)[:, None]).sum(0)


def written(x, values, shape, strides, offset):
    y = x.copy()
    y[places(shape, strides, offset)] = values
    return y


def launch(kernel, x, values, shape, strides, offset):
    (view,) = views("strided_write", shape, strides)
    x = cuda.asarray(x)
    run = kernel.instance(KINDS[x.dtype.name])
    run((len(values) + BLOCK - 1) // BLOCK, BLOCK, (x, cuda.asarray(values), view, offset, len(values)))
    return x


exercise = Exercise(
    title="Write into a view",
    minutes=10,
    core=False,
    language="cuda",
    defines="strided_write",
    instances=("float", "int", "long long"),
    target="kernel:strided_copy.cu",
    cases=cases,
    reference=written,
    call=launch,
    hints=(
        "Thread i owns value i. Only the index that it is written to is new.",
        "offset_of(view, i) counts from the beginning of the view, and the view begins at index offset of x.",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[offset + offset_of(view, i)] = values[i];",
    ),
    example='''// The diagonal of a square matrix becomes `value`: its numbers lie n + 1 apart.
__global__ void set_diagonal(float* x, float value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i * (n + 1)] = value;
}
''',
    wrong=[
        Wrong(Changed(("x[offset + offset_of(view, i)]", "x[offset_of(view, i)]")),
              "The view begins at index `offset` of x, and not at its start.",
              when=lambda seen: not re.search(r"\boffset\b", seen.text.split("{", 1)[1])),
        Wrong(Changed(("= values[i]", "= values[offset_of(view, i)]"), ("x[offset + offset_of(view, i)]", "x[offset + i]")),
              "The indices of the view are those of x. The values stand in order: values[i].",
              when=lambda seen: "values[offset_of(" in seen.text.replace(" ", "")),
        Wrong(Changed(("x[offset + offset_of(view, i)]", "x[offset + i]")),
              "The values went side by side, from index `offset` on. offset_of(view, i) says where number i belongs.",
              when=lambda seen: "view" not in seen.text.split("{", 1)[1]),
        Wrong(Changed(("if (i < n) x", "x")), "There are more threads than values: those with i >= n must do nothing.",
              when=lambda seen: beyond(seen, len(seen.inputs[1]), BLOCK)),
        Wrong(Changed(("] = values[i]", "] += values[i]")), "The values were added to what was there. They replace it.",
              like=lambda x, values, *view: written(x, x[places(*view)] + values, *view)),
        Wrong(Changed(("= values[i];", "= (T)(float)values[i];")), generic="rounded to floats"),
    ],
)  # fmt: skip
