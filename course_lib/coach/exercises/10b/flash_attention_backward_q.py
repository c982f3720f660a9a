"""The kernel of dq: weights are recomputed from the logsumexp, and gradients of masked scores are 0."""

import math

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import attention_inputs, kept_for_backward
from course_lib.devices.gpu import attention_tiles

TILE = attention_tiles.FlashTile(
    32, 2, 4
)  # 16 queries for a block, 32 keys in a tile: small, so that short texts have several


def cases(random):
    yield Case("one query, two keys", *attention_inputs(random, 1, 1, 2, 1, 1, 4), False)
    yield Case("three tokens, causal", *attention_inputs(random, 1, 3, 3, 1, 1, 4), True)
    yield Case("three tiles of keys", *attention_inputs(random, 1, 5, 70, 1, 1, 4), False)
    yield Case("two tiles of queries, causal", *attention_inputs(random, 1, 40, 40, 1, 1, 32), True)
    yield Case("grouped-query attention, two texts, earlier keys", *attention_inputs(random, 2, 9, 21, 4, 2, 10), True)
    yield Case("larger scores", *attention_inputs(random, 1, 20, 20, 1, 1, 16, 2.5), True)
    yield Case("another scale", *attention_inputs(random, 1, 5, 5, 1, 1, 4), True, 0.25)
    dy, q, k, v = attention_inputs(random, 1, 3, 20, 1, 1, 4)
    q[..., 0], k[..., 0] = 200.0, -1.0  # a key beyond S has the score 0, and exp(0 + 100) is infinite
    yield Case("scores far below 0, a tile that is not full", dy, q, k, v, False)


