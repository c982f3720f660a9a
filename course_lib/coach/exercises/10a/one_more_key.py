"""One step of online softmax that carries the unfinished output along."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("a larger score", 1.0, 1.0, np.array([2.0, 4.0]), 3.0, np.array([1.0, -1.0]))
    yield Case("a smaller score", 2.0, 1.5, np.array([1.0, 3.0]), 0.5, np.array([4.0, 0.0]))
    yield Case("the same score again", -1.0, 2.0, np.array([5.0]), -1.0, np.array([3.0]))
    yield Case("the first key", -np.inf, 0.0, np.zeros(3), -2.0, random.normal(size=3))
    yield Case("scores of a thousand", 1000.0, 1.25, random.normal(size=3), 1001.0, random.normal(size=3))


def step(m, l, out, score, value):
    new = max(m, score)
    old, weight = np.exp(m - new), np.exp(score - new)
    return new, old * l + weight, old * out + weight * value


exercise = Exercise(
    title="One more key",
    minutes=3,
    core=False,
    defines="one_more_key",
    cases=cases,
    reference=step,
    call=lambda answer, m, l, out, score, value: answer(m, l, out.copy(), score, value),  # it may change its `out`
    results=("m", "l", "out"),
    hints=("What was summed with the old m is multiplied by exp(m - m_new), l and out alike. The new key adds exp(score - "
           "m_new) to l, and as many times its value to out.",),
    wrong=[
        Wrong(Changed(("out = out * rescale + weight * value", "out = out + weight * value")),
              "l is right. The unfinished output was summed with the old m too, so it must be rescaled by the same "
              "factor."),
        Wrong(Changed(("l = l * rescale + weight", "l = l + weight")),
              "out is right. l was summed with the old m too, so it must be rescaled by the same factor."),
        Wrong(Changed(("out = out * rescale + weight * value", "out = out + weight * value"), ("l * rescale", "l")),
              "Nothing is rescaled: l and out were both summed with the old m."),
        Wrong(Changed(("np.exp(m - m_new)", "np.exp(m_new - m)")),
              "The factor is upside down: exp(score - m) becomes exp(score - m_new) when it is multiplied by exp(m - "
              "m_new)."),
        Wrong(Changed(("np.exp(score - m_new)", "np.exp(score - m)")),
              "The weight of the new key is taken relative to the old m. From now on everything is relative to m_new."),
        Wrong(Changed(("weight * value", "value")), "l is right. To out the new key adds its value *times its weight*."),
    ],
)  # fmt: skip
