"""REINFORCE's estimate on a table of logits; on all texts of the tiny grammar, weighted, it is the exact gradient."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.tuning import tiny


def cases(random):
    def drawn(label, theta, count):
        texts = tiny.draw(theta, count, random)
        rewards = tiny.REWARD[texts]
        return Case(
            label, tiny.probabilities(theta), tiny.rows(theta)[texts], tiny.TEXTS[texts], rewards - rewards.mean()
        )

    yield Case("one text of one token", np.array([[0.75, 0.25]]), np.array([[0]]), np.array([[1]]), np.array([2.0]))
    yield Case("two texts of one token", np.array([[0.75, 0.25]]), np.array([[0], [0]]), np.array([[1], [0]]),
               np.array([1.0, -1.0]))  # fmt: skip
    yield Case("a row used twice in a text", np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([[0, 0, 1]]),
               np.array([[1, 0, 1]]), np.array([1.0]))  # fmt: skip
    yield Case("an advantage of 0", np.array([[0.5, 0.5]]), np.array([[0]]), np.array([[1]]), np.array([0.0]))
    yield drawn("a group of eight, a policy that sees one token", tiny.start(back=1), 8)
    theta = tiny.start()
    everything = np.arange(len(tiny.TEXTS))
    weight = len(everything) * tiny.chances(theta) * (tiny.REWARD - tiny.expected(theta))
    yield Case("every text there is, by its probability: the exact gradient", tiny.probabilities(theta), tiny.rows(theta),
               tiny.TEXTS, weight)  # fmt: skip


def right(probabilities, rows, tokens, advantages):
    gradient = np.zeros_like(probabilities)
    for row in range(len(probabilities)):
        here = (rows == row) * np.asarray(advantages)[:, None]  # (B, T)
        counts = [here[tokens == token].sum() for token in range(probabilities.shape[1])]
        gradient[row] = np.array(counts) - here.sum() * probabilities[row]
    return gradient / len(advantages)


exercise = Exercise(
    title="The gradient of REINFORCE",
    minutes=15,
    defines="reinforce_gradient",
    test_out=True,
    given="import numpy as np",
    cases=cases,
    tolerance=1e-7,
    reference=right,
    hints=(
        "Two loops: over the texts with their advantages, and over the tokens of a text with their rows.",
        "Each token changes one row of the gradient: minus advantage * probabilities[row] in the whole row, and plus the "
        "advantage at the token itself.",
        "gradient[row] -= advantage * probabilities[row]; gradient[row, token] += advantage. The last line, which is given, "
        "divides by the number of texts.",
    ),
    example='''def cross_entropy_gradient(probabilities, row, token):
    """The gradient of -log P(token) with respect to all logits, (R, V), for one token from one row."""
    gradient = np.zeros_like(probabilities)
    gradient[row] = probabilities[row]
    gradient[row, token] -= 1.0
    return gradient
''',
    wrong=[
        Wrong(Changed(("            gradient[row] -= advantage * probabilities[row]\n", "")),
              "You count only the tokens that were written. Each also takes away its advantage times the probabilities of "
              "its row."),
        Wrong(Changed(("            gradient[row] -= advantage * probabilities[row]\n", ""),
                      ("token] += advantage", "token] += advantage * (1.0 - probabilities[row, token])")),
              "Only the token that was written changes here. The others of its row change too: each by minus the advantage times "
              "its probability."),
        Wrong(Changed(("return gradient / len(advantages)", "return gradient")),
              "This is the sum over the texts. Divide by their number."),
        Wrong(Changed(("return gradient / len(advantages)", "return gradient / tokens.size")),
              "You divide by the number of tokens. The mean is over the texts: log P(text) is a sum over its tokens."),
        Wrong(Changed(("gradient[row] -= advantage * probabilities[row]", "gradient[row] += advantage * probabilities[row]"),
                      ("gradient[row, token] += advantage", "gradient[row, token] -= advantage")),
              "This is the gradient of a loss, which goes down. The gradient of the expected reward has the other sign."),
        Wrong(Changed(("gradient[row, token] += advantage", "gradient[row, token] += 1.0"),
                      ("gradient[row] -= advantage * probabilities[row]", "gradient[row] -= probabilities[row]")),
              "The advantages are not used: every text is made more likely, right or wrong."),
        Wrong(Changed(("gradient[row] -= advantage * probabilities[row]", "gradient[row] = -advantage * probabilities[row]"),
                      ("gradient[row, token] += advantage", "gradient[row, token] = gradient[row, token] + advantage")),
              "A row that is used more than once keeps only its last token. Add up, with -=."),
        Wrong('''def reinforce_gradient(probabilities, rows, tokens, advantages):
    gradient = np.zeros_like(probabilities)
    credit = np.repeat(advantages[:, None], rows.shape[1], 1)
    gradient[rows, tokens] += credit
    total = np.zeros(len(probabilities))
    np.add.at(total, rows, credit)
    return (gradient - total[:, None] * probabilities) / len(advantages)
''', "Where an index occurs twice, a[index] += x adds only once. np.add.at(a, index, x) adds each time."),
    ],
)  # fmt: skip
