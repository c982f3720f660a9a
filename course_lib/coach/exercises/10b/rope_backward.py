"""RoPE's backward pass: the transpose of a rotation is the rotation in the opposite direction."""

import numpy as np

from course_lib.coach.exercise import Changed, Exercise, Wrong
from course_lib.coach.shared_cases import rotate, rotations, without_pair


def gradient(first=(1, 1), second=(1, -1), position=lambda row, T, H: row // H % T):
    """dx from the derivatives of y; the signs are those of the cosine and the sine in each of the two numbers."""

    def back(dy, cos, sin):
        B, T, H, D = dy.shape
        t = np.array([position(row, T, H) for row in range(B * T * H)])
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
    cases=rotations,
    reference=gradient(),
    call=rotate,
    hints=(
        "Write down the derivatives: that of y[i] with respect to x[i] is cos, that of y[i + half] is sin. What are those with "
        "respect to x[i + half]?",
        "dx[i] = dy[i] cos + dy[i + half] sin, and dx[i + half] = dy[i + half] cos - dy[i] sin: the forward pass with the sign "
        "of the sine changed.",
        "rotate: int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= pairs) return; row = i / half, column = i % half, "
        "t = row / H % T, at = 2 * row * half + column, s = sign * sin[t * half + column], then the forward formulas with "
        "s; rope_backward calls rotate(dy, cos, sin, dx, pairs, T, H, half, -1.0f).",
    ),
    example='''// Backward of y[2 i] = 2 a + 3 b and y[2 i + 1] = 5 a, where a and b are x[2 i] and x[2 i + 1].
// Each gradient sums, over both numbers of y, derivative times dy: the matrix of derivatives, transposed, times dy.
__global__ void mix_backward(const float* dy, float* dx, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    dx[2 * i] = 2.0f * dy[2 * i] + 5.0f * dy[2 * i + 1];
    dx[2 * i + 1] = 3.0f * dy[2 * i];
}
''',
    wrong=[
        Wrong(Changed(("half, -1.0f)", "half, 1.0f)")),
              "This is the rotation of the forward pass once more. The derivative of y[i + half] with respect to x[i] is +sin, "
              "so dx[i] gets +sin times dy[i + half]: the rotation in the opposite direction.",
              like=gradient(first=(1, -1), second=(1, 1))),
        Wrong(Changed(("first * c - second * s", "first * c + second * -s"), ("second * c + first * "
                                                                              "s", "second * c - first * s")),
              "Both numbers are sums here. x[i + half] enters y[i] with -sin, so dx[i + half] has -sin times dy[i].",
              like=gradient(second=(1, 1))),
        Wrong(Changed(("first * c - second * s", "first * c + second * s")),
              "Both numbers are differences here. x[i] enters y[i + half] with +sin, so dx[i] has +sin times dy[i + half].",
              like=gradient(first=(1, -1))),
        Wrong(Changed(("t = row / H % T", "t = row % T")),
              "All heads of a token have the same position: the rows are numbered (b, t, h), so t is row / H % T.",
              like=gradient(position=lambda row, T, H: row % T)),
        Wrong(Changed(("t = row / H % T", "t = row / H")),
              "cos and sin end at position T - 1. The second text begins at position 0 again: t is row / H % T.",
              when=lambda seen: any(f"of '{name}'" in issue.message for issue in seen.issues for name in ("cos", "sin"))
                  and seen.label == "two texts"),
        Wrong(Changed(("    if (i >= pairs) return;\n", "")),
              "There are more threads than pairs: those from `pairs` on must do nothing.", when=without_pair),
    ],
)  # fmt: skip
