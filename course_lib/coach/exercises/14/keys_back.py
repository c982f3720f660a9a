"""Keys by hand: with queries that hold a token's own position, each token attends to the one `back` positions before it."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, T, back in (("one back", 3, 1), ("two back", 5, 2), ("itself", 4, 0), ("four back", 7, 4)):
        yield Case(label, T, back)


def weights(answer, T, back):
    keys = answer(T, back)
    if np.shape(keys) != (T, T):
        return keys
    scores = np.where(
        np.tri(T, dtype=bool), 12 * np.transpose(keys) / T**0.5, -np.inf
    )  # the queries are 12 * np.eye(T)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def check(found, T, back):
    if found is None:
        return "Your function returns nothing. Return the keys."
    if np.shape(found) != (T, T):
        return f"The keys have the shape {np.shape(found)}. There are {T} tokens, and each key has {T} numbers: ({T}, {T})."
    for t in range(back, T):
        if not found[t, t - back] > 0.9:
            return f"With your keys, token {t} gives token {t - back} the weight {found[t, t - back]:.2f}. It should be nearly 1."
    return None


exercise = Exercise(
    title="A head that attends further back",
    minutes=3,
    core=False,
    defines="keys_back",
    cases=cases,
    reference=lambda T, back: weights(lambda T, back: np.eye(T, k=back), T, back),
    call=weights,
    check=check,
    compared=False,
    hints=(
        "The 1 in the query of token t is at position t. Token j must be found by token j + back, so its key has a 1 at "
        "position j + back. np.eye(T, k=...) moves the diagonal to the right.",
    ),
    wrong=[
        Wrong(Changed(("k=back", "k=-back")),
              "These keys have their 1 `back` positions before their own token, so tokens look for what is after them, and that "
              "is masked. Token j is to be found by token j + back."),
        Wrong(Changed(("k=back", "k=1")), "This is head 1 of the lecture, whatever `back` is."),
        Wrong(Changed((", k=back", "")), "Each key has its 1 at its own position: each token attends to itself."),
        Wrong("def keys_back(T, back):\n    return np.roll(np.eye(T), back, axis=0)\n", generic="With your keys, token"),
    ],
)  # fmt: skip
