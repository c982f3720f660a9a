"""Find the fault: shared memory is used a second time while some threads still read the result of the first use."""

import re

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, rows, C in (("one row of four", 1, 4), ("a row longer than the block", 2, 150), ("eight rows", 8, 64)):
        yield Case(label, (0.5 + random.integers(-9, 10, size=(rows, C))).astype(np.float32))


def normalised(x):
    wide = x.astype(np.float64)  # (rows, C)
    centred = wide - wide.mean(-1, keepdims=True)
    return (centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)).astype(np.float32)


def launch(kernel, x):
    rows, C = x.shape
    y = cuda.empty(x.shape)  # (rows, C)
    kernel(rows, 64, (cuda.asarray(x), y, C))
    return y


def raced(seen):
    return "race" in seen.kinds


exercise = Exercise(
    title="Find the fault: used again too soon",
    minutes=10,
    language="cuda",
    defines="centre_and_scale",
    cases=cases,
    reference=normalised,
    call=launch,
    hints=(
        "Run the cell: the report names two lines and two threads. Which of them belongs to the first sum, which to the second?",
        "A fast warp returns from the first call, enters the second call, and writes to s. A slow one has not read s[0] "
        "yet.",
        "Read s[0] into a variable of the thread, then __syncthreads(), then return the variable.",
    ),
    example='''// The largest element of two arrays in turn, through the same shared memory; one block of 64 threads.
__device__ float largest(float own, float* s) {
    s[threadIdx.x] = own;
    __syncthreads();
    float most = s[0];
    for (int i = 1; i < 64; i++) most = fmaxf(most, s[i]);
    __syncthreads();  // no thread writes to s again before all have read it
    return most;
}

__global__ void largest_of_two(const float* a, const float* b, float* y) {
    __shared__ float s[64];
    float of_a = largest(a[threadIdx.x], s), of_b = largest(b[threadIdx.x], s);
    if (threadIdx.x == 0) y[0] = of_a, y[1] = of_b;
}
''',
    wrong=[
        Wrong(Changed(("    __syncthreads();  // the next call writes to s again", "    if (threadIdx.x < 32) __syncthreads();")),
              "A barrier that only some threads reach: all 64 must come to the same __syncthreads(). Put it outside the if.",
              when=lambda seen: "divergent-barrier" in seen.kinds),
        Wrong(Changed(("    __syncthreads();  // the next call writes to s again", "    __syncwarp();")),
              "__syncwarp() waits for the 32 lanes of one warp. The block has two warps: the other one goes on. "
              "__syncthreads() waits for the block.",
              when=lambda seen: raced(seen) and "__syncwarp" in seen.text),
        Wrong(Changed(("    float all = s[0];\n    __syncthreads();  // the next call writes to s again\n    return all;",
                       "    __syncthreads();\n    return s[0];")),
              "The barrier stands before s[0] is read. It must stand between that reading and the next writing: read s[0] "
              "into a variable, wait, then return.",
              when=lambda seen: raced(seen) and re.search(r"\}\s*__syncthreads\(\);\s*return s\[0\];", seen.text)),
        Wrong(Changed(("    float all = s[0];", "    float all = s[threadIdx.x];")),
              generic="`s[threadIdx.x]` must be `s[0]`. With that changed, all cases are right."),
    ],
)  # fmt: skip
