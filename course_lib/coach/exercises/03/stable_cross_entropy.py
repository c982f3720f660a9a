"""Cross-entropy from scores, for any scores: no overflow, no log of 0."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extremes
from course_lib.devices import ops


def cases(random):
    def case(label, logits, targets, ignore=-1, dtype=np.float32):
        return Case(label, np.array(logits, dtype), np.array(targets, np.int64), ignore)

    return [
        case("two equal scores", [[0.0, 0.0]], [0]),
        case("three scores", [[2.0, 1.0, -1.0]], [1]),
        case("two rows", [[2.0, 1.0, -1.0], [0.0, 3.0, 1.0]], [0, 2]),
        case("one score: its probability is 1", [[5.0]], [0]),
        case("a row that does not count", [[2.0, 1.0, -1.0], [0.0, 3.0, 1.0], [1.0, 1.0, 4.0]], [0, -1, 1]),
        case("another number for rows that do not count", [[2.0, 1.0, -1.0], [0.0, 3.0, 1.0]], [0, 2], 0),
        case("the same with a number that no column has", [[2.0, 1.0, -1.0], [0.0, 3.0, 1.0]], [-100, 2], -100),
        case("large scores", [[102.0, 101.0, 99.0]], [0]),
        case("sure of the wrong one", [[0.0, -200.0]], [1]),
        case("huge scores of both signs", [[1000.0, -1000.0], [-1000.0, 1000.0]], [0, 0]),
        case("all scores far below 0", [[-1000.0, -1001.0]], [0]),
        case("two rows far apart", [[1000.0, 999.0], [-1000.0, -1001.0]], [0, 1]),
        case("float64", random.normal(size=(3, 4)), [3, 0, 2], -1, np.float64),
        Case(
            "targets in int32", random.normal(size=(5, 7)).astype(np.float32), np.array([0, 6, 3, 3, -1], np.int32), -1
        ),
        *(Case(label, x, np.array([0, 3, 4]), -1) for label, x in extremes(random, (3, 5))),
        case("many scores", 3 * random.normal(size=(4, 50)), [0, 49, 20, 20]),
    ]


def check(result, logits, targets, ignore_index):
    for name, part in zip(("the loss", "logsumexp"), result, strict=True):
        kind = getattr(part, "dtype", None)
        if kind is None:
            return (
                f"{name} is a Python {type(part).__name__}; the tape needs a NumPy number or array of the dtype of the "
                "scores: np.asarray(value, logits.dtype)."
            )
        if kind != logits.dtype:
            return f"{name} is right, but its dtype is {kind}; the scores are {logits.dtype}. It must have their dtype."
    return None


def is_pair(seen):
    return isinstance(seen.got, tuple | list) and len(seen.got) == 2


exercise = Exercise(
    title="The loss that never overflows",
    minutes=20,
    test_out=True,
    defines="cross_entropy_forward",
    target="op:cross_entropy_forward",
    given="import numpy as np",
    cases=cases,
    results=("the loss", "logsumexp"),
    reference=ops("reference").cross_entropy_forward,
    check=check,
    tolerance=1e-4,  # in float32 a score of 1000 is accurate to 6e-5
    hints=(
        "Loss of a row: logsumexp - score of the true one. First write that for a single row with small scores.",
        "logsumexp = largest + log(sum of exp(score - largest)). With keepdims=True max and sum are columns, (n, 1); [:, 0] "
        "at the end makes it (n,).",
        "rows = np.flatnonzero(targets != ignore_index); the losses are logsumexp[rows] - logits[rows, targets[rows]]; "
        "the loss is np.asarray(losses.mean(), logits.dtype).",
    ),
    example='''def log_add(a, b):
    """log(exp(a) + exp(b)) for two numbers of any size, by the same trick."""
    largest, smallest = max(a, b), min(a, b)
    return largest + math.log(1 + math.exp(smallest - largest))
''',
    wrong=[
        Wrong("""def cross_entropy_forward(logits, targets, ignore_index=-1):
    logsumexp = np.log(np.exp(logits).sum(axis=-1))
    rows = np.flatnonzero(targets != ignore_index)
    return (logsumexp[rows] - logits[rows, targets[rows]]).mean(), logsumexp
""",
              "exp of a large score is too large for its dtype, and of a very negative one it is 0. Subtract the largest "
              "score of the row before exp, and add it again after the log."),
        Wrong(Changed(("logits.max(axis=-1, keepdims=True)", "logits.max(keepdims=True)")),
              "You subtract the largest score of all rows. In a row far below it every exp is 0: each row needs its own "
              "largest."),
        Wrong("""def cross_entropy_forward(logits, targets, ignore_index=-1):
    largest = logits.max(axis=1, keepdims=True)
    e = np.exp(logits - largest)
    p = e / e.sum(axis=1, keepdims=True)
    rows = targets != ignore_index
    loss = -np.log(p[rows, targets[rows]]).mean()
    return loss, (largest + np.log(e.sum(axis=1, keepdims=True)))[:, 0]
""",
              "The probability of the true one was rounded to 0, and its log is -inf. Never compute the probability: the "
              "loss is logsumexp minus the score."),
        Wrong("""def cross_entropy_forward(logits, targets, ignore_index=-1):
    s = logits - logits.max(axis=1, keepdims=True)
    logsumexp = np.log(np.exp(s).sum(axis=1))
    rows = np.flatnonzero(targets != ignore_index)
    return (logsumexp[rows] - s[rows, targets[rows]]).mean(), logsumexp
""", "The largest score was subtracted inside and is missing outside: the logsumexp that you return is too small by it."),
        Wrong(Changed(("(largest + np.log(", "(np.log(")),
              "The logsumexp lacks the largest score, which was subtracted inside: "
              "add it again after the log."),
        Wrong(Changed(("losses.mean()", "losses.sum()")), "The loss is the mean over the rows that count; yours is their sum."),
        Wrong(Changed(("np.flatnonzero(targets != ignore_index)", "np.arange(len(targets))")),
              "Rows that do not count are counted: the target -1 picks the last column of its row."),
        Wrong(Changed(("losses.mean()", "losses.sum() / len(targets)")),
              "The rows that do not count are left out of the sum, but you divide by the number of all rows."),
        Wrong(Changed(("targets != ignore_index", "targets != -1")),
              "-1 is only the usual number of rows that do not count: compare the targets with `ignore_index`."),
        Wrong(Changed((", logits.dtype), logsumexp", ", logits.dtype)")),
              "Give two results: the loss, and the logsumexp of each row, which the backward pass will need.",
              when=lambda seen: not seen.error and not is_pair(seen) and np.ndim(seen.got) == 0 and seen.got is not None),
        Wrong(Changed(("np.asarray(losses.mean(), logits.dtype)", "float(losses.mean())")), generic="is a Python float"),
    ],
)  # fmt: skip
