"""Find the fault: a histogram in shared memory, with races."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

LETTERS = 26


def cases(random):
    yield Case("four letters", np.array([2, 0, 2, 25], np.int32))
    for label, n in (("one letter", 1), ("more than a block", 300), ("one letter again and again", 200)):
        yield Case(
            label, np.full(n, 4, np.int32) if "again" in label else random.integers(0, LETTERS, n).astype(np.int32)
        )


def launch(kernel, letters):
    counts = cuda.zeros(LETTERS, np.int32)  # (26,)
    kernel(2, 64, (cuda.asarray(letters), counts, len(letters)))
    return counts


def lines_of(seen):
    """The lines of the first race, without spaces."""
    lines = seen.text.replace(" ", "").splitlines()
    issue = next((issue for issue in seen.issues if issue.kind == "race"), None)
    return [lines[n - 1] for n in (issue.line, issue.other_line) if n and n <= len(lines)] if issue else []


exercise = Exercise(
    title="Find the fault: counted by many",
    minutes=10,
    core=False,
    language="cuda",
    defines="histogram",
    cases=cases,
    reference=lambda letters: np.bincount(letters, minlength=LETTERS).astype(np.int32),
    call=launch,
    hints=(
        "There are three faults. The report shows one after the other: fix one, and run again.",
        "Three phases: set to 0, count, add to the result. Between two phases all threads must wait. And within the second, "
        "many threads update the same count.",
        "__syncthreads(); then the loop with atomicAdd(&own[letters[i]], 1); then __syncthreads();",
    ),
    example='''// How many numbers of each block are above 0: one count in shared memory.
__global__ void above_zero(const float* x, int* counts, int n) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f) atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}
''',
    wrong=[
        Wrong(Changed(("        atomicAdd(&own[letters[i]], 1);\n    }\n    __syncthreads();\n",
                       "        atomicAdd(&own[letters[i]], 1);\n        __syncthreads();\n    }\n")),
              "A barrier is in a loop or an if that some threads run less often, so some never reach it. Put it outside.",
              when=lambda seen: bool(seen.kinds & {"divergent-barrier", "missed-barrier"})),
        Wrong(Changed(("atomicAdd(&own[letters[i]], 1);", "own[letters[i]] += 1;")),
              "Two threads find the same letter and update the same count: += reads, adds and writes, and another thread may "
              "write in between. atomicAdd does all three in one step.",
              when=lambda seen: any("counts[" not in line and ("]+=" in line or "]++" in line) for line in lines_of(seen))),
        Wrong(Changed(("    __syncthreads();\n    for", "    for")),
              "A thread counts before another has set the count to 0. A barrier must stand between the two.",
              when=lambda seen: any(line.endswith("=0;") for line in lines_of(seen))),
        Wrong(Changed(("atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);", "counts[threadIdx.x] += own[threadIdx.x];")),
              "Two blocks add to the same count of the result: += reads, adds and writes, and a thread of the other block may "
              "write in between. There, too, use atomicAdd.",
              when=lambda seen: any("counts[threadIdx.x]+=" in line for line in lines_of(seen))),
        Wrong(Changed(("    }\n    __syncthreads();\n", "    }\n")),
              "The first 26 threads add the counts to the result while others still count. A barrier must stand before that.",
              when=lambda seen: any("counts[threadIdx.x]" in line for line in lines_of(seen))),
    ],
)  # fmt: skip
