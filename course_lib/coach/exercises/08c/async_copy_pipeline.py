"""Find the fault: asynchronous copies, and a reader that does not wait for them."""

import re

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    for label, n in (("one row", 1), ("two rows", 2), ("seven rows", 7)):
        yield Case(label, (0.5 + random.integers(-99, 100, size=(n, 128))).astype(np.float32))


def launch(kernel, x):
    y = cuda.empty(x.shape)  # (n, 128)
    kernel(1, 32, (cuda.asarray(x), y, len(x)))
    return y


exercise = Exercise(
    title="Find the fault: read before it has arrived",
    minutes=10,
    core=False,
    language="cuda",
    defines="async_copy_pipeline",
    cases=cases,
    reference=lambda x: np.ascontiguousarray(x[:, ::-1]),
    call=launch,
    hints=(
        "At the wait two groups may be in flight: the row that is needed now, and the next one. How many may remain?",
        "`cp_async_wait<n>` leaves at most the n youngest groups in flight. And a lane waits only for its own copies; it reads "
        "those of others.",
        "ptx::cp_async_wait<1>(); and after it __syncthreads();",
    ),
    example='''// One row, copied and read in the order of its lanes: each lane waits for its own copy only.
#include "ptx.cuh"
__global__ void bring(const float* x, float* y) {
    __shared__ __align__(16) float row[128];
    int lane = threadIdx.x;
    ptx::cp_async_16(&row[4 * lane], x + 4 * lane);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    for (int j = 4 * lane; j < 4 * lane + 4; j++) y[j] = 2.0f * row[j];
}
''',
    wrong=[
        Mistake("The barrier stands before the wait. A wait is for a lane's own copies only: first each lane waits, then "
              "comes the barrier.",
                when=lambda seen: bool(seen.issues)
                    and re.search(r"__sync\w+\(\);\s*ptx::cp_async_wait[^;]*;(?!\s*__sync)", seen.text) is not None),
        Wrong(Changed(("        ptx::cp_async_wait<1>();\n", "")),
              "No lane waits for the copies any more: it reads the old contents of the buffer.",
              when=lambda seen: bool(seen.issues) and "cp_async_wait" not in seen.text),
        Wrong(Changed(("cp_async_wait<1>();\n        __syncthreads();", "cp_async_wait<1>();")),
              "Each lane waits for its own copies, but reads what other lanes have copied: after the wait comes a barrier "
              "for all.",
              when=lambda seen: seen.kinds == {"race"} and "cp_async_wait<2>" not in seen.text
                  and seen.text.count("__syncthreads()") < 2),
        Wrong(Changed(("cp_async_wait<1>()", "cp_async_wait<2>()")),
              "It leaves 2 groups in flight, and one of them is the row that is read now. Each copy is waited for one iteration "
              "too late.",
              when=lambda seen: bool(seen.issues) and "cp_async_wait<2>" in seen.text),
        Wrong(Changed(("slice[i % 2][127 - j]", "slice[i % 2][128 - j]")), generic="Your kernel accesses an array out of bounds"),
    ],
)  # fmt: skip
