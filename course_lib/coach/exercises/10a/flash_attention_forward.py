"""The heart of flash attention: online softmax rescales sums and output when the maximum grows; four lanes share a row."""

import math
import re

import numpy as np

from course_lib import cuda, devices, lexer
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import at_scale, extreme_attention
from course_lib.devices.gpu import attention_tiles

TILE = attention_tiles.FlashTile(32, 2, 4)  # 32 queries by 16 keys: small, so that short texts have several tiles
FORGOTTEN = (
    "{} is not rescaled when the running maximum grows. It was computed with the old maximum: multiply by exp(old maximum - "
    "new maximum)."
)


def cases(random):
    def drawn(B, T, S, H, G, d, size=1.0):
        return [(random.normal(size=shape) * size).astype(np.float32)
                for shape, size in (((B, T, H, d), size), ((B, S, G, d), 1.0), ((B, S, G, d), 1.0))]  # fmt: skip

    yield Case("one query, two keys", *drawn(1, 1, 2, 1, 1, 4), False)
    yield Case("one tile, causal", *drawn(1, 7, 7, 1, 1, 4), True)
    q, k, v = drawn(1, 2, 40, 1, 1, 4)
    q[...], k[...] = 1.0, np.arange(40, dtype=np.float32)[:, None, None] / 10
    yield Case("three tiles, each with larger scores", q, k, v, False)
    yield Case("three tiles, each with smaller scores", q, -k, v, False)
    yield Case("two tiles of queries, causal", *drawn(1, 45, 45, 1, 1, 32), True)
    yield Case("grouped-query attention, two texts, earlier keys", *drawn(2, 9, 21, 4, 2, 10), True)
    yield Case("large scores", *drawn(1, 20, 20, 1, 1, 16, 60.0), True)
    for label, arrays in extreme_attention(random, 3, 20, 4):
        yield Case(label, *(array[None, :, None] for array in arrays), False)
    yield Case("another scale", *drawn(1, 5, 5, 1, 1, 4), True, 0.25)


