"""A thread that owns a key: which queries attend to it, and how much, from the scores and one number for each row."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

BLOCK = 32


def cases(random):
    for label, T in (("three tokens", 3), ("one token", 1), ("forty tokens, two blocks", 40), ("a whole block", 32)):
        scores = random.normal(size=(T, T))
        logsumexp = np.log((np.exp(scores) * np.tri(T)).sum(axis=1))  # (T,): under the causal mask
        yield Case(label, scores.astype(np.float32), logsumexp.astype(np.float32))
    yield Case("scores too large for exp", 200 * np.eye(3, dtype=np.float32), np.full(3, 200, np.float32))


def launch(kernel, scores, logsumexp):
    received = cuda.empty(logsumexp.shape)  # (T,)
    T = len(logsumexp)
    kernel(-(-T // BLOCK), BLOCK, (cuda.asarray(scores), cuda.asarray(logsumexp), received, T))
    return received


def variant(weight=lambda scores, L: np.exp(scores - L[:, None]), mask=np.tri):
    return lambda scores, L: (weight(scores.astype(np.float64), L) * mask(len(scores))).sum(axis=0).astype(np.float32)


exercise = Exercise(
    title="The weight that a key receives",
    minutes=4,
    core=False,
    language="cuda",
    defines="weight_received",
    cases=cases,
    reference=variant(),
    call=launch,
    hints=("The queries s, s + 1, ..., T - 1 attend to key s. The weight is expf(scores[t * T + s] - logsumexp[t]).",),
    wrong=[
        Wrong(Changed(("int t = s; t < T", "int t = 0; t < T")),
              "Earlier queries do not attend to key s: the mask hides it from them. The first one that does is query s.",
              like=variant(mask=lambda T: np.ones((T, T)))),
        Wrong(Changed(("int t = s; t < T", "int t = s + 1; t < T")),
              "Query s attends to its own key, too.", like=variant(mask=lambda T: np.tri(T, k=-1))),
        Wrong(Changed(("int t = s; t < T; t++", "int t = 0; t <= s; t++")),
              "Under the mask a query attends to earlier keys. So a key is attended to by *later* queries: t from s on.",
              like=variant(mask=lambda T: np.tri(T).T)),
        Wrong(Changed((" - logsumexp[t]", "")),
              "exp(score) is not a weight yet: subtract the logsumexp of the query's row first.",
              like=variant(weight=lambda scores, L: np.exp(scores))),
        Wrong(Changed(("logsumexp[t]", "logsumexp[s]")),
              "The weights of a *query* add up to 1: the logsumexp is that of its row, logsumexp[t].",
              like=variant(weight=lambda scores, L: np.exp(scores - L[None, :]))),
        Wrong(Changed(("scores[t * T + s] - logsumexp[t]", "scores[s * T + t] - logsumexp[t]")),
              "The rows of the score matrix belong to queries: the score of query t and key s is scores[t * T + s].",
              like=variant(weight=lambda scores, L: np.exp(scores.T - L[:, None]))),
    ],
)  # fmt: skip
