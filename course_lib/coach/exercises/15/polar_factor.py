"""The polar factor by products alone: every singular value converges to 1, the singular vectors stay."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one number", np.array([[-3.0]]), 0)
    yield Case("the example", np.array([[0.0, 2.0], [-2.0, 0.0]]), 20)
    yield Case("two unequal singular values", np.diag([4.0, 1.0]), 1)
    yield Case("no step", np.diag([3.0, 4.0]), 0)
    yield Case("three steps", random.normal(size=(3, 3)), 3)
    yield Case("a wide matrix", random.normal(size=(2, 5)), 6)
    yield Case("a tall matrix", random.normal(size=(6, 3)), 6)
    yield Case("only zeros", np.zeros((2, 3)), 4)
    yield Case("until all singular values are 1", random.normal(size=(4, 4)), 40)


def polar(G, steps):
    norm = np.linalg.norm(G)
    X = G / norm if norm else G
    for _ in range(steps):
        X = 1.5 * X - 0.5 * X @ X.T @ X
    return X


exercise = Exercise(
    title="A polar factor, by products alone",
    minutes=10,
    core=False,
    defines="polar_factor",
    cases=cases,
    reference=polar,
    tolerance=1e-6,
    hints=(
        "np.linalg.norm(G) is the root of the sum of all squares. If it is 0, the result is a copy of G.",
        "A loop of `steps` steps; in each, X becomes 1.5 X minus 0.5 X @ X.T @ X.",
        "X = 1.5 * X - 0.5 * (X @ X.T) @ X",
    ),
    example='''import numpy as np


def inverse(A, steps):
    """The inverse of a square matrix by products alone (Newton; Schulz 1933), from a start that is small enough."""
    X = A.T / (np.abs(A).sum(0).max() * np.abs(A).sum(1).max())
    for _ in range(steps):
        X = 2 * X - X @ A @ X
    return X
''',
    wrong=[
        Wrong(Changed(("G / norm if norm else G", "G")),
              "G was not divided by its norm first. Singular values above the root of 5 then grow without bound."),
        Wrong(Changed(("np.linalg.norm(G)", "np.abs(G).max()")),
              "G was divided by its largest number. A singular value may still be above 1: "
              "divide by the root of the sum of all squares."),
        Wrong(Changed(("0.5 * X @ X.T @ X", "0.5 * X**3")),
              "X**3 is the power of each number by itself. The product X @ X.T @ X changes singular values and leaves singular "
              "vectors alone."),
        Wrong(Changed(("0.5 * X @ X.T @ X", "0.5 * X * X.T * X")),
              "`*` multiplies element by element. The matrices are multiplied by @: X @ X.T @ X.",
              when=lambda seen: "X*X.T*X" in seen.text.replace(" ", "")),
        Wrong(Changed(("G / norm if norm else G", "G / norm")),
              "The zeros became nan: if the norm is 0, do not divide.",
              when=lambda seen: seen.label == "only zeros" and np.isnan(seen.got).any(),
              once="the only matrix whose norm is 0, and no number"),
        Wrong(Changed(("0.5 * X @ X.T @ X", "0.5 * X @ X @ X")),
              "The middle factor must be transposed: X @ X.T @ X. Otherwise the shapes do not even match unless the matrix is "
              "square.",
              when=lambda seen: "X@X@X" in seen.text.replace(" ", "")),
        Wrong("""def polar_factor(G, steps):
    u, s, v = np.linalg.svd(G, full_matrices=False)
    return u @ v if s.any() else G
""", "This is the exact polar factor, whatever `steps` is. Return X after `steps` steps.",
              when=lambda seen: ("svd" in seen.text or "polar(" in seen.text)
                  and np.allclose(np.linalg.svd(seen.got, compute_uv=False), 1)),
    ],
)  # fmt: skip