def launch(kernel, q, k, v, causal, scale=None):
    (B, T, H, d), (S, G) = q.shape, k.shape[1:3]
    y, logsumexp = cuda.empty(q.shape), cuda.empty((B, H, T))  # (B, T, H, d), (B, H, T)
    arrays = [cuda.asarray(array) for array in (q, k, v)]
    sizes = (T, S, H, G, d, causal, scale or 1 / math.sqrt(d))
    kernel((-(-T // TILE.rows), H, B), TILE.threads, (*arrays, y, logsumexp, *sizes), TILE.forward_bytes)
    return y, logsumexp


def reference(q, k, v, causal, scale=None):
    q = at_scale(q, scale)
    y, logsumexp = devices.ops("reference").attention_forward(*(x.astype(np.float64) for x in (q, k, v)), causal)
    return y.astype(np.float32), logsumexp.astype(np.float32)


def without_comments(seen):
    return lexer.read(seen.text).code


def no_exchange(seen):
    """Do the lanes of a row exchange nothing but the last sum?"""
    text = without_comments(seen)
    exchanged = re.search(r"warp_max|shfl|warp_reduce", text)
    return not exchanged and not no_maximum(seen) and not seen.issues and not seen.error


def no_maximum(seen):
    """Is no larger one taken of anything, neither by a function nor by a comparison?"""
    return not re.search(
        r"max|new_m\s*[<>]|[<>]\s*new_m|m\[r\]\s*[<>]|[<>]=?\s*m\[r\]|score\[r\]\[\w+\]\s*[<>]|[<>]=?\s*score\[r\]",
        without_comments(seen),
    )


def never_written(text):
    """Is nothing assigned to a score, once it is scaled and masked? By its name, or by a reference or pointer to it."""
    assigned = re.findall(r"score\[r\]\[[^\]]*\]\s*[-+*/]?=(?!=)", text)
    return len(assigned) <= 1 and not re.search(r"[&*]\s*\w+\s*[:=]\s*&?score|&\s*score", text)


def by_tiles(shrinks=("out", "total"), keeps_top=True, keeps_old=True, counts=1.0, sign=1):
    """The kernel's loop over tiles of keys, with one thing done in another way."""

    def attend(q, k, v, causal, scale=None):
        q = at_scale(q, scale)
        (B, T, H, d), (S, G) = q.shape, k.shape[1:3]
        y, logsumexp = np.zeros_like(q), np.zeros((B, H, T), np.float32)
        for b, t, h in np.ndindex(B, T, H):
            sees, g = S - T + t + 1 if causal else S, h // (H // G)
            top, total, out = -np.inf, np.zeros(4), np.zeros(d)  # total: of each lane
            block_end = min(S, S - T + t // TILE.rows * TILE.rows + TILE.rows) if causal else S
            for start in range(0, block_end, TILE.columns):
                if start >= sees:  # masked for this row: nothing changes, unless the old maximum was lost
                    kept = keeps_top and keeps_old
                    out, total, top = (out, total, top) if kept else (out * np.nan, np.nan, np.nan)
                    continue
                keys = slice(start, min(start + TILE.columns, sees))
                scores = k[b, keys, g].astype(np.float64) @ q[b, t, h] / math.sqrt(d)
                high = max(top, scores.max()) if keeps_old else scores.max()
                rescale, weights = (
                    np.float32(np.exp(sign * (top - high))),
                    np.exp(scores - high),
                )  # inf as in the kernel
                own = np.append(weights, np.zeros(TILE.columns - len(weights))).reshape(4, -1).sum(axis=1)
                total = total * (rescale if "total" in shrinks else 1.0) + counts * own
                out = out * (rescale if "out" in shrinks else 1.0) + weights @ v[b, keys, g]
                top = high if keeps_top else top
            y[b, t, h], logsumexp[b, h, t] = out / np.sum(total), top + np.log(np.sum(total))
        return y, logsumexp

    return attend


exercise = Exercise(
    title="Four lanes share a row",
    test_out=True,
    minutes=20,
    language="cuda",
    defines="flash_attention_forward",
    instances=(TILE.template,),
    target="kernel:flash_attention_forward.cu",
    cases=cases,
    reference=reference,
    call=launch,
    results=("y", "logsumexp"),
    tolerance=2e-5,
    hints=(
        "Four steps for each r: the new maximum, the factor for what is old, the weights, and the new l and out.",
        "The new maximum is that of the row's scores in all four lanes (warp_max<LANES>) and of m[r]. The factor is "
        "exp(m[r] - new maximum), and must be computed before m[r] changes.",
        "float new_m = score[r][0]; ... fmaxf over c; new_m = fmaxf(warp_max<LANES>(new_m), m[r]); float rescale = __expf(m[r] "
        "- new_m); m[r] = new_m; each score[r][c] = __expf(score[r][c] - new_m), added to a sum; l[r] = l[r] * rescale + "
        "sum; each out[r][c] *= rescale.",
    ),
    example='''// The largest of n numbers and how often it occurs, by a block of 32 threads: n is a multiple of 32, x finite.
// m is the running maximum of the whole block, the same in all lanes. When it grows, all counts so far become 0.
__global__ void count_largest(const float* x, float* largest, int* count, int n) {
    float m = -INFINITY;
    int found = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        float new_m = x[i];
        for (int step = 16; step > 0; step /= 2) new_m = fmaxf(new_m, __shfl_xor_sync(0xffffffff, new_m, step));
        new_m = fmaxf(new_m, m);
        if (new_m > m) found = 0;  // these equalled the old maximum
        if (x[i] == new_m) found++;
        m = new_m;
    }
    for (int step = 16; step > 0; step /= 2) found += __shfl_xor_sync(0xffffffff, found, step);
    if (threadIdx.x == 0) *largest = m, *count = found;
}
''',
    wrong=[
        Wrong(Changed(("out[r][c] *= rescale;", "out[r][c] *= 1.0f;")), FORGOTTEN.format("out[r]"),
              like=by_tiles(shrinks=("total",))),
        Wrong(Changed(("l[r] * rescale + sum", "l[r] + sum")), FORGOTTEN.format("l[r]"),
              like=by_tiles(shrinks=("out",))),
        Wrong(Changed(("            const float rescale = __expf(m[r] - new_m);\n            m[r] = new_m;\n",
                       "            m[r] = new_m;\n            const float rescale = __expf(m[r] - new_m);\n")),
              "Neither l[r] nor out[r] is rescaled when the running maximum grows: both were computed with the old one. Is "
              "the factor computed before m[r] changes?", like=by_tiles(shrinks=())),
        Wrong(Changed(("            m[r] = new_m;\n", "")),
              "m[r] is still what it was before the first tile: it must become the new running maximum.",
              like=by_tiles(keeps_top=False)),
        Wrong(Changed(("l[r] * rescale + sum", "l[r] * rescale + warp_sum<LANES>(sum)")),
              "Each weight is counted four times: l[r] must hold this lane's keys only, because the sums of the four "
              "lanes are added at the end.", like=by_tiles(counts=4.0)),
        Wrong(Changed(("__expf(m[r] - new_m)", "__expf(new_m - m[r])")),
              "The factor is inverted. When the maximum grows, the sums so far get smaller: the factor is exp(old maximum - "
              "new maximum).", like=by_tiles(sign=-1)),
        Wrong(Changed(("fmaxf(warp_max<LANES>(new_m), m[r])", "warp_max<LANES>(new_m)")),
              "The new maximum leaves out the old one. In a tile that is masked for a row all scores are minus infinity: the "
              "maximum must include m[r].", like=by_tiles(keeps_old=False)),
        Wrong(Changed(("score[r][c] = __expf(score[r][c] - new_m);", "l[r] += 0.0f;"), (
                "sum += score[r][c]", "sum += __expf(score[r][c] - new_m)")),
              "Nothing is written to score[r][...]. It must become the weights, which are multiplied by v next.",
              when=lambda seen: seen.failing.difference and never_written(without_comments(seen))),
        Wrong(Changed(("warp_max<LANES>(new_m)", "new_m")),
              "There is no warp_max in your text, and no shuffle. So each lane knows only the maximum of its own keys, and the "
              "four lanes subtract different ones.", when=no_exchange),
        Wrong(Changed(("new_m = score[r][c] > new_m ? score[r][c] : new_m;", ";"),
                      ("new_m = fmaxf(warp_max<LANES>(new_m), m[r]);\n            const float rescale = __expf(m[r] - new_m);",
                       "new_m = 0.0f;\n            const float rescale = 1.0f;")),
              "No maximum is taken, so nothing is subtracted from the scores: exp of a large one is infinite. Let new_m be the "
              "largest of the row, the old m[r] included.",
              when=lambda seen: seen.failing.difference and no_maximum(seen)),
    ],
)  # fmt: skip
