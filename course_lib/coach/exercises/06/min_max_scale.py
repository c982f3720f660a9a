"""Find the fault: shared memory that is used a second time while others still read what it held before."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extremes

THREADS = 64


def cases(random):
    for label, rows, C in (("one row of three", 1, 3), ("two rows of 64", 2, 64), ("rows longer than a block", 3, 150)):
        x = random.permuted(np.tile(np.arange(C, dtype=np.float32) - 5, (rows, 1)), axis=1)
        yield Case(label, 2 * x + np.float32(0.5))
    for label, x in extremes(random, (2, 40)):
        if label != "all equal":  # the range is 0
            yield Case(label, x)


def launch(kernel, x):
    y = cuda.empty(x.shape)
    kernel(len(x), THREADS, (cuda.asarray(x), y, x.shape[1]))
    return y


def races_at(seen, words):
    """Is one of the two lines of a race one that has these words?"""
    lines = seen.text.splitlines()
    numbers = [
        number for issue in seen.issues if issue.kind == "race" for number in (issue.line, issue.other_line) if number
    ]
    return any(words in lines[number - 1] for number in numbers)


exercise = Exercise(
    title="Find the faults: shared memory used twice",
    minutes=10,
    core=False,
    language="cuda",
    defines="min_max_scale",
    cases=cases,
    reference=lambda x: (x - x.min(axis=1, keepdims=True)) / np.ptp(x, axis=1, keepdims=True),
    call=launch,
    hints=(
        "The report names two lines that use the same element of `part`. What must have happened between them?",
        "Ask of each line that reads part[0]: has thread 0 written it for sure? And of each line that writes to part: have "
        "all read?",
        "Three barriers are missing: before and after `top = part[0]`, and before `bottom = part[0]`.",
    ),
    example='''// The left neighbour of each number in x plus that in y, one block of 64: the same shared memory is used twice.
__global__ void two_neighbours(const float* x, const float* y, float* sum) {
    __shared__ float shared[64];
    int t = threadIdx.x;
    shared[t] = x[t];
    __syncthreads();
    float left = shared[(t + 63) % 64];
    __syncthreads();  // all threads have read x
    shared[t] = y[t];
    __syncthreads();
    sum[t] = left + shared[(t + 63) % 64];
}
''',
    wrong=[
        Wrong(Changed(("__syncthreads();\n    float bottom = part[0];",
                       "if (t < C) __syncthreads();\n    float bottom = part[0];")),
              "A barrier stands where not all threads of the block reach it. Outside of every `if`, all of them do.",
              when=lambda seen: seen.kinds & {"missed-barrier", "divergent-barrier"}),
        Wrong(Changed(("__syncthreads();\n    float top = part[0];\n    __syncthreads();",
                       "__syncthreads();\n    float top = part[0];")),
              "Some threads read the largest while the last step of the tree still writes it, or while others already "
              "overwrite it with their smallest. Before a thread reads part[0], all must have written; "
              "before any writes again, all must have read.",
              when=lambda seen: races_at(seen, "top = part[0]") and races_at(seen, "= low")),
        Wrong(Changed(("__syncthreads();\n    float top = part[0];\n    __syncthreads();",
                       "float top = part[0];\n    __syncthreads();")),
              "The largest is safe now before it is overwritten. But some threads read part[0] for it before "
              "the last step of the tree has written it.", when=lambda seen: races_at(seen, "top = part[0]")),
        Wrong(Changed(("__syncthreads();\n    float bottom = part[0];", "float bottom = part[0];")),
              "Some threads read the smallest before the last step of the second tree has written it.",
              when=lambda seen: races_at(seen, "bottom = part[0]")),
    ],
)  # fmt: skip
