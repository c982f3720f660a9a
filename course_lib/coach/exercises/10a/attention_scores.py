"""The first of the three naive kernels: a score for each query and key, and the offsets in q, k and scores."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import beyond


def cases(random):
    for label, B, T, S, H, G, D in (("one query, two keys", 1, 1, 2, 1, 1, 4), ("two heads", 1, 2, 3, 2, 2, 4),
                                    ("two texts", 2, 2, 2, 1, 1, 4), ("four query heads, two key heads", 1, 3, 5, 4, 2, 4),
                                    ("six query heads, one key head", 2, 3, 7, 6, 1, 9),
                                    ("more than a block", 2, 5, 9, 4, 2, 16)):  # fmt: skip
        q, k = ((0.5 + random.integers(-9, 10, size=(B, n, h, D))).astype(np.float32) for n, h in ((T, H), (S, G)))
        yield Case(label, q, k, 1 / D**0.5)
    yield Case("another scale", q, k, 0.3)


def scored(q, k, scale, head=None, text=lambda b: b, swap=False):
    """scores (B, H, T, S). head(h, H, G): whose keys; swap: (B, T, H, S) in the same memory."""
    (B, T, H, _), (S, G) = q.shape, k.shape[1:3]
    scores = np.empty((B, H, T, S), np.float32)
    for b in range(B):
        for h in range(H):
            g = h // (H // G) if head is None else head(h, H, G)
            scores[b, h] = q[b, :, h] @ k[text(b), :, g].T * scale
    return scores.transpose(0, 2, 1, 3).reshape(B, H, T, S) if swap else scores


def heads_first(x):
    """x (B, T, H, D), read as if it were (B, H, T, D)."""
    B, T, H, d = x.shape
    return x.reshape(B, H, T, d).transpose(0, 2, 1, 3)


def launch(kernel, q, k, scale):
    (B, T, H, D), (S, G) = q.shape, k.shape[1:3]
    scores = cuda.empty((B, H, T, S))
    args = cuda.asarray(q), cuda.asarray(k), scores, B, T, S, H, G, D, scale
    kernel((scores.size + 31) // 32, 32, args)
    return scores


exercise = Exercise(
    title="A score for each query and key",
    minutes=15,
    core=False,
    language="cuda",
    defines="attention_scores",
    cases=cases,
    reference=scored,
    call=launch,
    hints=(
        "scores is (B, H, T, S), and the last index runs fastest. So s = i % S, t = i / S % T, and so on.",
        "Query (b, t, h) begins at ((b * T + t) * H + h) * D of q, key (b, s, g) at ((b * S + s) * G + g) * D of k.",
        "if (i >= B * H * T * S) return; float sum = 0.0f; for (int d = 0; d < D; d++) sum += q[... + d] * k[... + d]; "
        "scores[i] = sum * scale; with g = h / (H / G).",
    ),
    example='''// The length of each key: the root of its sum of squares, y (B, S, G).
__global__ void key_lengths(const float* k, float* y, int B, int S, int G, int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * S * G) return;
    float sum = 0.0f;
    for (int d = 0; d < D; d++) sum += k[i * D + d] * k[i * D + d];
    y[i] = sqrtf(sum);
}
''',
    wrong=[
        Wrong(Changed(("g = h / (H / G)", "g = h % G")),
              "The key heads are assigned one after the other, h % G. Consecutive query heads share one: h / (H / G).",
              like=lambda *inputs: scored(*inputs, head=lambda h, H, G: h % G)),
        Wrong(Changed(("g = h / (H / G)", "g = 0")),
              "All query heads read the first key head. Query head h reads key head h / (H / G).",
              like=lambda *inputs: scored(*inputs, head=lambda h, H, G: 0)),
        Wrong(Changed(("(long long)(b * S + s) * G", "(long long)s * G")),
              "The queries of every text are multiplied with the keys of the first one: b is missing in the offset into k.",
              like=lambda *inputs: scored(*inputs, text=lambda b: 0)),
        Wrong(Changed(("((long long)(b * T + t) * H + h) * D", "((long long)(b * H + h) * T + t) * D")),
              "q is read as (B, H, T, D). It is (B, T, H, D): all heads of a token stand together.",
              like=lambda q, *rest: scored(heads_first(q), *rest)),
        Wrong(Changed(("((long long)(b * T + t) * H + h) * D", "((long long)(b * H + h) * T + t) * D"),
                      ("((long long)(b * S + s) * G + g) * D", "((long long)(b * G + g) * S + s) * D")),
              "q is read as (B, H, T, D), and k as (B, G, S, D). They are (B, T, H, D) and (B, S, G, D): all heads of a token "
              "stand together.", like=lambda q, k, scale: scored(heads_first(q), heads_first(k), scale)),
        Wrong(Changed(("sum * scale", "sum")), "The scores are not multiplied by `scale`.",
              like=lambda q, k, scale: scored(q, k, 1)),
        Wrong(Changed(("sum * scale", "sum / scale")),
              "The scores are divided by `scale`. It is 1 / sqrt(D) already: multiply.",
              like=lambda q, k, scale: scored(q, k, 1 / scale)),
        Wrong(Changed(("t = i / S % T, h = i / (S * T) % H", "h = i / S % H, t = i / (S * H) % T")),
              "The scores are written as (B, T, H, S). They are (B, H, T, S): a whole score matrix for each head.",
              like=lambda *inputs: scored(*inputs, swap=True)),
        Wrong(Changed(("    if (i >= B * H * T * S) return;\n", "")),
              "There are more threads than scores: those from B * H * T * S on must do nothing.",
              when=lambda seen: beyond(seen, seen.expected.size, 32)),
    ],
)  # fmt: skip
