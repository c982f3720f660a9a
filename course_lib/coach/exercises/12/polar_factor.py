"""A pure turn out of products alone: every stretch moves towards 1, the directions stay."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong


def cases(random):
    yield Case("one number", np.array([[-3.0]]), 0)
    yield Case("the example", np.array([[0.0, 2.0], [-2.0, 0.0]]), 20)
    yield Case("two unequal stretches", np.diag([4.0, 1.0]), 1)
    yield Case("three rounds", random.normal(size=(3, 3)), 3)
    yield Case("a wide matrix", random.normal(size=(2, 5)), 6)
    yield Case("a tall matrix", random.normal(size=(6, 3)), 6)
    yield Case("nothing but zeros", np.zeros((2, 3)), 4)
    yield Case("until it is a turn", random.normal(size=(4, 4)), 40)


def polar(G, rounds, size=np.linalg.norm, step=lambda X: 1.5 * X - 0.5 * X @ X.T @ X):
    X = G / (size(G) or 1.0)
    for _ in range(rounds):
        X = step(X)
    return X


def elementwise(X):
    return 1.5 * X - 0.5 * X**3


exercise = Exercise(
    title="A turn, by products alone",
    minutes=10,
    core=False,
    defines="polar_factor",
    cases=cases,
    reference=polar,
    tolerance=1e-6,
    mistakes=[
        Mistake("G was not divided by its length first. Stretches above the root of 3 then run away.",
                like=lambda G, rounds: polar(G, rounds, size=lambda G: 1.0)),
        Mistake("G was divided by its largest number. A stretch may still be larger than 1: divide by the root of the sum of all "
                "squares.", like=lambda G, rounds: polar(G, rounds, size=lambda G: np.abs(G).max())),
        Mistake("This is the power of each number by itself, X**3. The product X @ X.T @ X changes stretches and leaves "
                "directions alone.", like=lambda G, rounds: polar(G, rounds, step=elementwise)),
        Mistake("The zeros became nan: where G has no length, nothing is to be divided.",
                when=lambda seen: seen.label == "nothing but zeros" and np.isnan(seen.got).any()),
        Mistake("The middle factor must be turned over: X @ X.T @ X. Without that a matrix that is not square does not even fit.",
                when=lambda seen: "X@X@X" in seen.text.replace(" ", "")),
        Mistake("This is the finished turn, whatever `rounds` is. Give what `rounds` rounds leave.",
                when=lambda seen: "svd" in seen.text or "polar(" in seen.text),
    ],
    hints=(
        "np.linalg.norm(G) is the root of the sum of all squares. If it is 0, G is the result.",
        "A loop of `rounds` rounds, and in each X becomes one and a half X less half of X @ X.T @ X.",
        "X = 1.5 * X - 0.5 * (X @ X.T) @ X",
    ),
    sibling='''import numpy as np


def inverse(A, rounds):
    """The inverse of a square matrix by products alone (Newton; Schulz 1933), from a beginning that is small enough."""
    X = A.T / (np.abs(A).sum(0).max() * np.abs(A).sum(1).max())
    for _ in range(rounds):
        X = 2 * X - X @ A @ X
    return X
''',
    right=[
        """def polar_factor(G, rounds):
    length = np.sqrt((G * G).sum())
    X = G / length if length > 0 else G.copy()
    turned = X.shape[0] > X.shape[1]
    X = X.T if turned else X
    for _ in range(rounds):
        S = X @ X.T
        X = (1.5 * np.eye(len(S)) - 0.5 * S) @ X
    return X.T if turned else X
""",
        Changed(("X = 1.5 * X - 0.5 * X @ X.T @ X", "X = X + 0.5 * X @ (np.eye(X.shape[1]) - X.T @ X)")),
    ],
    wrong=[
        Wrong(Changed(("G / length if length else G", "G")), "run away"),
        Wrong(Changed(("np.linalg.norm(G)", "np.abs(G).max()")), "its largest number"),
        Wrong(Changed(("0.5 * X @ X.T @ X", "0.5 * X**3")), "the power of each number"),
        Wrong(Changed(("G / length if length else G", "G / length")), "The zeros became nan"),
        Wrong(Changed(("0.5 * X @ X.T @ X", "0.5 * X @ X @ X")), "must be turned over"),
        Wrong("""def polar_factor(G, rounds):
    u, s, v = np.linalg.svd(G, full_matrices=False)
    return u @ v if s.any() else G
""", "the finished turn"),
    ],
)  # fmt: skip
