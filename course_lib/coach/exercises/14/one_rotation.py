"""RoPE with one rotation: a score depends only on the distance of query and key."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

GIVEN = """
def rotate(pair, angle):
    first, second = pair
    c, s = np.cos(angle), np.sin(angle)
    return np.array([first * c - second * s, first * s + second * c])
"""


def cases(random):
    yield Case("the same position", np.array([1.0, 0.5]), 3, 3, 1.0)
    yield Case("the key is one before", np.array([1.0, 0.0]), 1, 0, 0.5)
    yield Case("far into the text", np.array([1.0, 0.5]), 103, 101, 1.0)
    yield Case("the query before the key", np.array([1.0, 0.5]), 0, 2, 0.5)
    yield Case("a slow hand", np.array([-2.0, 3.0]), 10, 4, 0.046)


def one_rotation(query, p, s, frequency):
    angle = frequency * (p - s)
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ query


exercise = Exercise(
    title="One rotation is enough",
    minutes=3,
    core=False,
    defines="one_rotation",
    cases=cases,
    reference=one_rotation,
    given=GIVEN,
    hints=("Rotate both back by the angle of the key, s * frequency: the key is as it was then. What is left for the query?",),
    wrong=[
        Wrong(Changed(("(p - s)", "p")),
              "This is the query's own rotation. The key stays as it is, so the query must be rotated back by the key's angle."),
        Wrong(Changed(("(p - s)", "(s - p)")),
              "The rotation goes the wrong way. The angle from the key to the query is that of p - s."),
        Wrong(Changed(("(p - s)", "(p + s)")), "The angles are added. Only the angle between the two matters: their difference."),
        Wrong(Changed(("(p - s) * frequency", "(p - s)")), "At position p a point is rotated by p times its angle, `frequency`."),
        Wrong("def one_rotation(query, p, s, frequency):\n    return rotate(query, p - s) * frequency\n",
              generic="line 2, `rotate(query, p - s)`, has values"),
    ],
)  # fmt: skip
