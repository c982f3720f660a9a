"""The first kernel: one thread for each element, and a last block that is too long."""

import re

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates

BLOCK = 32


def cases(random):
    lengths = {"one full block": 32, "one number": 1, "a last block that is too long": 40, "many blocks": 1000}
    for label, length in lengths.items():
        yield Case(label, random.normal(size=length).astype(np.float32), -0.75 if length == 40 else 2.5)


def launch(kernel, x, s):
    x, y = cuda.asarray(x), cuda.empty(x.shape)  # (N,)
    kernel((len(x) + BLOCK - 1) // BLOCK, BLOCK, (x, y, s, len(x)))
    return y


def own_block_only(x, s):
    y = np.full_like(x, np.nan)
    y[:BLOCK] = s * x[:BLOCK]
    return y


def all_by_everyone(seen):
    """Do threads meet in a loop over all numbers that no single thread was picked for?"""
    loop = r"for\s*\(\s*\w+\s+(\w+)\s*=\s*0\s*;\s*\1\s*<\s*n\b"
    return "race" in seen.kinds and "Idx" in seen.text and re.search(loop, seen.text) and "== 0" not in seen.text


exercise = Exercise(
    title="One thread for each number",
    minutes=10,
    language="cuda",
    defines="scale",
    cases=cases,
    reference=lambda x, s: np.float32(s) * x,
    call=launch,
    measured="many blocks",
    goals=rates(1.1 * 8 * 1000, read=4.0),
    hints=(
        "Which number is mine? Count the threads of all blocks before mine, then my own index in the block.",
        "`blockIdx.x * blockDim.x + threadIdx.x` counts on through all blocks. In the last block it may be n or more.",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; and then: if (i < n) ...",
    ),
    example='''__global__ void fill(float* y, float value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = value;
    }
}
''',
    wrong=[
        Wrong(Changed(("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x")),
              "Every block works on the first 32 numbers: threadIdx.x is the index inside a block. Which block is it?",
              like=own_block_only),
        Wrong("""__global__ void scale(const float* x, float* y, float s, int n) {
    int mine = blockIdx.x * blockDim.x + threadIdx.x;
    if (mine < n) {
        for (int i = 0; i < n; i++) y[i] = s * x[i];
    }
}
""",
              "A loop from 0 to n stands in the kernel, so every thread does all the work, and all of them write the same "
              "numbers. There is a thread for each number: let each do its own.", when=all_by_everyone),
        Wrong(Changed(("if (i < n) {", "if (i <= n) {")),
              "One thread too many takes part: the numbers are 0 to n - 1, so number n is none of them.",
              when=lambda seen: [issue.count for issue in seen.issues if issue.kind == "out-of-bounds"] == [1]),
        Wrong(Changed(("if (i < n) {", "{")),
              "The last block is longer than what is left of the array. Its last threads must do nothing.",
              when=lambda seen: "out-of-bounds" in seen.kinds and seen.label == "one number"),
        Wrong(Changed(("s * x[i]", "s + x[i]")), generic="line 4, `s + x[i]`, has values"),
        Wrong("""__global__ void scale(const float* x, float* y, float s, int n) {
    for (int i = 0; i < n; i++) y[i] = s * x[i];
}
""", generic="uses neither threadIdx nor blockIdx"),
        Wrong(Changed(("const float* x, float* y,", "float* y, const float* x,")),
              generic="are in another order than in the task"),
        Wrong(Changed(("s * x[i];", "s * x[i]")), generic="A semicolon is missing"),
    ],
)  # fmt: skip
