"""Rows of scores become attention weights in place: a mask, no overflow, and the logsumexp stored for the backward pass."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Exercise, Wrong
from course_lib.coach.shared_cases import beyond, extremes

BLOCK = 32


def cases(random):
    yield Case("one row, no mask", np.array([[1.0, 2.0]], np.float32), 1, False)
    yield Case("two tokens, causal", np.array([[1.0, 9.0], [2.0, 2.0]], np.float32), 2, True)
    shapes = {"one key": (1, 1, 1, False), "two queries, five keys": (1, 2, 5, True),
              "two heads of three tokens": (2, 3, 3, True), "more rows than a block": (3, 23, 23, True),
              "no mask, many rows": (2, 35, 41, False)}  # fmt: skip
    for label, (heads, T, S, causal) in shapes.items():
        yield Case(label, random.normal(size=(heads * T, S)).astype(np.float32), T, causal)
    yield Case("scores above 100", (120 + 3 * random.normal(size=(6, 6))).astype(np.float32), 6, True)
    far = random.normal(size=(3, 3)).astype(np.float32)
    far[0, 1:] = 300.0
    yield Case("a masked score that is far larger", far, 3, True)
    for label, x in extremes(random, (4, 4)):
        yield Case(label, x, 4, True)


def launch(kernel, scores, T, causal):
    rows, S = scores.shape
    scores, logsumexp = cuda.asarray(scores), cuda.empty((rows,))  # (rows, S), (rows,)
    kernel((rows + BLOCK - 1) // BLOCK, BLOCK, (scores, logsumexp, rows, T, S, causal))
    return scores, logsumexp


def variant(
    sees=lambda i, T, S: S - T + i % T + 1, shift=True, hidden=0.0, top_of_all=False, kept="both", divided=True
):
    """The right result with one thing done in another way."""

    def softmax(scores, T, causal):
        rows, S = scores.shape
        weights, logsumexp = np.full_like(scores, np.nan), np.zeros(rows, np.float32)
        for i, row in enumerate(scores):
            n = min(sees(i, T, S), S) if causal else S
            if n == 0:  # every key is masked: the maximum of nothing, the sum of nothing
                weights[i], logsumexp[i] = hidden, -np.inf
                continue
            top = (row if top_of_all else row[:n]).max() if shift else np.float32(0)
            e = np.exp(row[:n] - top)
            weights[i, :n] = e / e.sum() if divided else e
            weights[i, n:] = row[n:] if hidden is None else hidden
            logsumexp[i] = {"both": top + np.log(e.sum()), "no top": np.log(e.sum()), "no log": top + e.sum()}[kept]
        return weights, logsumexp

    return softmax


def head(body):
    text = "__global__ void attention_softmax(float* scores, float* logsumexp, int rows, int T, int S, bool causal) {\n"
    return f"{text}    int i = blockIdx.x * blockDim.x + threadIdx.x;\n{body}}}\n"


def plain(guard="i >= rows", seen="causal ? S - T + i % T + 1 : S", top="seen", hidden="0.0f", kept="top + logf(sum)"):
    return head(f"""    if ({guard}) return;
    float* row = scores + i * S;
    int seen = {seen};
    float top = -INFINITY, sum = 0.0f;
    for (int s = 0; s < {top}; s++) top = fmaxf(top, row[s]);
    for (int s = 0; s < seen; s++) sum += expf(row[s] - top);
    for (int s = 0; s < seen; s++) row[s] = expf(row[s] - top) / sum;
    for (int s = seen; s < S; s++) row[s] = {hidden};
    logsumexp[i] = {kept};
""")


exercise = Exercise(
    title="Rows of scores become weights",
    minutes=15,
    language="cuda",
    defines="attention_softmax",
    cases=cases,
    reference=variant(),
    call=launch,
    results=("scores", "logsumexp"),
    tolerance=5e-5,
    hints=(
        "Three passes over the row: the maximum, the sum of exponentials, the division. How far does each go?",
        "First count the keys that are not masked: S without a mask, else S - T + i % T + 1. All three passes end there; what "
        "comes after becomes 0.",
        "if (i >= rows) return; float* row = scores + i * S; m by fmaxf, from -INFINITY on; row[s] = expf(row[s] - m), "
        "added to sum; then row[s] /= sum; logsumexp[i] = m + logf(sum).",
    ),
    example='''// Every row of x (rows, S) divided by its largest absolute value, in place; 1 if the row is all zeros.
__global__ void to_unit(float* x, float* largest, int rows, int S) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    float* row = x + i * S;
    float most = 0.0f;
    for (int s = 0; s < S; s++) most = fmaxf(most, fabsf(row[s]));
    for (int s = 0; s < S; s++) row[s] = most > 0.0f ? row[s] / most : 1.0f;
    largest[i] = most;
}
''',
    wrong=[
        Wrong(plain(guard="false"), "The last block has threads without a row: those from `rows` on must do nothing.",
              when=lambda seen: beyond(seen, len(seen.inputs[0]), BLOCK)),
        Wrong(plain(seen="S"), "The mask is missing: with `causal`, query t attends to the keys 0 to S - T + t.",
              like=variant(lambda i, T, S: S)),
        Wrong(plain(seen="causal ? S - T + i % T : S"),
              "A query must attend to its own key too: with T = S, query 0 attends to key 0. That is one key more.",
              like=variant(lambda i, T, S: max(S - T + i % T, 0))),
        Wrong(plain(seen="causal ? i % T + 1 : S"),
              "The queries are the last T of the S tokens: query t attends to the S - T earlier keys as well.",
              like=variant(lambda i, T, S: i % T + 1)),
        Wrong(plain(seen="causal ? min(S - T + i + 1, S) : S"),
              "The row's number i runs through all heads and texts. The query is t = i % T.",
              like=variant(lambda i, T, S: S - T + i + 1)),
        Wrong(plain(hidden="row[s]"), "The weights of masked keys must be 0; here their scores are still there.",
              like=variant(hidden=None)),
        Wrong(plain().replace(" / sum;", ";"), "The sum of a row's weights is not 1: divide each by the sum.",
              like=variant(divided=False)),
        Wrong(plain(kept="logf(sum)"),
              "The weights are right, and logsumexp is not: add back the largest score, which was subtracted.",
              like=variant(kept="no top")),
        Wrong(plain(kept="top + sum"),
              "The weights are right, and logsumexp is not: it is the largest score plus the *log* of the sum.",
              like=variant(kept="no log")),
        Wrong(plain(top="0").replace("top = -INFINITY", "top = 0.0f"),
              "exp(120) is too large for a float. Subtract the row's largest score first.", like=variant(shift=False)),
        Wrong(plain(top="S"),
              "A masked score was taken as the largest. It is so far above the others that exp of their difference is 0. Take "
              "the largest of the scores that are not masked.", like=variant(top_of_all=True)),
    ],
)  # fmt: skip
