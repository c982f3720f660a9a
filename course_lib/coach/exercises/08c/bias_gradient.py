"""Find the fault: a sum kept in bfloat16 stands still at 256."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import bfloat16_bits, rounded


def cases(random):
    yield Case("three rows", (0.5 + random.integers(-9, 10, size=(3, 2))).astype(np.float32))
    yield Case("one number", np.full((1, 1), 3, np.float32))
    yield Case("401 ones", np.ones((401, 1), np.float32))
    yield Case("seven hundred small terms", np.full((700, 3), 0.125, np.float32))
    yield Case("more columns than a block", (0.5 + random.integers(-9, 10, size=(50, 70))).astype(np.float32))


def launch(kernel, dY):
    M, N = dY.shape
    y = cuda.empty((N,))
    kernel(-(-N // 32), 32, (cuda.asarray(bfloat16_bits(dY)), y, M, N))
    return y


def short_sum(dY):
    total = np.zeros(dY.shape[1], np.float32)
    for row in dY:
        total = rounded(total + row)
    return total


exercise = Exercise(
    title="Find the fault: a sum that stands still",
    minutes=10,
    language="cuda",
    defines="bias_gradient",
    cases=cases,
    reference=lambda dY: dY.sum(axis=0),
    call=launch,
    hints=(
        "Run the cell: 401 ones give 256. The lecture had a sum that ended there.",
        "The numbers of dY may stay bfloat16. But their sum needs more than eight binary digits: which type has them?",
        "float sum = 0.0f; in the loop sum += __bfloat162float(dY[i * N + j]); and at the end y[j] = sum;",
    ),
    example='''// The mean of n numbers in bfloat16, by one thread: the sum is float32.
#include <cuda_bf16.h>
__global__ void mean(const __nv_bfloat16* x, float* y, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += __bfloat162float(x[i]);
    y[0] = sum / n;
}
''',
    wrong=[
        Wrong(Changed(("float sum = 0.0f;", "__nv_bfloat16 sum = __float2bfloat16(0.0f);"),
                      ("sum += __bfloat162float(dY[i * N + j]);", "sum = sum + dY[i * N + j];")),
              "Up to 256 the sum of ones is right; then it stands still, however many follow. Which number "
              "of the kernel has too few digits for 257?", like=short_sum),
        Wrong(Changed(("y[j] = sum;", "y[j] = __bfloat162float(__float2bfloat16(sum));")),
              "The sum is float32, but it was rounded to bfloat16 before it was written. y holds floats.",
              like=lambda dY: rounded(dY.sum(axis=0))),
        Wrong(Changed(("float sum = 0.0f;", "float sum = __bfloat162float(dY[j]);")),
              "The first row is counted twice: it is in the sum before the loop begins, and in the loop.",
              like=lambda dY: dY.sum(axis=0) + dY[0]),
        Wrong(Changed(("dY[i * N + j]", "dY[j * M + i]")),
              "These are sums of M neighbouring numbers in memory. A column's numbers lie N elements apart.",
              like=lambda dY: rounded(dY).reshape(dY.shape[::-1]).sum(axis=1)),
    ],
)  # fmt: skip
