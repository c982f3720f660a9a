"""The matrix that makes keys, moved to the query."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("the example", np.array([[1.0, 2.0]]), np.array([[[1.0, 0.0, 3.0], [0.0, 1.0, 1.0]]]))
    yield Case("two heads", random.normal(size=(2, 3)), random.normal(size=(2, 3, 4)))
    yield Case("as many numbers in a head as in the latent", random.normal(size=(4, 5)), random.normal(size=(4, 5, 5)))
    yield Case("a long latent", random.normal(size=(3, 2)), random.normal(size=(3, 2, 17)))


def right(q, w_uk):
    return np.stack([w_uk[h].T @ q[h] for h in range(len(q))])


exercise = Exercise(
    title="Ask the latents",
    minutes=4,
    core=False,
    defines="absorb_query",
    cases=cases,
    reference=right,
    hints=("For one head q . (W c) is q @ W @ c. Multiply from the left first: q @ W has K numbers, and c is not in it. Then do "
           "it for each head, in a loop or with np.einsum.",),
    wrong=[
        Wrong(Changed(('"hd,hdk->hk"', '"hd,gdk->hk"')),
              "Each head has a matrix of its own; here every query is multiplied by the matrices of all heads, summed."),
        Wrong(Changed(('np.einsum("hd,hdk->hk", q, w_uk)', "q @ w_uk")),
              "q @ w_uk multiplies the queries of all heads by the matrix of each: (H, H, K). Head h needs only q[h] @ w_uk[h]."),
        Wrong(Changed(('np.einsum("hd,hdk->hk", q, w_uk)', "w_uk.sum(axis=1)")),
              "The matrix is added up as if every number of the query were 1. Each of its rows counts as much as the query's "
              "number for it."),
        Wrong(Changed(('np.einsum("hd,hdk->hk", q, w_uk)', 'np.einsum("hd,hdk->hk", q, w_uk) / np.sqrt(q.shape[1])')),
              "The score asked for, q[h] @ (w_uk[h] @ c), is not divided. Leave the root of the head size to attention."),
    ],
)  # fmt: skip
