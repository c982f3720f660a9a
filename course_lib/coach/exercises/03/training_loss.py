"""Find the fault: a softmax too many. It trains, after a fashion, and its loss never gets low."""

import numpy as np

from course_lib import functional
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.tensor import Tensor


def cases(random):
    def case(label, rows, inputs, choices, size=1.0):
        return Case(label, random.normal(size=(rows, inputs)).astype(np.float32),
                    (size * random.normal(size=(choices, inputs))).astype(np.float32),
                    random.integers(0, choices, rows))  # fmt: skip

    return [
        Case(
            "one example, sure of the true one",
            np.ones((1, 1), np.float32),
            np.array([[8.0], [0.0]], np.float32),
            np.array([0]),
        ),
        Case(
            "one example, sure of the wrong one",
            np.ones((1, 1), np.float32),
            np.array([[8.0], [0.0]], np.float32),
            np.array([1]),
        ),
        case("four examples, three choices", 4, 2, 3),
        case("twenty choices", 6, 5, 20),
        Case("scores 300 apart", np.ones((1, 1), np.float32), np.array([[0.0], [300.0]], np.float32), np.array([0])),
    ]


def loss_and_gradient(answer, x, weight, targets):
    weight = Tensor(weight, requires_grad=True)
    loss = answer(Tensor(x), weight, targets)
    loss.backward()
    return {"loss": loss.item(), "gradient of weight": weight.grad.numpy()}


def with_activation(activation):
    return lambda x, weight, targets: functional.cross_entropy(activation(functional.linear(x, weight)), targets)


exercise = Exercise(
    title="Find the fault: the loss that stays high",
    minutes=5,
    core=False,
    defines="training_loss",
    given="from course_lib import functional",
    cases=cases,
    reference=with_activation(lambda scores: scores),
    call=loss_and_gradient,
    hints=(
        "Which numbers does cross_entropy expect: scores or probabilities? Look at the formula with logsumexp.",
        "How low can the loss get if the scores are at most 1 and at least 0? For two choices: log(1 + exp(-1)) = 0.31.",
        "cross_entropy takes scores, and does its own softmax inside: pass the scores just as they are.",
    ),
    example='''def accuracy(x, weight, targets):
    """The fraction of examples whose highest score is the true one. The highest score needs no softmax either."""
    scores = functional.linear(x, weight)  # (B, C), (V, C) -> (B, V)
    return (scores.argmax().numpy() == targets).mean()
''',
    wrong=[
        Wrong("""def training_loss(x, weight, targets):
    probabilities = functional.softmax(x @ weight.T)
    return functional.cross_entropy(probabilities, targets)
""",
              "Look at the first example: its scores are 8 and 0, so it is sure of the true one, and the loss should be "
              "near 0. It is 0.313: what reaches cross_entropy lies much closer together than the scores."),
        Wrong("""def training_loss(x, weight, targets):
    scores = functional.linear(x, weight)
    return functional.cross_entropy(functional.softmax(scores).log(), targets)
""",
              "The log of a probability that was rounded to 0 is -inf. Scores that far apart survive only if "
              "no softmax is taken before cross_entropy.",
              when=lambda seen: seen.label == "scores 300 apart" and isinstance(seen.got, dict)
                  and not np.isfinite(seen.got["loss"]), once="the only scores so far apart, and no number"),
        Wrong("""from course_lib import Tensor

def training_loss(x, weight, targets):
    scores = functional.linear(x, weight)
    return functional.cross_entropy(Tensor(scores.numpy()), targets)
""", "The gradient does not reach weight: somewhere the numbers left the tape (numpy() and Tensor(...) do that).",
              when=lambda seen: seen.error.startswith("GraphError: backward() starts at")),
        Wrong("""def training_loss(x, weight, targets):
    scores = functional.linear(x, weight)
    return functional.cross_entropy(scores.tanh(), targets)
""", generic="`tanh` must not be in"),
        Wrong(Changed(("(scores, targets)", "(scores, targets) * len(targets)")), generic="`* len(targets)` is too much"),
    ],
)  # fmt: skip
