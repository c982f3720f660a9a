"""Find the fault: warps write their sums to shared memory, and no barrier stands before they are read."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, n in (("four numbers", 4), ("one number", 1), ("one hundred", 100), ("several blocks", 700)):
        yield Case(label, (0.5 + random.integers(-4, 5, size=n)).astype(np.float32))


def squares(g):
    """A sum for each of two blocks of 128 threads."""
    owner = np.arange(len(g)) // 128 % 2
    return np.array([(g[owner == block].astype(np.float64) ** 2).sum() for block in range(2)], np.float32)


def launch(kernel, g):
    partial = cuda.empty(2)  # (blocks,)
    kernel(2, 128, (cuda.asarray(g), partial, len(g)))
    return partial


exercise = Exercise(
    title="Find the fault: too early",
    minutes=10,
    language="cuda",
    defines="norm_squares",
    cases=cases,
    reference=squares,
    call=launch,
    hints=(
        "Run the cell: the report names the line that writes and the line that reads too early.",
        "Each warp writes its sum to s. Which thread reads them, and has it waited for the others?",
        "A __syncthreads() between the two, outside of any if.",
    ),
    example='''// The largest of 128 numbers, by four warps.
__global__ void largest(const float* x, float* y) {
    __shared__ float s[4];
    float most = x[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = most;
    __syncthreads();  // all four are written
    if (threadIdx.x == 0) y[0] = fmaxf(fmaxf(s[0], s[1]), fmaxf(s[2], s[3]));
}
''',
    wrong=[
        Wrong(Changed(("    __syncthreads();  // all four are there", "    __syncwarp();")),
              "__syncwarp() waits for one warp. The sums come from four warps: the whole block must wait.",
              when=lambda seen: "race" in seen.kinds and "__syncwarp" in seen.text),
        Wrong(Changed(("    __syncthreads();  // all four are there\n    if (threadIdx.x == 0) partial",
                       "    if (threadIdx.x < 32) __syncthreads();\n    if (threadIdx.x == 0) partial")),
              "Only some threads reach the barrier: all threads of the block must.",
              when=lambda seen: bool(seen.kinds & {"divergent-barrier", "missed-barrier"})),
        Wrong(Changed(("s[0] + s[1] + s[2] + s[3]", "s[0]")), "Only the sum of the first warp is used. There are four in s.",
              like=lambda g: np.array([(g[(np.arange(len(g)) // 128 % 2 == b) & (np.arange(len(g)) % 128 < 32)] ** 2).sum()
                  for b in range(2)], np.float32)),
    ],
)  # fmt: skip
