"""The kernel of dk and dv: where the loop begins, the weights recomputed, and two sums over the queries."""

import math

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved
from course_lib.coach.shared_cases import attention_inputs, kept_for_backward
from course_lib.devices.gpu import attention_tiles

TILE = attention_tiles.FlashTile(32, 2, 4)  # a block owns 16 keys, and loops over tiles of 32 queries
BEGIN = "    if (causal) begin = max(0, first - past) / TILE_T * TILE_T;\n"
HIDDEN = "Masked keys are not left out: with `causal`, a key after past + query has weight 0."
LONG = 160  # tokens of the measured case: of 5 tiles of queries a block loads 3 on average


def cases(random):
    yield Case("two queries, one key", *attention_inputs(random, 1, 2, 1, 1, 1, 4), False)
    yield Case("three tokens, causal", *attention_inputs(random, 1, 3, 3, 1, 1, 4), True)
    yield Case("two tiles of queries", *attention_inputs(random, 1, 45, 5, 1, 1, 4), False)
    yield Case("three blocks of keys, causal", *attention_inputs(random, 1, 40, 40, 1, 1, 32), True)
    yield Case("grouped-query attention, two texts, earlier keys", *attention_inputs(random, 2, 9, 41, 4, 2, 10), True)
    yield Case("larger scores", *attention_inputs(random, 1, 20, 20, 1, 1, 16, 2.5), True)
    yield Case("another scale", *attention_inputs(random, 1, 5, 5, 1, 1, 4), True, 0.25)
    yield Case(f"{LONG} tokens, causal", *attention_inputs(random, 1, LONG, LONG, 1, 1, 32), True)
    dy, q, k, v = attention_inputs(random, 1, 3, 20, 1, 1, 4)
    q[..., 0], k[..., 0] = 2.0, -100.0
    yield Case("scores far below 0", dy, q, k, v, False)


