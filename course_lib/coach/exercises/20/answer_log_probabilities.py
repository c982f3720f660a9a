"""The log-probability of each row of a batch: a sum over the targets that are scored."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extremes

IGNORE = -1


def cases(random):
    def case(label, targets, vocab, scale=1.0):
        targets = np.array(targets)
        return Case(label, (scale * random.normal(size=(*targets.shape, vocab))).round(2), targets)

    yield Case("one target", np.log([[[1.0, 3.0]]]), np.array([[1]]))
    yield case("two targets", [[1, 0]], 2)
    yield case("a prompt before them", [[IGNORE, IGNORE, 2, 1]], 3)
    yield case("rows of different lengths", [[IGNORE, 2, 0, 1], [1, 0, IGNORE, IGNORE]], 3)
    yield case("a row without targets", [[0, 1], [IGNORE, IGNORE]], 3)
    for label, logits in extremes(random, (2, 3, 4)):
        yield Case(label, logits.astype(np.float64), np.array([[IGNORE, 3, 0], [1, 2, IGNORE]]))
    apart = np.array([[[40000.0, 39999.0], [0.0, 1.0]], [[-40000.0, -40001.0], [2.0, 0.0]]])
    yield Case("positions far from each other", apart, np.array([[0, 1], [1, 0]]))
    targets = random.integers(0, 50, (4, 12))
    for row, (first, last) in enumerate(((3, 9), (5, 12), (1, 2), (0, 12))):
        targets[row, :first] = targets[row, last:] = IGNORE
    yield case("four rows of 12", targets, 50, 3.0)


def right(logits, targets):
    found = np.zeros(len(targets))
    for row, column in zip(*np.nonzero(targets != IGNORE), strict=True):
        scores = logits[row, column]
        found[row] += scores[targets[row, column]] - np.logaddexp.reduce(scores)
    return found


exercise = Exercise(
    title="The log-probabilities of a batch",
    minutes=12,
    defines="answer_log_probabilities",
    given="import numpy as np\nIGNORE = -1",
    cases=cases,
    reference=right,
    hints=(
        "For one token: log P = its logit minus the logsumexp of all logits. For a row: the sum over its scored targets.",
        "np.take_along_axis(logits, picks[..., None], -1) takes one logit for each position; where a target is IGNORE, let the "
        "pick be 0 and put 0 for its log-probability afterwards.",
        "largest = logits.max(-1, keepdims=True); total = largest + np.log(np.exp(logits - largest).sum(-1, keepdims=True)); "
        "scored = targets != IGNORE; picked = np.take_along_axis(logits, np.where(scored, targets, 0)[..., None], -1); "
        "np.where(scored, (picked - total)[..., 0], 0).sum(-1).",
    ),
    example='''def row_sums(values, marks):
    """The sum of each row of values (B, T), over the columns where marks (B, T) is not negative."""
    return np.where(marks >= 0, values, 0.0).sum(-1)
''',
    wrong=[
        Wrong(Changed(("np.where(scored, (picked - total)[..., 0], 0.0).sum(-1)", "(picked - total)[..., 0].sum(-1)"),
                      ("np.where(scored, targets, 0)", "targets")),
              "Targets that are IGNORE are counted: -1 as an index picks the last token of the vocabulary."),
        Wrong(Changed(("np.where(scored, (picked - total)[..., 0], 0.0).sum(-1)", "(picked - total)[..., 0].sum(-1)")),
              "Targets that are IGNORE are counted, as if they were token 0. Put 0 for their log-probability."),
        Wrong(Changed(("0.0).sum(-1)", "0.0).sum(-1) / np.maximum(scored.sum(-1), 1)")),
              "This is the mean over a row's targets. The log-probability of an answer is their sum."),
        Wrong(Changed(("0.0).sum(-1)", "0.0).sum()")),
              "You add up all rows. Each row is an answer of its own: (B, T) becomes (B,)."),
        Wrong(Changed(("(picked - total)", "(total - picked)")),
              "These are nats, -log P. The log-probability has the other sign."),
        Wrong(Changed(("(picked - total)", "picked")),
              "You add up logits. A log-probability is the logit minus the logsumexp of all logits of its position."),
        Wrong("""def answer_log_probabilities(logits, targets):
    scored = targets != IGNORE
    e = np.exp(logits - logits.max(-1, keepdims=True))
    chances = e / e.sum(-1, keepdims=True)
    picked = np.take_along_axis(chances, np.where(scored, targets, 0)[..., None], -1)[..., 0]
    return np.where(scored, np.log(picked), 0.0).sum(-1)
""", "You take the logarithm of a probability. Where another token is far likelier it is 0, and its logarithm is -inf. Subtract "
              "the logsumexp from the logit instead."),
        Wrong("""def answer_log_probabilities(logits, targets):
    scored = targets != IGNORE
    chances = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    picked = np.take_along_axis(chances, np.where(scored, targets, 0)[..., None], -1)[..., 0]
    return np.where(scored, np.log(picked), 0.0).sum(-1)
""", "np.exp overflows for large logits, and gives 0 for very negative ones. Take the logit minus the logsumexp; inside its exp "
              "subtract the largest logit of the position, and add it again after the logarithm.",
              when=lambda seen: seen.label.startswith("all far") and seen.got is not None
                  and not np.isfinite(np.array(seen.got, float)).all(),
              once="an overflow alone gives inf or nan here"),
        Wrong(Changed(("logits.max(-1, keepdims=True)", "logits.max()")),
              "You subtract one number, the largest logit of the whole batch. Where all logits of a position lie far below it, "
              "every exp is 0. Each position needs its own largest."),
        Wrong("""def answer_log_probabilities(logits, targets):
    scored = targets != IGNORE
    shifted = logits - logits.max(-1, keepdims=True)
    chances = np.exp(shifted) / np.exp(shifted).sum(-1, keepdims=True)
    picked = np.take_along_axis(chances, np.where(scored, targets, 0)[..., None], -1)[..., 0]
    return np.where(scored, picked, 0.0).sum(-1)
""", "You add up probabilities. Those of tokens that follow each other multiply, so their logarithms add up."),
    ],
)  # fmt: skip
