"""Partial products become the product: in one order, with every number read once."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates

SPLITS, SIZE = 5, 1024


def cases(random):
    for label, splits, n in (("two parts of three numbers", 2, 3), ("one part", 1, 5), ("one number", 4, 1), ("more than a "
                                                                                                              "block", 3, 300),
                             (f"{SPLITS} parts of {SIZE} numbers", SPLITS, SIZE)):  # fmt: skip
        yield Case(label, (0.5 + random.integers(-9, 10, size=(splits, n))).astype(np.float32))


def launch(kernel, partial):
    splits, n = partial.shape
    C = cuda.empty(n)  # (n,)
    kernel((n + 255) // 256, 256, (cuda.asarray(partial), C, n, splits))
    return C


def adjacent_parts(partial):
    """Neighbouring numbers added up, as if each element's parts lay side by side."""
    splits, n = partial.shape
    return partial.reshape(-1).reshape(n, splits).sum(1)


exercise = Exercise(
    title="Add up the parts of a product",
    minutes=10,
    core=False,
    language="cuda",
    defines="gemm_split_sum",
    target="kernel:gemm_split_sum.cu",
    cases=cases,
    reference=lambda partial: partial.sum(0),
    call=launch,
    measured=f"{SPLITS} parts of {SIZE} numbers",
    goals=rates(1.1 * 4 * (SPLITS + 1) * SIZE, read=4.2),
    hints=(
        "Thread i owns element i of C. Its parts stand n numbers apart.",
        "Begin with part 0, and add part 1, 2, ... in a loop. Neighbouring threads then read neighbouring numbers.",
        "if (i >= n) return; float sum = 0.0f; for (int s = 0; s < splits; s++) sum += partial[(size_t)s * n + i]; C[i] = "
        "sum;",
    ),
    example='''// The largest of each element's parts.
extern "C" __global__ void largest_part(const float* partial, float* C, int n, int splits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float most = partial[i];
    for (int s = 1; s < splits; s++) most = fmaxf(most, partial[(size_t)s * n + i]);
    C[i] = most;
}
''',
    wrong=[
        Wrong(Changed(("    float sum = partial[i];\n    for (int split = 1; split < splits; split++) sum += "
                       "partial[(size_t)split * n + i];",
                       "    float sum = 0.0f;\n    for (int split = 0; split < splits; split++) sum += partial[i * splits + "
                       "split];")), "The parts of an element do not lie side by side: part s of element i stands at s * n + i.",
              like=adjacent_parts),
        Wrong(Changed(("int split = 1; split < splits", "int split = 1; split < 1")), "Only the first part is in the sum.",
              like=lambda partial: partial[0]),
        Wrong(Changed(("int split = 1;", "int split = 0;")), "The first part was counted twice.",
              like=lambda partial: partial.sum(0) + partial[0]),
        Wrong(Changed(("    if (i >= n) return;\n", "")),
              "There is no element beyond the last: a thread with i >= n must do nothing.",
              when=lambda seen: "out-of-bounds" in seen.kinds and seen.label == "two parts of three numbers"
                  and any(issue.thread[0] >= 3 for issue in seen.issues)),
    ],
)  # fmt: skip
