"""An open challenge: an optimiser of one's own, which needs as few gradients as possible."""

import numpy as np

from course_lib.coach.exercise import Case, Exercise, Goal, Wrong

LOW, MOST = 1e-4, 2000  # the loss to reach, the gradients that one descent may compute


class TooMany(RuntimeError):
    """The descent computed too many gradients."""


def bowl(steepness, angle=0.0):
    """The loss and its gradient, two functions, of a valley with its minimum at 0, rotated by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.array([[c, -s], [s, c]]) @ np.diag(steepness) @ np.array([[c, s], [-s, c]])
    return lambda k: float(k @ matrix @ k), lambda k: 2 * matrix @ k


VALLEYS = {  # name: (start, (loss, grad))
    "a round bowl": (np.array([3.0, -2.0]), bowl([1.0, 1.0])),
    "the narrow valley of the lecture": (np.array([-4.0, 1.0]), bowl([1.0, 25.0])),
    "a narrow valley that lies askew": (np.array([3.0, 1.0]), bowl([1.0, 25.0], 0.6)),
    "walls that become straight": (np.array([5.0, -3.0]), (
        lambda k: float((np.array([1.0, 8.0]) * (np.sqrt(1 + k * k) - 1)).sum()),
        lambda k: np.array([1.0, 8.0]) * k / np.sqrt(1 + k * k))),
}  # fmt: skip


def cases(random):
    return [Case(name, name) for name in VALLEYS]


def descend(answer, name, count=None):
    start, (_, grad) = VALLEYS[name]
    asked = [0] if count is None else count
    before = asked[0]

    def counted(point):
        asked[0] += 1
        if asked[0] - before > MOST:
            raise TooMany(f"the descent computed more than {MOST:,} gradients")
        with np.errstate(all="ignore"):
            return grad(np.array(point, dtype=float))

    return answer(counted, start.copy())


def check(result, name):
    start, (loss, _) = VALLEYS[name]
    point = np.asarray(result, dtype=object)
    if point.shape != start.shape or not all(isinstance(k, int | float) for k in point.tolist()):
        return f"The result is {result!r:.80}; it should be the point where the descent ends, an array of 2 numbers."
    point = point.astype(float)
    with np.errstate(all="ignore"):
        begin, end = loss(start), loss(point)
    if not np.isfinite(end):
        return "The parameters have diverged: the steps are so long that each overshoots more than the last."
    if end > begin:
        return f"The loss at the end ({end:.3g}) is larger than at the start ({begin:.3g}): the steps are too long."
    if end > LOW:
        return f"The descent ends at {point.round(4).tolist()} with the loss {end:.3g}; it must be at most {LOW:g}."
    return None


def gradients(answer):
    count = [0]
    for name in VALLEYS:
        descend(answer, name, count)
    return count[0]


SGD = "def minimise(grad, point):\n    for _ in range({}):\n        point = point - {} * grad(point)\n    return point"

exercise = Exercise(
    title="Open challenge: an optimiser of your own",
    minutes=20,
    core=False,
    defines="minimise",
    given="import numpy as np",
    cases=cases,
    call=descend,
    compared=False,
    check=check,
    goals=[Goal("gradients computed in four valleys", gradients)],
    challenge=True,
    hints=(
        "Begin with SGD: a step of -0.02 times the gradient, until all of it is small. Which valley takes longest?",
        "Momentum takes the flat direction faster: velocity = 0.8 * velocity - 0.02 * gradient; point = point + velocity.",
        "Two gradients tell how steep it is along the last move: (new - old gradient) against the move itself. Their "
        "quotient gives a length for the next step, but limit it: where walls become straight it is far too long.",
    ),
    example='''def secant_method(slope, x):
    """For a single parameter, two derivatives tell where the straight line through them is 0 (the secant method)."""
    other = x + 0.1
    for _ in range(20):
        a, b = slope(x), slope(other)
        if abs(b) < 1e-6 or a == b:
            break
        x, other = other, other - b * (other - x) / (b - a)
    return other
''',
    wrong=[
        Wrong("def minimise(grad, point):\n    while True:\n        point = point - 0.02 * grad(point)\n    return point",
              f"Your descent had not ended after {MOST:,} gradients. Stop when the gradient is small, or after some steps.",
              when=lambda seen: seen.error.startswith("TooMany")),
        Wrong(SGD.format(60, 0.1), generic="is larger than at the start"),
        Wrong(SGD.format(50, 0.01), generic="it must be at most"),
        Wrong("def minimise(grad, point):\n    return grad", generic="it should be the point where the descent ends"),
        Wrong(SGD.format(900, 1.5), generic="have diverged"),
    ],
)  # fmt: skip
