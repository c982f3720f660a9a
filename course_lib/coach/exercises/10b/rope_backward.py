"""RoPE's way back: the transpose of a turn is the turn in the other direction."""

import numpy as np

from course_lib.coach.exercise import Changed, Exercise, Wrong
from course_lib.coach.trials import turn, turned_too_many, turns


def slopes(first=(1, 1), second=(1, -1), place=lambda row, T, H: row // H % T):
    """dx from the slopes of y; the signs are those of the cosine and the sine in each of the two numbers."""

    def back(dy, cos, sin):
        B, T, H, D = dy.shape
        t = np.array([place(row, T, H) for row in range(B * T * H)])
        c, s = cos[t].astype(np.float64), sin[t]  # (B T H, D/2)
        a, b = dy.reshape(-1, D)[:, : D // 2], dy.reshape(-1, D)[:, D // 2 :]
        dx = np.concatenate([first[0] * a * c + first[1] * b * s, second[0] * b * c + second[1] * a * s], axis=1)
        return dx.reshape(dy.shape).astype(np.float32)

    return back


exercise = Exercise(
    title="Rotate back",
    minutes=10,
    core=False,
    language="cuda",
    defines="rope_backward",
    target="kernel:rope.cu",
    cases=turns,
    reference=slopes(),
    call=turn,
    hints=(
        "Write down the two slopes of each: y[i] changes by cos when x[i] moves, and y[i + half] by sin. What are those of x[i "
        "+ half]?",
        "dx[i] = dy[i] cos + dy[i + half] sin, and dx[i + half] = dy[i + half] cos - dy[i] sin: the forward, with the sine's "
        "sign changed.",
        "turn: row = i / half, column = i % half, t = row / H % T, at = 2 * row * half + column, s = sign * sin[t * half + "
        "column]; and "
        "rope_backward calls turn(dy, cos, sin, dx, pairs, T, H, half, -1.0f).",
    ),
    sibling='''// The way back of a mix of neighbours: y[2 i] = 2 a + 3 b, y[2 i + 1] = 5 a, where a, b are x[2 i] and x[2 i + 1].
// Each number of x collects, from both numbers of y, slope times dy: the table of slopes, rows and columns exchanged.
__global__ void mix_backward(const float* dy, float* dx, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    dx[2 * i] = 2.0f * dy[2 * i] + 5.0f * dy[2 * i + 1];
    dx[2 * i + 1] = 3.0f * dy[2 * i];
}
''',
    wrong=[
        Wrong(Changed(("half, -1.0f)", "half, 1.0f)")),
              "This is the forward's turn once more. If x[i] grows, y[i + half] grows by the sine: dx[i] gets +sin times "
              "that dy, and so the turn goes the other way.", like=slopes(first=(1, -1), second=(1, 1))),
        Wrong(Changed(("first * c - second * s", "first * c + second * -s"), ("second * c + first * "
                                                                              "s", "second * c - first * s")),
              "Both numbers are sums here. x[i + half] came into y[i] with a minus, so dx[i + half] has -sin times dy[i].",
              like=slopes(second=(1, 1))),
        Wrong(Changed(("first * c - second * s", "first * c + second * s")),
              "Both numbers are differences here. x[i] came into y[i + half] with a "
              "plus, so dx[i] has +sin times dy[i + half].", like=slopes(first=(1, -1))),
        Wrong(Changed(("t = row / H % T", "t = row % T")),
              "The heads of a word stand at one place: the rows are numbered (b, t, h), so t is row / H % T.",
              like=slopes(place=lambda row, T, H: row % T)),
        Wrong(Changed(("t = row / H % T", "t = row / H")),
              "The tables end at place T - 1. The second text begins at place 0 again: t is row / H % T.",
              when=lambda seen: any(f"of '{name}'" in issue.message for issue in seen.issues for name in ("cos", "sin"))
                  and seen.label == "two texts"),
        Wrong(Changed(("    if (i >= pairs) return;\n", "")),
              "There are more threads than pairs: those from `pairs` on must do nothing.", when=turned_too_many),
    ],
)  # fmt: skip
