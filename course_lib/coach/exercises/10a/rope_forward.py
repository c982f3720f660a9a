"""RoPE: each pair of numbers of a head is rotated by the angle of its position."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import rotate, rotations, without_pair

OTHER_SIGN = r"""
template <int SIGN> __global__ void rotated(const float* x, const float* cos, const float* sin, float* y, int pairs, int T, int H,
                                            int half) {
    rotate(x, cos, sin, y, pairs, T, H, half, SIGN);
}
"""


def cases(random):
    for case in rotations(random):
        yield Case(case.label, *case.inputs, 1)
    yield Case("the sign of the backward pass", *case.inputs, -1)


def launch(kernel, x, cos, sin, sign):
    return rotate(kernel if sign == 1 else kernel.instance("rotated<-1>"), x, cos, sin)


def variant(
    sign=1.0, position=lambda row, T, H: row // H % T, rotated=lambda a, b, c, s: (a * c - b * s, b * c + a * s)
):
    def rope(x, cos, sin, own_sign):
        B, T, H, D = x.shape
        t = np.array([position(row, T, H) for row in range(B * T * H)])
        c, s = cos[t], sign * own_sign * sin[t]  # (B T H, D/2)
        first, second = x.reshape(-1, D)[:, : D // 2], x.reshape(-1, D)[:, D // 2 :]
        return np.concatenate(rotated(first, second, c, s), axis=1).reshape(x.shape).astype(np.float32)

    return rope


def adjacent(x, cos, sin, sign):
    """Pairs (2 i, 2 i + 1)."""
    c, s = cos[:, None], sign * sin[:, None]  # (T, 1, D/2)
    y = np.empty_like(x)
    y[..., ::2] = x[..., ::2] * c - x[..., 1::2] * s
    y[..., 1::2] = x[..., 1::2] * c + x[..., ::2] * s
    return y


def read_as_adjacent(x, cos, sin, sign):
    """Pairs (2 i, 2 i + 1) of x, written to the indices i and i + half."""
    return variant()(np.concatenate((x[..., ::2], x[..., 1::2]), axis=-1), cos, sin, sign)


def one_angle(x, cos, sin, sign):
    """Number t of cos and sin, each read as one long row, for all pairs of position t."""
    T, half = cos.shape
    return variant()(x, *(np.repeat(angles.reshape(-1)[:T, None], half, axis=1) for angles in (cos, sin)), sign)


exercise = Exercise(
    title="Rotate by the position",
    minutes=15,
    core=False,
    language="cuda",
    defines="rope_forward",
    target="kernel:rope.cu",
    instances=("", "rotated<-1>"),
    given=OTHER_SIGN,
    cases=cases,
    reference=variant(),
    call=launch,
    hints=(
        "Number the pairs of the whole array. Which row is pair i in, which pair of that row is it, and which position does "
        "that row have?",
        "row = i / half, its pair is i % half, its position t = row / H % T. The row's numbers begin at row * 2 * half.",
        "if (i >= pairs) return; int column = i % half, at = 2 * row * half + column; float c = cos[t * half + column], s = "
        "sign * sin[t * half + column]; read x[at] and x[at + half], then write both.",
    ),
    example='''// Complex numbers (n), all real parts, then all imaginary parts; each is multiplied by i: (a, b) -> (-b, a).
__global__ void times_i(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = x[i + n];
    y[i] = -b;
    y[i + n] = a;
}
''',
    wrong=[
        Wrong(Changed(("first * c - second * s", "first * c + second * s"), ("second * c + first * s", "second * c - first * s")),
              "The points are rotated in the opposite direction: the minus belongs to the first number, x[i] cos - x[i + half] "
              "sin.",
              like=variant(sign=-1.0)),
        Wrong(Changed(("2ll * row * half + column", "2ll * (row * half + column)"), ("x[at + half]",
                "x[at + 1]"), ("y[at + half]", "y[at + 1]")),
              "Number i makes a point with number i + half, not with number i + 1.", like=adjacent),
        Wrong(Changed(("first = x[at], second = x[at + half]",
                       "first = x[at + column], second = x[at + column + 1]")),
              "The numbers are read as neighbours, 2i and 2i + 1, and written to the indices i and i + half. Number i makes a "
              "point with number i + half.", like=read_as_adjacent),
        Wrong(Changed(("first * c - second * s", "first * c + second * s")),
              "Both numbers are sums here. The first is x[i] cos *minus* x[i + half] sin.",
              like=variant(rotated=lambda a, b, c, s: (a * c + b * s, b * c + a * s))),
        Wrong(Changed(("cos[t * half + column]", "cos[t]"), ("sin[t * half + column]", "sin[t]")),
              "Every position has `half` cosines, one for each pair: pair i of a row reads cos[t * half + i].",
              like=one_angle),
        Wrong(Changed(("t = row / H % T", "t = row % T")),
              "All heads of a token have the same position: the rows are numbered (b, t, h), so t is row / H % T.",
              like=variant(position=lambda row, T, H: row % T)),
        Wrong(Changed(("t = row / H % T", "t = min(row / H, T - 1)")),
              "The second text begins at position 0 again: t is row / H % T.",
              like=variant(position=lambda row, T, H: min(row // H, T - 1))),
        Wrong(Changed(("second * c + first * s", "second * c + y[at] * s")),
              "The second number is computed from the new first one. Read both old numbers before you write.",
              like=variant(rotated=lambda a, b, c, s: (a * c - b * s, b * c + (a * c - b * s) * s))),
        Wrong(Changed(("t = row / H % T", "t = row / H")),
              "cos and sin end at position T - 1. The second text begins at position 0 again: t is row / H % T.",
              when=lambda seen: any(f"of '{name}'" in issue.message for issue in seen.issues for name in ("cos", "sin"))
                  and seen.label == "two texts"),
        Wrong(Changed(("    if (i >= pairs) return;\n", "")),
              "There are more threads than pairs: those from `pairs` on must do nothing.", when=without_pair),
    ],
)  # fmt: skip
