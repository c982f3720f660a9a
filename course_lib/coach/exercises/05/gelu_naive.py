"""GELU as the lecture writes SiLU: one thread for each number."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.devices import ops

BLOCK = 64
FACTOR = 1.5957691216


def cases(random):
    for label, n in (
        ("one number", 1),
        ("three numbers", 3),
        ("one block", 64),
        ("a last block that is too long", 150),
    ):
        x = random.normal(0, 2, size=n).astype(np.float32)
        x[: min(n, 3)] = [1.0, -30.0, 50.0][: min(n, 3)]
        yield Case(label, x)


def launch(kernel, x):
    n, x, y = len(x), cuda.asarray(x), cuda.empty(x.shape)  # (n,)
    kernel((n + BLOCK - 1) // BLOCK, BLOCK, (x, y, n))
    return y


def gate(x, factor=FACTOR):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-factor * (x + 0.044715 * x**3)))


def first_block(x):
    y = np.full(len(x), np.nan)
    y[:BLOCK] = (x * gate(x))[:BLOCK]
    return y


exercise = Exercise(
    title="GELU, one number for each thread",
    minutes=10,
    language="cuda",
    defines="gelu_naive",
    cases=cases,
    reference=lambda x: ops("reference").gelu_forward(x.astype(np.float64)),
    call=launch,
    hints=(
        "Which number is this thread's? Begin as in chapter 04, and leave out the threads that have none.",
        "Keep u in a variable: float u = 1.5957691216f * (...); In the brackets stand x[i] and 0.044715f times its third power.",
        "if (i < n) { float u = 1.5957691216f * (x[i] + 0.044715f * x[i] * x[i] * x[i]); y[i] = x[i] / (1.0f + expf(-u)); }",
    ),
    example="""// The gate alone, of another function: 1 / (1 + e to the minus 4x).
__global__ void steep_sigmoid(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float u = 4.0f * x[i];
        y[i] = 1.0f / (1.0f + expf(-u));
    }
}
""",
    wrong=[
        Wrong(Changed(("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x")),
              "Every block works on the first 64 numbers: threadIdx.x is the index inside a block. Count on through all blocks.",
              like=first_block),
        Wrong(Changed(("if (i < n) {", "{")),
              "The last block is longer than what is left of the array. A thread whose i is n or more must do nothing.",
              when=lambda seen: "out-of-bounds" in seen.kinds and seen.label == "one number"),
        Wrong(Changed(("1.5957691216f", "0.7978845608f")),
              "The factor in u is 2 sqrt(2 / pi), which is 1.5957691216. Here it is half of that.",
              like=lambda x: x * gate(x, FACTOR / 2)),
        Wrong(Changed(("expf(-u)", "expf(u)")),
              "The sign in the exponent is wrong: the gate is 1 / (1 + e to the minus u), so it is near 1 for large numbers.",
              like=lambda x: x * gate(x, -FACTOR)),
        Wrong(Changed(("(x[i] + 0.044715f * x[i] * x[i] * x[i])", "x[i] + 0.044715f * x[i] * x[i] * x[i]")),
              "The factor 1.5957691216 belongs to both terms of the bracket: factor * (x + 0.044715 x^3).",
              like=lambda x: x / (1 + np.exp(np.minimum(-FACTOR * x - 0.044715 * x**3, 700)))),
        Wrong(Changed(("0.044715f * x[i] * x[i] * x[i]", "0.044715f * x[i] * x[i]")),
              "The second term in the bracket is 0.044715 times the *third* power of x.",
              like=lambda x: x / (1 + np.exp(-FACTOR * (x + 0.044715 * x**2)))),
        Wrong(Changed(("x[i] / (1.0f + expf(-u))", "1.0f / (1.0f + expf(-u))")),
              "y is the gate itself. GELU is x times the gate.", like=gate),
    ],
)  # fmt: skip
