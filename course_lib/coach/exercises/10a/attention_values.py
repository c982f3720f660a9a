"""The third of the three naive kernels: weights times values, with grouped-query attention."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import beyond


def cases(random):
    for label, B, T, S, H, G, D in (("one query, two keys", 1, 1, 2, 1, 1, 1), ("two heads", 1, 2, 3, 2, 2, 2),
                                    ("two texts", 2, 2, 2, 1, 1, 3), ("four query heads, two value heads", 1, 3, 5, 4, 2, 2),
                                    ("six query heads, one value head", 2, 3, 7, 6, 1, 5),
                                    ("more than a block", 2, 5, 9, 4, 2, 8)):  # fmt: skip
        weights = (0.5 + random.integers(0, 9, size=(B, H, T, S))).astype(np.float32)
        yield Case(label, weights / 8, (0.5 + random.integers(1, 9, size=(B, S, G, D))).astype(np.float32))


def mixed(weights, v, head=None, text=lambda b: b, swap=False):
    """y (B, T, H, D). head(h, H, G): whose keys and values; swap: (B, H, T, D) instead, in the same memory."""
    (B, H, T, _), D = weights.shape, v.shape[3]
    G = v.shape[2]
    y = np.empty((B, T, H, D), np.float32)
    for b in range(B):
        for h in range(H):
            g = h // (H // G) if head is None else head(h, H, G)
            y[b, :, h] = weights[b, h] @ v[text(b), :, g]  # (T, S) (S, D)
    return y.transpose(0, 2, 1, 3).reshape(B, T, H, D) if swap else y


def heads_second(weights):
    """The weights, read as (B, T, H, S)."""
    B, H, T, S = weights.shape
    return weights.reshape(B, T, H, S).transpose(0, 2, 1, 3)


def launch(kernel, weights, v):
    (B, H, T, S), (G, D) = weights.shape, v.shape[2:]
    y = cuda.empty((B, T, H, D))
    arrays = cuda.asarray(weights), cuda.asarray(v)
    kernel((y.size + 31) // 32, 32, (*arrays, y, B, T, S, H, G, D))
    return y


exercise = Exercise(
    title="Weights times values",
    minutes=15,
    core=False,
    language="cuda",
    defines="attention_values",
    cases=cases,
    reference=mixed,
    call=launch,
    hints=(
        "y is (B, T, H, D), and the last index runs fastest. So d = i % D, h = i / D % H, and so on.",
        "The row of weights begins at ((b * H + h) * T + t) * S. Number (b, s, g, d) of v has the offset ((b * S + s) * G + g) "
        "* D + d.",
        "if (i >= B * T * H * D) return; for (int s = 0; s < S; s++) sum += weights[... + s] * v[((b * S + s) * G + g) * D "
        "+ d]; with g = h / (H / G); then y[i] = sum.",
    ),
    example='''// The mean of the values of each head, over all tokens of a text: v (B, S, G, D), y (B, G, D).
__global__ void mean_value(const float* v, float* y, int B, int S, int G, int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * G * D) return;
    int d = i % D, g = i / D % G, b = i / (D * G);
    float sum = 0.0f;
    for (int s = 0; s < S; s++) sum += v[((b * S + s) * G + g) * D + d];
    y[i] = sum / S;
}
''',
    wrong=[
        Wrong(Changed(("g = h / (H / G)", "g = h % G")),
              "The value heads are assigned one after the other, h % G. Consecutive query heads share one: h / (H / G).",
              like=lambda weights, v: mixed(weights, v, head=lambda h, H, G: h % G)),
        Wrong(Changed(("g = h / (H / G)", "g = 0")),
              "All query heads read the first value head. Query head h reads value head h / (H / G).",
              like=lambda weights, v: mixed(weights, v, head=lambda h, H, G: 0)),
        Wrong(Changed(("(long long)(b * S + s) * G", "(long long)s * G")),
              "Every text reads the values of the first one: b is missing in the offset into v.",
              like=lambda weights, v: mixed(weights, v, text=lambda b: 0)),
        Wrong(Changed(("((long long)(b * H + h) * T + t) * S", "((long long)(b * T + t) * H + h) * S")),
              "The weights are read as (B, T, H, S). They are (B, H, T, S): a whole matrix of weights for each head.",
              like=lambda weights, v: mixed(heads_second(weights), v)),
        Wrong(Changed(("s < S", "s < T")), "Only the first T keys are summed. There are S of them.",
              like=lambda weights, v: mixed(np.where(np.arange(weights.shape[3]) < weights.shape[2], weights, 0), v)),
        Wrong(Changed(("s < S", "s <= t")),
              "Keys after the query are left out. The weights of masked keys are 0 already: add up all S.",
              like=lambda weights, v: mixed(np.tril(weights), v)),
        Wrong(Changed(("h = i / D % H, t = i / (D * H) % T", "t = i / D % T, h = i / (D * T) % H")),
              "y is written as (B, H, T, D). It is (B, T, H, D): all heads of a token stand together, as in q.",
              like=lambda weights, v: mixed(weights, v, swap=True)),
        Wrong(Changed(("    if (i >= B * T * H * D) return;\n", "")),
              "There are more threads than numbers in y: those from B * T * H * D on must do nothing.",
              when=lambda seen: beyond(seen, seen.expected.size, 32)),
    ],
)  # fmt: skip
