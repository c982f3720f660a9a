"""Open challenge: attention with as little memory as possible."""

import tracemalloc

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.shared_cases import extreme_attention

LENGTH, SIZE = 512, 32


def kilobytes(answer):
    """The peak memory of an answer in KB, its result included, for 512 tokens of 32 numbers in float32."""
    random = np.random.default_rng(5)
    q, k, v = (random.normal(size=(LENGTH, SIZE)).astype(np.float32) for _ in range(3))
    answer(q[:4], k[:4], v[:4])  # what only the first call needs does not count
    tracemalloc.start()
    try:
        result = answer(q, k, v)
        return tracemalloc.get_traced_memory()[1] / 1024 if result is not None else None
    finally:
        tracemalloc.stop()


def cases(random):
    eye = np.array([[2.0, 0.0], [0.0, 2.0]])
    yield Case("two tokens", eye, eye.copy(), np.array([[1.0, 0.0], [0.0, 1.0]]))
    yield Case("one token", *random.normal(size=(3, 1, 4)))
    yield Case("seven tokens", *random.normal(size=(3, 7, 4)))
    yield Case("130 tokens of float32", *random.normal(size=(3, 130, 8)).astype(np.float32))
    yield Case(
        "the largest score comes last", np.ones((5, 2)), np.arange(10.0).reshape(5, 2), random.normal(size=(5, 2))
    )
    for label, arrays in extreme_attention(random, 4, 4, 4):
        yield Case(label, *arrays)
    yield Case("scores in the thousands", *(60 * random.normal(size=(3, 9, 4))))


def attention(q, k, v):
    scores = np.where(np.tri(len(q), dtype=bool), q @ k.T / q.shape[1] ** 0.5, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


exercise = Exercise(
    title="Challenge: attention in little memory",
    minutes=20,
    core=False,
    challenge=True,
    defines="memory_efficient_attention",
    cases=cases,
    reference=attention,
    tolerance=1e-4,
    given="import numpy as np",
    seconds=30.0,  # a loop over all pairs of tokens is right as well
    goals=[Goal("peak memory in KB for 512 tokens", kilobytes)],
    hints=(
        "Begin with the whole score matrix. It takes the most memory: 512 x 512 numbers, and as many for its softmax. Must all "
        "rows be stored at once?",
        "One row of scores at a time needs 512 numbers. Write each result into y, allocated once with np.empty_like(v).",
        "Are blocks of a row enough? Keep the running maximum m, the running sum l, and the weighted sum of the values. When m "
        "grows, multiply both sums by exp(old m - new m). At the end divide the weighted sum by l.",
    ),
    example='''def thrifty_logsumexp(scores, block=16):
    """The logarithm of the sum of exp(score), block by block: the running sum l is rescaled when the maximum m grows."""
    m, l = -np.inf, 0.0
    for start in range(0, len(scores), block):
        part = scores[start : start + block]
        new_m = max(m, part.max())
        l = l * np.exp(m - new_m) + np.exp(part - new_m).sum()
        m = new_m
    return m + np.log(l)
''',
    wrong=[
        Wrong(Changed((" / q.shape[1] ** 0.5", "")), "The scores are not divided by the square root of D."),
        Wrong(Changed(("k[: t + 1] @ q[t]", "k @ q[t]"), ("e @ v[: t + 1]", "e @ v")),
              "Tokens attend to later tokens: token t attends to the keys 0 to t only."),
        Wrong(Changed(("scores - scores.max()", "scores")),
              "exp of a large score overflows: subtract the largest score so far."),
        Wrong("""def memory_efficient_attention(q, k, v):
    y = np.zeros_like(v)
    for t in range(1, len(q)):
        s = k[:t] @ q[t] / q.shape[1] ** 0.5
        e = np.exp(s - s.max())
        y[t] = e @ v[:t] / e.sum()
    return y
""", "Token t attends to itself too: its keys are 0 to t, and t is one of them."),
        Wrong("""def memory_efficient_attention(q, k, v):
    y = np.zeros_like(v)
    for t in range(len(q)):
        total = 0.0
        for s in range(t + 1):
            e = np.exp(q[t] @ k[s] / q.shape[1] ** 0.5 - q[t] @ k[t] / q.shape[1] ** 0.5)
            y[t] += e * v[s]
    return y
""", generic="has values that ours has nowhere"),
    ],
)  # fmt: skip