def launch(kernel, dy, q, k, v, causal, scale=None):
    (B, T, H, d), (S, G) = q.shape, k.shape[1:3]
    arrays = [
        cuda.asarray(np.ascontiguousarray(x)) for x in (dy, q, k, v, *kept_for_backward(dy, q, k, v, causal, scale))
    ]
    dq, sizes = cuda.empty(q.shape), (T, S, H, G, d, causal, scale or 1 / math.sqrt(d))  # (B, T, H, d)
    kernel((-(-T // TILE.block_rows), H, B), TILE.threads, (*arrays, dq, *sizes), TILE.backward_q_bytes)
    return dq


def variant(
    scaled=("score", "gradient"),
    shift="delta",
    sees=lambda t, S, T: S - T + t + 1,
    weighed=True,
    weight=lambda s, L: np.exp(s - L),
    late=False,
):
    """dq with one thing done in another way."""

    def gradient(dy, q, k, v, causal, scale=None):
        (T, H, d), (S, G) = q.shape[1:], k.shape[1:3]
        logsumexp, delta = kept_for_backward(dy, q, k, v, causal, scale)
        dq, scale = np.zeros_like(q), scale or 1 / math.sqrt(d)
        for b, t, h in np.ndindex(q.shape[:3]):
            n = min(max(sees(t, S, T), 0), S) if causal else S
            keys, values = (x[b, :n, h // (H // G)].astype(np.float64) for x in (k, v))
            P = weight(keys @ q[b, t, h] * (scale if "score" in scaled else 1), logsumexp[b, h, t])
            dP, average = values @ dy[b, t, h], {"delta": delta, "none": 0 * delta, "sum": logsumexp}[shift][b, h, t]
            dS = P * dP - average if late else (P if weighed else 1) * (dP - average)
            dS = dS * (scale if "gradient" in scaled else 1)
            dq[b, t, h] = dS @ keys
        return dq

    return gradient


def passed(t, S, T):
    """Keys in the tiles over which the block of query t loops, rounded up to whole tiles."""
    end = min(S, S - T + t // TILE.block_rows * TILE.block_rows + TILE.block_rows)
    return -(-end // TILE.rows) * TILE.rows


def not_scaled(seen):
    """Whether the weights come from scores without the scale; where they are so large that rounding decides, none can tell."""
    dq = variant(scaled=("gradient",))(*seen.inputs)
    return np.allclose(seen.got, dq, rtol=1e-4, atol=1e-4) if np.abs(dq).max() < 100 else None


exercise = Exercise(
    title="The owners of queries",
    minutes=20,
    language="cuda",
    defines="flash_attention_backward_q",
    instances=(TILE.template,),
    target="kernel:flash_attention_backward.cu",
    cases=cases,
    reference=variant(),
    call=launch,
    tolerance=1e-4,
    hints=(
        "Three steps for each c: the weight from p, the gradient from the weight, and 0 where it is masked.",
        "The weight is __expf(p[r][c] * scale - lse[c]). Note what is a row here: `key` belongs to r, and query + c to c.",
        "p[r][c] = __expf(p[r][c] * scale - lse[c]); ds[r][c] = p[r][c] * (ds[r][c] - deltas[c]) * scale; if (edge && (key >= "
        "S || (causal && key > past + query + c))) ds[r][c] = 0.0f;",
    ),
    example='''// The backward pass of softmax, from stored weights y: dx = y (dy - delta[row]), (rows, n), 0 where column > row.
__global__ void masked_softmax_backward(const float* y, const float* dy, const float* delta, float* dx, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * n) return;
    int row = i / n, column = i % n;
    dx[i] = column > row ? 0.0f : y[i] * (dy[i] - delta[row]);
}
''',
    wrong=[
        Wrong(Changed((" * (ds[r][c] - deltas[c]) * scale", " * (ds[r][c] - deltas[c])")),
              "The gradients are not multiplied by `scale`: a score was scaled, so the gradients of q and k are scaled too.",
              like=variant(scaled=("score",))),
        Wrong(Changed(("p[r][c] * scale - lse[c]", "p[r][c] - lse[c]")),
              "The score in p[r][c] is not scaled yet: the weight is exp(p * scale - lse).",
              when=not_scaled),
        Wrong(Changed(("(ds[r][c] - deltas[c])", "ds[r][c]")),
              "delta is missing: subtract from dP the average of its row, deltas[c].", like=variant(shift="none")),
        Wrong(Changed(("ds[r][c] - deltas[c]", "ds[r][c] - lse[c]")),
              "The logsumexp is subtracted from dP. Subtract delta, the average of the row.", like=variant(shift="sum")),
        Wrong(Changed(("ds[r][c] = p[r][c] * (ds", "ds[r][c] = (ds")),
              "The weight is missing: a gradient is the weight times (dP - delta), times scale.", like=variant(weighed=False)),
        Wrong(Changed(("__expf(p[r][c] * scale - lse[c])", "__expf(p[r][c] * scale) / lse[c]")),
              "exp(score) is divided by the logsumexp. That is a logarithm already: subtract it from the score before exp.",
              like=variant(weight=lambda s, L: np.exp(s) / L)),
        Wrong(Changed(("p[r][c] * (ds[r][c] - deltas[c]) * scale", "(p[r][c] * ds[r][c] - deltas[c]) * "
                                                                   "scale")),
              "delta is subtracted too late: the weight multiplies the difference, dP - delta.", like=variant(late=True)),
        Wrong(Changed((" || (causal && key > past + query + c)", "")),
              "Masked keys are not left out: with `causal`, the gradient of a key's score is 0 if the key comes after the "
              "query.",
              like=variant(sees=passed)),
        Wrong(Changed(("key > past + query + c", "key >= past + query + c")),
              "A query's own key is left out. Only the keys *after* past + query + c are masked, not that one itself.",
              like=variant(sees=lambda t, S, T: S - T + t)),
        Wrong(Changed(("key > past + query + c", "key > query + c")),
              "The past is missing: query t has position past + t among the keys.", like=variant(sees=lambda t, S, T: t + 1)),
    ],
)  # fmt: skip
