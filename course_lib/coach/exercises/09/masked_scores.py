"""A small epilogue of one's own: it needs only the sum, its row and its column."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, M, N, K, scale in (("one number", 1, 1, 2, 0.5), ("2 x 3", 2, 3, 2, 0.25), ("a square", 4, 4, 3, 2.0),
                                  ("more than a block", 10, 9, 5, 0.5)):  # fmt: skip
        x, w = ((0.5 + random.integers(-9, 10, size=shape)).astype(np.float32) for shape in ((M, K), (N, K)))
        yield Case(label, x, w, scale)


def masked(x, w, scale, shown=np.tri, hidden=-np.inf):
    """Scores (M, N) where shown(M, N) is 1, and `hidden` elsewhere."""
    return np.where(shown(len(x), len(w)) == 1, scale * (x @ w.T), hidden).astype(np.float32)


def launch(kernel, x, w, scale):
    (M, K), N = x.shape, len(w)
    y = cuda.empty((M, N))
    kernel((-(-N // 8), -(-M // 8)), (8, 8), (cuda.asarray(x), cuda.asarray(w), y, scale, M, N, K))
    return y


exercise = Exercise(
    title="Scale and mask as an epilogue",
    minutes=3,
    core=False,
    language="cuda",
    defines="masked_scores",
    cases=cases,
    reference=masked,
    call=launch,
    hints=("One line: return column <= row ? ... : -INFINITY; with the sum times scale in place of the dots.",),
    wrong=[
        Wrong(Changed(("column <= row", "column < row")),
              "The diagonal is masked too. A number whose column equals its row stays.",
              like=lambda x, w, scale: masked(x, w, scale, lambda M, N: np.tri(M, N, -1))),
        Wrong(Changed(("column <= row", "row <= column")),
              "The other half is masked. To the right of the diagonal the column is larger.",
              like=lambda x, w, scale: masked(x, w, scale, lambda M, N: np.tri(N, M).T)),
        Wrong(Changed(("scale * sum", "sum")), "The sum is not multiplied by `scale`.",
              like=lambda x, w, scale: masked(x, w, 1)),
        Wrong(Changed(("-INFINITY", "0.0f")),
              "Masked scores are 0 here, and softmax would give them a probability. They are -INFINITY.",
              like=lambda x, w, scale: masked(x, w, scale, hidden=0)),
    ],
)  # fmt: skip
