"""The causal mask on scores: the last query attends to the last key."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.devices.reference.attention import causal_mask


def cases(random):
    yield Case("two tokens", np.array([[1.0, 2.0], [3.0, 4.0]]))
    yield Case("one token", np.array([[5.0]]))
    yield Case("negative scores, and zeros", np.array([[-1.0, 0.0, -3.0], [0.0, -5.0, 6.0], [7.0, -8.0, 0.0]]))
    yield Case("two queries, five keys", np.arange(10.0).reshape(2, 5))
    yield Case("one query, four keys", np.array([[1.0, 2.0, 3.0, 4.0]]))
    yield Case("two heads, float32", random.normal(size=(2, 3, 3)).astype(np.float32))
    yield Case("texts and heads", random.normal(size=(2, 3, 4, 6)))
    yield Case("three axes before", random.normal(size=(2, 1, 3, 2, 3)))
    yield Case("a view that is not contiguous", random.normal(size=(5, 5, 2)).T)


def check(result, scores):
    if np.asarray(result).dtype != scores.dtype:
        return f"The result is {np.asarray(result).dtype}, and the scores are {scores.dtype}: keep their dtype."
    return None


exercise = Exercise(
    title="The causal mask",
    minutes=10,
    defines="causal_mask",
    cases=cases,
    reference=causal_mask,
    check=check,
    given="import numpy as np",
    hints=(
        "Write down, for 2 queries and 5 keys, to which columns each row attends.",
        "np.tri(T, S, k) is a (T, S) matrix with ones in the columns 0 to t + k of row t.",
        "T, S = scores.shape[-2:]; np.where(np.tri(T, S, S - T, dtype=bool), scores, -np.inf).",
    ),
    example='''def hide_far(scores, width):
    """Sliding-window attention: a token attends to the `width` tokens that end with itself. One triangle minus another."""
    T = scores.shape[-1]
    near = np.tri(T, dtype=bool) & ~np.tri(T, k=-width, dtype=bool)  # (T, T)
    return np.where(near, scores, -np.inf)
''',
    wrong=[
        Wrong(Changed(("np.tri(T, S, S - T, dtype=bool)", "np.tri(T, S, dtype=bool)")),
              "With more keys than queries, the queries are the last positions: query t attends to the columns 0 to S - T + t, "
              "not 0 to t."),
        Wrong(Changed(("S - T, dtype", "S - T - 1, dtype")), "A token attends to itself as well: the diagonal is not masked."),
        Wrong(Changed(("scores, -np.inf)", "-np.inf, scores)"), ("S - T, dtype", "S - T - 1, dtype")),
              "You mask the past. The future is the columns to the right of the diagonal."),
        Wrong("def causal_mask(scores):\n    return np.tril(scores, scores.shape[-1] - scores.shape[-2])",
              "Masked scores are 0 here, and softmax gives a score of 0 a probability. Use minus infinity."),
        Wrong("""def causal_mask(scores):
    T, S = scores.shape[-2:]
    return scores + (1 - np.tri(T, S, S - T)) * -np.inf
""", "0 times infinity is nan, not 0: do not multiply by a mask, select with it (np.where).",
              when=lambda seen: isinstance(seen.got, np.ndarray) and np.isnan(seen.got).any()),
        Wrong("""def causal_mask(scores):
    T, S = scores.shape
    return np.where(np.tri(T, S, S - T, dtype=bool), scores, -np.inf)
""", "It works for a single matrix. There may be axes before T and S: these are the last two, scores.shape[-2:]. "
              "A mask (T, S) as an index needs all axes before it: scores[..., mask].",
              when=lambda seen: (bool(seen.error) and not any(o.error for o in seen.outcomes if np.ndim(o.inputs[0]) == 2))),
        Wrong("""def causal_mask(scores):
    return np.tril(scores)
""", "A masked score becomes 0 here, and softmax gives a score of 0 a probability. Use minus infinity."),
        Wrong("""def causal_mask(scores):
    T, S = scores.shape[-2:]
    for t in range(T):
        scores[..., t, S - T + t + 1:] = -np.inf
    return scores
""", generic="changed by your code"),
    ],
)  # fmt: skip
