"""A short causal convolution: each number of a channel is read once, and the last few stay in registers."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests

COUNTED = "64 channels, 16 times"


def cases(random):
    yield Case(
        "three times of one channel", np.array([[[1], [2], [3]]], np.float32), np.array([[1], [10], [100]], np.float32)
    )
    for label, B, T, C, TAPS in (("one time", 1, 1, 2, 4), (COUNTED, 1, 16, 64, 4), ("ragged, two batches", 2, 11, 5, 4),
                                 ("three taps", 1, 20, 33, 3)):  # fmt: skip
        yield Case(label, random.integers(-4, 5, (B, T, C)).astype(np.float32) / 2,
                   random.integers(-4, 5, (TAPS, C)).astype(np.float32) / 2)  # fmt: skip


def launch(kernel, x, w):
    (B, T, C), TAPS = x.shape, len(w)
    y = cuda.empty(x.shape)
    kernel.instance(f"{TAPS}, 8")((-(-C // 32), -(-T // 8), B), 32, (cuda.asarray(x), cuda.asarray(w), y, T, C))
    return y


def convolution(x, w):
    y = np.zeros_like(x)
    for tap in range(len(w)):
        for t in range(tap, x.shape[1]):
            y[:, t] += w[tap] * x[:, t - tap]
    return y


def never_moved(x, w):
    """The numbers before stay those from before the first time of the thread."""
    y = w[0] * x
    for t in range(x.shape[1]):
        for tap in range(1, len(w)):
            if t // 8 * 8 - tap >= 0:
                y[:, t] += w[tap] * x[:, t // 8 * 8 - tap]
    return y


def moved_upwards(x, w):
    """After the first time every earlier number is the one just read."""
    y = np.zeros_like(x)
    for t in range(x.shape[1]):
        for tap in range(len(w)):
            at = t - tap if t % 8 == 0 or tap == 0 else t - 1
            if at >= 0:
                y[:, t] += w[tap] * x[:, at]
    return y


exercise = Exercise(
    title="A short convolution",
    minutes=10,
    core=False,
    language="cuda",
    defines="convolution_2_registers",
    instances=("4, 8", "3, 8"),
    cases=cases,
    reference=convolution,
    call=launch,
    measured=COUNTED,
    goals=[Goal("requests that read global memory", requests("read"), at_most=60)],
    hints=(
        "A loop for (int t = first; t < min(first + EACH, T); t++). The number of time t lies at x[(long long)t * C].",
        "last[0] = the new number; y[(long long)t * C] = the sum of weight[tap] * last[tap]; then move up from the end, so "
        "that nothing is overwritten before it has moved.",
        "for (int tap = TAPS - 1; tap > 0; tap--) last[tap] = last[tap - 1];",
    ),
    example='''// Differences of neighbours in time: the number before stays in a register.
__global__ void differences(const float* x, float* y, int T) {
    float before = 0.0f;
    for (int t = 0; t < T; t++) {
        float now = x[t];
        y[t] = now - before;
        before = now;
    }
}
''',
    wrong=[
        Wrong(Changed(("for (int tap = TAPS - 1; tap > 0; tap--) last[tap] = last[tap - 1];",
                       "for (int tap = 1; tap < TAPS; tap++) last[tap] = last[tap - 1];")),
              "Moved from the front, the newest number overwrites all others. Begin at the end: TAPS - 1 gets TAPS - 2 first.",
              like=moved_upwards),
        Wrong(Changed(("tap > 0; tap--) last[tap] = last[tap - 1];", "tap > 0; tap--);")),
              "The numbers in `last` never move up, so every time sees those from before the first one.", like=never_moved),
        Wrong(Changed(("t < min(first + EACH, T)", "t < first + EACH")), generic="out of bounds"),
        Wrong(Changed(("sum += weight[tap] * last[tap];",
                       "sum += weight[tap] * (t >= tap ? x[(long long)(t - tap) * C] : 0.0f);")),
              generic="the goal is not reached"),
        Wrong(Changed(("sum += weight[tap] * last[tap]", "sum += weight[TAPS - 1 - tap] * last[tap]")),
              "The weights are in reverse: w[0] belongs to the newest number.",
              like=lambda x, w: convolution(x, w[::-1])),
    ],
)  # fmt: skip
