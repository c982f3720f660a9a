"""Find the faults: one factor for all, which lies in memory, was taken for an array of factors."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import LAST_MISSING, WHOLE_PACK, whole_pack

BLOCK = 64


def cases(random):
    for label, n, N in (("two numbers", 2, 1), ("one pack", 4, 4), ("a pack and two more", 6, 4),
                        ("several blocks, a ragged end", 571, 4), ("several blocks of single numbers", 150, 1)):  # fmt: skip
        yield Case(
            label, (0.5 + random.integers(1, 100, n)).astype(np.float32), np.float32(-0.75 if n == 6 else 2.5), N
        )


def launch(kernel, x, factor, N):
    n, x, y = len(x), cuda.asarray(x), cuda.empty(len(x))
    there = cuda.asarray(np.array([factor], np.float32))
    kernel.instance(str(N))((n + BLOCK * N - 1) // (BLOCK * N), BLOCK, (x, there, y, n))
    return y


def whole_packs_only(x, factor, N):
    y = np.full(len(x), np.nan, np.float32)
    y[: len(x) // N * N] = (factor * x)[: len(x) // N * N]
    return y


def outside_factor(seen):
    return any(issue.kind == "out-of-bounds" and "'factor'" in issue.message for issue in seen.issues)


exercise = Exercise(
    title="Find the faults: one factor for all",
    minutes=5,
    core=False,
    language="cuda",
    defines="scale",
    instances=("4", "1"),
    cases=cases,
    reference=lambda x, factor, N: factor * x,
    call=launch,
    hints=(
        "How long is `factor`? The report says which index of it was read.",
        "All threads need the same number. It is read already, into a variable of the thread's own: which?",
        "p.item[j] *= by; and, in the last loop, y[i] = by * x[i];",
    ),
    example='''// y = x + shift[0], the same idea with a sum.
__global__ void shift_all(const float* x, const float* shift, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float by = shift[0];
    if (i < n) y[i] = x[i] + by;
}
''',
    wrong=[
        Wrong(Changed(("by * x[i]", "factor[i] * x[i]")),
              "`factor` has one number, for all of x. The number of a thread, or of an item, is no index into it: factor[0].",
              when=outside_factor),
        Wrong(Changed(("if (i + N <= n) {", "if (i < n) {")),
              WHOLE_PACK, when=lambda seen: whole_pack(seen, len(seen.inputs[0]), seen.inputs[2], BLOCK)),
        Wrong(Changed(("for (; i < n; i++) y[i] = by * x[i];", "return;")), LAST_MISSING, like=whole_packs_only),
        Wrong(Changed(("p.item[j] *= by", "p.item[j] += by"), ("by * x[i]", "by + x[i]")),
              "The factor was added, not multiplied.", like=lambda x, factor, N: x + factor),
    ],
)  # fmt: skip
