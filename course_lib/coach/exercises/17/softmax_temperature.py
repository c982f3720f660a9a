"""Probabilities of logits, sharpened or flattened by a temperature."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import extremes

COLDEST = "temperature 0"


def cases(random):
    def case(label, rows, temperature):
        return Case(label, np.array(rows, np.float32), temperature)

    yield case("two logits, temperature 1", [[1.0, 0.0]], 1.0)
    yield case("two logits, temperature 0.5", [[1.0, 0.0]], 0.5)
    yield case("hot", [[1.0, 0.0, -2.0]], 2.0)
    yield case("two rows", [[1.0, 0.0, -1.0], [0.0, 3.0, 0.0]], 0.8)
    yield case(COLDEST, [[0.0, 2.0, 1.0]], 0)
    yield case("temperature 0, and two logits are the largest", [[1.0, 3.0, 3.0]], 0)
    yield case("logits as large as 1000", [[1000.0, 999.0]], 1.0)
    yield case("logits as low as -1000", [[-1000.0, -1001.0]], 1.0)
    yield case("temperature 0.01", [[5.0, 4.0, -6.0]], 0.01)
    yield case("one token", [[7.0]], 0.7)
    yield case("two rows far apart", [[1000.0, 999.0], [-1000.0, -1001.0]], 1.0)
    for label, x in extremes(random, (3, 5)):
        yield Case(label, x, 1.5)
    yield Case("many rows", random.normal(size=(5, 40)).astype(np.float32) * 3, 0.7)


def not_finite(seen):
    return isinstance(seen.got, np.ndarray) and not np.isfinite(seen.got).all()


def check(result, logits, temperature):
    if not isinstance(result, np.ndarray):
        return f"The result is a {type(result).__name__}; it must be a NumPy array of the shape of `logits`."
    return None


exercise = Exercise(
    title="Temperature",
    minutes=15,
    defines="softmax",
    target="course_lib.sampling.softmax",
    given="import numpy as np",
    cases=cases,
    check=check,
    hints=(
        "Three steps: divide by the temperature, exp, divide by the sum. And one case is separate: which?",
        "Subtract logits.max(-1, keepdims=True) before exp. At 0: argmax(-1) says which element of each row becomes 1.",
        "z = logits.astype(np.float64); e = np.exp((z - z.max(-1, keepdims=True)) / temperature), then "
        "e / e.sum(-1, keepdims=True); at 0, the rows of np.eye(V) that argmax selects.",
    ),
    example='''def fractions(amounts, sharpness):
    """The fraction of each amount in its row, sharpened by a power; amounts (R, V) are above 0."""
    raised = (amounts / amounts.max(-1, keepdims=True)) ** sharpness  # (R, V) at most 1: no overflow
    return raised / raised.sum(-1, keepdims=True)
''',
    wrong=[
        Wrong("""def softmax(logits, temperature=1.0):
    if temperature == 0:
        return np.eye(logits.shape[-1])[logits.argmax(-1)]
    scaled = (logits - logits.max(-1, keepdims=True)) * temperature
    e = np.exp(scaled)
    return e / e.sum(-1, keepdims=True)
""", "The logits are multiplied by the temperature, so a low one acts as a high one. Divide."),
        Wrong(Changed((") / temperature", ")")), "The temperature does not change your result."),
        Wrong("""def softmax(logits, temperature=1.0):
    if temperature == 0:
        return np.eye(logits.shape[-1])[logits.argmax(-1)]
    e = np.exp((logits - logits.max()) / temperature)
    return e / e.sum()
""", "The sum is taken over all rows together. Each row has probabilities of its own, which sum to 1."),
        Wrong("""def softmax(logits, temperature=1.0):
    if temperature == 0:
        return np.eye(logits.shape[-1])[logits.argmax(-1)]
    e = np.exp((logits - logits.max()) / temperature)
    return e / e.sum(-1, keepdims=True)
""", "The largest logit of *all* rows is subtracted, so in a row of much lower logits all exp are 0. Each row has its own."),
        Wrong("""def softmax(logits, temperature=1.0):
    if temperature == 0:
        best = logits == logits.max(-1, keepdims=True)
        return best / best.sum(-1, keepdims=True)
    e = np.exp((logits - logits.max(-1, keepdims=True)) / temperature)
    return e / e.sum(-1, keepdims=True)
""", "At temperature 0 one token gets probability 1: the first, if several logits are the largest."),
        Wrong("""def softmax(logits, temperature=1.0):
    if temperature == 0:
        return (logits == logits.max(-1, keepdims=True)).astype(float)
    e = np.exp((logits - logits.max(-1, keepdims=True)) / temperature)
    return e / e.sum(-1, keepdims=True)
""", "At temperature 0 every largest logit gets probability 1, so a row with two of them sums to 2. The first gets it alone."),
        Wrong("""def softmax(logits, temperature=1.0):
    e = np.exp((logits - logits.max(-1, keepdims=True)) / temperature)
    return e / e.sum(-1, keepdims=True)
""", "You cannot divide by temperature 0. Handle this case first: the largest logit gets probability 1.",
              when=lambda seen: (not_finite(seen) or seen.error.startswith("ZeroDivisionError"))
                  if seen.inputs[1] == 0 else None),
        Wrong("""def softmax(logits, temperature=1.0):
    if temperature == 0:
        return np.eye(logits.shape[-1])[logits.argmax(-1)]
    e = np.exp(logits / temperature)
    return e / e.sum(-1, keepdims=True)
""",
              "exp of a large logit overflows, and if all logits of a row are very low, all exp are 0. Subtract the largest "
              "logit of the row first: the probabilities stay the same.",
              when=lambda seen: None if seen.inputs[1] == 0
                  else np.abs(seen.inputs[0]).max() / seen.inputs[1] > 80 and not_finite(seen)),
        Wrong("""def softmax(logits, temperature=1.0):
    if temperature == 0:
        return np.eye(logits.shape[-1])[logits.argmax(-1)]
    z = logits.astype(float)
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) / temperature
""", "The probabilities are divided by the temperature, so a row no longer sums to 1. Divide the logits."),
    ],
)  # fmt: skip
