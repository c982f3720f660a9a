"""Find the fault: a neighbour too many at either end."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, length in (("five numbers", 5), ("one number", 1), ("several blocks", 70)):
        yield Case(label, (0.5 + random.integers(-9, 10, size=length)).astype(np.float32))


def smooth(x):
    wide = np.concatenate([[0], x, [0]]).astype(np.float32)  # (N + 2,)
    return (wide[:-2] + wide[1:-1] + wide[2:]) / np.float32(3)


def launch(kernel, x):
    x, y = cuda.asarray(x), cuda.empty(x.shape)  # (N,)
    kernel((len(x) + 31) // 32, 32, (x, y, len(x)))
    return y


def own_at_the_ends(x):
    wide = np.concatenate([x[:1], x, x[-1:]])  # (N + 2,)
    return (wide[:-2] + wide[1:-1] + wide[2:]) / np.float32(3)


def own_blocks(x):
    """A block sees no neighbour that another block owns."""
    wide, i = np.concatenate([[0], x, [0]]), np.arange(len(x))
    return (wide[:-2] * (i % 32 > 0) + x + wide[2:] * (i % 32 < 31)).astype(np.float32) / np.float32(3)


def left_end(x):
    """The number itself stands in for the left neighbour that is missing."""
    wide = np.concatenate([x[:1], x, [0]]).astype(np.float32)  # (N + 2,)
    return (wide[:-2] + wide[1:-1] + wide[2:]) / np.float32(3)


def whole_neighbours(x):
    wide = np.trunc(np.concatenate([[0], x, [0]]).astype(np.float32))  # (N + 2,)
    return (wide[:-2] + x + wide[2:]) / np.float32(3)


exercise = Exercise(
    title="Find the fault: beyond the ends",
    minutes=10,
    core=False,
    language="cuda",
    defines="smooth",
    cases=cases,
    reference=smooth,
    call=launch,
    hints=(
        "Run the cell: the report names the line, the thread, and the element that it reached for.",
        "The number at each end has only one neighbour. What stands beyond it counts as 0.",
        "float left = i > 0 ? x[i - 1] : 0.0f; and the same for the right one, with its own condition.",
    ),
    example='''__global__ void difference(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float before = i > 0 ? x[i - 1] : x[i];  // the first number has none before it
        y[i] = x[i] - before;
    }
}
''',
    wrong=[
        Wrong(Changed(("(left + x[i] + right) / 3.0f", "1 / 3 * (left + x[i] + right)")),
              "1 / 3 divides whole numbers, which gives 0. Write 1.0f / 3.0f, or divide the sum by 3.0f.", like=np.zeros_like),
        Wrong(Changed(("i > 0 ? x[i - 1] : 0.0f", "x[i - 1]")),
              "The first number has no left neighbour: x[i - 1] is x[-1] there.",
              when=lambda seen: any("element -1 " in issue.message for issue in seen.issues)),
        Wrong(Changed(("i < n - 1 ? x[i + 1] : 0.0f", "x[i + 1]")),
              "The last number has no right neighbour: x[i + 1] is x[n] there.",
              when=lambda seen: any(f"element {len(seen.inputs[0])} " in issue.message for issue in seen.issues)),
        Wrong(Changed(("float left", "int left"), ("float right", "int right")),
              "The neighbours have lost their fractions: an `int` holds whole numbers only, so left and right must be "
              "floats.", like=whole_neighbours),
        Wrong("""__global__ void smooth(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float left = x[max(i - 1, 0)];
        float right = x[min(i + 1, n - 1)];
        y[i] = (left + x[i] + right) / 3.0f;
    }
}
""", "At the ends the number itself stands in for the neighbour that is missing. Beyond the ends there are zeros.",
              like=own_at_the_ends),
        Wrong("""__global__ void smooth(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) {
        y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0f;
    }
}
""", "The first and the last number are not written at all. Each has one neighbour, and an average too.",
              when=lambda seen: not seen.issues and np.isnan(seen.got[[0, -1]]).all()
                  and not np.isnan(seen.got[1:-1]).any()),
        Wrong(Changed(("i > 0 ? x[i - 1] : 0.0f", "x[max(i - 1, 0)]")),
              "At the left end the number itself stands in for the neighbour that is missing. Beyond the ends there are zeros.",
              like=left_end),
        Wrong(Changed(("i > 0 ?", "threadIdx.x > 0 ?"), ("i < n - 1 ?", "threadIdx.x < blockDim.x - 1 && i < n - 1 ?")),
              "At the edge of a block the neighbour counts as 0. It lies in the array all the same: only at the ends of the "
              "array is there none.", like=own_blocks),
        Wrong(Changed(("/ 3.0f", "/ 2.0f")), generic="Every element is 1.5 times what it should be"),
    ],
)  # fmt: skip
