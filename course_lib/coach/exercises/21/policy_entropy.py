"""The entropy of a policy, added up over all its texts."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.tuning import tiny


def cases(random):
    yield Case("two texts of one token", np.log([[0.5], [0.5]]))
    yield Case("two texts, one likelier", np.log([[0.9], [0.1]]))
    yield Case("four texts of two tokens", np.log([[0.5, 0.2], [0.5, 0.8], [0.5, 0.6], [0.5, 0.4]]))
    yield Case("one text that is certain", np.zeros((1, 3)))
    yield Case("the tiny grammar", tiny.log_chances(tiny.start()))
    yield Case("a policy without memory", tiny.log_chances(tiny.start(back=1)))


def right(log_chances):
    p = np.exp(np.sum(log_chances, axis=1))
    return float(p @ -np.log(p))


exercise = Exercise(
    title="The entropy of a policy",
    minutes=4,
    core=False,
    defines="policy_entropy",
    given="import numpy as np",
    cases=cases,
    tolerance=1e-7,
    reference=right,
    hints=("log P(text) is the sum over its tokens, log_chances.sum(-1); then the sum over texts of -P log P.",),
    wrong=[
        Wrong("def policy_entropy(log_chances):\n    return -(np.exp(log_chances) * log_chances).sum()\n",
              "You weigh each token by its own probability. A whole text has one: the product of its tokens', so add up their "
              "logarithms first."),
        Wrong(Changed(("-(np.exp(log_p) * log_p).sum()", "(np.exp(log_p) * log_p).sum()")),
              "This is minus the entropy: log P is negative."),
        Wrong(Changed(("-(np.exp(log_p) * log_p).sum()", "-log_p.mean()")),
              "You count all texts alike. Weigh each by its probability."),
        Wrong(Changed(("-(np.exp(log_p) * log_p).sum()", "-(np.exp(log_p) * log_p).mean()")),
              "You divide by the number of texts. The probabilities are the weights, and they add up to 1."),
        Wrong(Changed(("* log_p)", "* np.log2(np.exp(log_p)))")), "These are bits. Nats come from the natural logarithm."),
    ],
)  # fmt: skip