def launch(kernel, dy, q, k, v, causal, scale=None):
    (B, T, H, d), (S, G) = q.shape, k.shape[1:3]
    arrays = [
        cuda.asarray(np.ascontiguousarray(x)) for x in (dy, q, k, v, *kept_for_backward(dy, q, k, v, causal, scale))
    ]
    dk, dv, sizes = (
        cuda.empty(k.shape),
        cuda.empty(k.shape),
        (T, S, H, G, d, causal, scale or 1 / math.sqrt(d)),
    )  # (B, S, G, d) both
    kernel((-(-S // TILE.block_rows), G, B), TILE.threads, (*arrays, dk, dv, *sizes), TILE.backward_kv_bytes)
    return dk, dv


def variant(
    scaled=True,
    shift=True,
    hides=("P", "dS"),
    of_k=("dS", "q"),
    of_v=("P", "dy"),
    begins=lambda first, past: 0,
    past=True,
):
    """dk and dv with one thing done in another way."""

    def gradients(dy, q, k, v, causal, scale=None):
        (T, H, d), (S, G) = q.shape[1:], k.shape[1:3]
        logsumexp, delta = kept_for_backward(dy, q, k, v, causal, scale)
        dk, dv, scale = np.zeros_like(k), np.zeros_like(v), scale or 1 / math.sqrt(d)
        late = np.arange(S) > np.arange(T)[:, None] + past * (S - T) if causal else np.zeros((T, S), bool)
        passed = np.arange(T)[:, None] >= np.array(
            [begins(s // TILE.block_rows * TILE.block_rows, S - T) if causal else 0 for s in range(S)]
        )
        for b, h in np.ndindex(q.shape[0], H):
            g, has = h // (H // G), {"q": q[b, :, h].astype(np.float64), "dy": dy[b, :, h].astype(np.float64)}
            P = np.exp(has["q"] @ k[b, :, g].T * scale - logsumexp[b, h][:, None])
            P = np.where(late & ("P" in hides), 0, P) * passed
            dS = P * (has["dy"] @ v[b, :, g].T - shift * delta[b, h][:, None]) * (scale if scaled else 1)
            dS = np.where(late & ("dS" in hides), 0, dS)
            table = {"P": P, "dS": dS}
            dk[b, :, g] += table[of_k[0]].T @ has[of_k[1]]
            dv[b, :, g] += table[of_v[0]].T @ has[of_v[1]]
        return dk, dv

    return gradients


exercise = Exercise(
    title="The owners of keys",
    minutes=20,
    language="cuda",
    defines="flash_attention_backward_kv",
    instances=(TILE.template,),
    target="kernel:flash_attention_backward.cu",
    cases=cases,
    reference=variant(),
    call=launch,
    results=("dk", "dv"),
    tolerance=1e-4,
    measured=f"{LONG} tokens, causal",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=360_000)],
    hints=(
        "Part 1: the smallest query t with first <= past + t. Part 2 is as in the previous kernel, with masked weights 0 as "
        "well. Part 3: two calls.",
        "begin = max(0, first - past), rounded down to a tile or not. If p is made 0 before ds is computed, ds becomes 0 too.",
        "if (causal) begin = max(0, first - past); for c: p[r][c] = __expf(p[r][c] * scale - lse), 0 if edge and masked; "
        "ds[r][c] = p[r][c] * (ds[r][c] - row_delta) * scale; then multiply_transposed<...>(out_v, p_tile + own_row, dy_tile + "
        "own_column), and the same for out_k with ds_tile and q_tile.",
    ),
    example='''// The sum of each key's weights over the queries that attend to it; a block owns 32 keys.
// score (T, T) and logsumexp (T); query t attends to the keys 0 to t.
__global__ void attention_received(const float* score, const float* logsumexp, float* received, int T) {
    int first = blockIdx.x * 32, s = first + threadIdx.x;
    float sum = 0.0f;
    for (int t = first; t < T; t++)  // no earlier query attends to a key of this block
        if (s <= t) sum += expf(score[t * T + s] - logsumexp[t]);
    if (s < T) received[s] = sum;
}
''',
    wrong=[
        Wrong(Changed((BEGIN, "")),
              "The results are right, but every block loops over all queries. With `causal`, no query before first - past "
              "attends to its keys: begin there.",
              when=lambda seen: not seen.failing.difference and bytes_moved(seen.reports) >= 500_000),
        Wrong(Changed(("(out_v, p_tile", "(out_k, p_tile"), ("(out_k, ds_tile", "(out_v, ds_tile")),
              "dk and dv are exchanged: dv sums the weights times dy, dk the gradients times q.",
              like=variant(of_k=("P", "dy"), of_v=("dS", "q"))),
        Wrong(Changed(("(out_v, p_tile", "(out_v, ds_tile"), ("(out_k, ds_tile", "(out_k, p_tile")),
              "The two matrices are exchanged: dv needs the weights, p_tile, and dk the gradients, ds_tile.",
              like=variant(of_k=("P", "q"), of_v=("dS", "dy"))),
        Wrong(Changed(("p_tile + own_row, dy_tile", "p_tile + own_row, q_tile"), ("ds_tile + own_row, "
                                                                                  "q_tile", "ds_tile + own_row, dy_tile")),
              "dk is computed from dy, and dv from q. It is the other way round: dv sums the weights times dy, dk the "
              "gradients times q.",
              like=variant(of_k=("dS", "dy"), of_v=("P", "q"))),
        Wrong(Changed(("(out_v, p_tile", "(out_v, ds_tile")),
              "Both sums use the gradients. dv sums the *weights* times dy.", like=variant(of_v=("dS", "dy"))),
        Wrong(Changed(("(out_k, ds_tile", "(out_k, p_tile")),
              "Both sums use the weights. dk sums the *gradients* times q.", like=variant(of_k=("P", "q"))),
        Wrong(Changed((" * (ds[r][c] - row_delta) * scale", " * (ds[r][c] - row_delta)")),
              "dk is wrong by a factor of `scale`: multiply the gradients by it once more.", like=variant(scaled=False)),
        Wrong(Changed(("(ds[r][c] - row_delta)", "ds[r][c]")),
              "delta is missing in the gradients: subtract from dP the average of its row, `row_delta`.",
              like=variant(shift=False)),
        Wrong(Changed((BEGIN, ""), (" || (causal && key + c > past + query)", ""),
                      ("p[r][c] * (ds[r][c] - row_delta)", "(causal && key + c > past + query ? 0.0f : p[r][c]) "
                                                       "* (ds[r][c] - row_delta)")),
              "Masked weights are added to dv: the mask must make p 0 as well, not ds alone.", like=variant(hides=("dS",))),
        Wrong(Changed((" || (causal && key + c > past + query)", "")), HIDDEN,
              like=variant(hides=(), begins=lambda first, past: max(0, first - past) // TILE.rows * TILE.rows)),
        Wrong(Changed((BEGIN, ""), (" || (causal && key + c > past + query)", "")), HIDDEN, like=variant(hides=()),
              also=True),
        Wrong(Changed(("key + c > past + query)", "key + c > query)")),
              "The past is missing in the mask: query t has position past + t among the keys.", like=variant(past=False)),
        Wrong(Changed((BEGIN, "    if (causal) begin = first / TILE_T * TILE_T;\n")),
              "The loop begins too late: query first - past is the first that attends to key `first`. With earlier keys it "
              "comes *before* query number first.",
              like=variant(begins=lambda first, past: first // TILE.rows * TILE.rows)),
        Wrong(Changed((BEGIN, "    if (causal) begin = max(0, first + TILE_S - 1 - past);\n")),
              "The loop begins too late: the earliest query counts, and query first - past attends to the block's *first* key "
              "already.",
              like=variant(begins=lambda first, past: max(0, first + TILE.block_rows - 1 - past))),
    ],
)  # fmt: skip
