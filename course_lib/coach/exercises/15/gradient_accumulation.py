"""Gradient accumulation: a large batch in parts, each weighted by its fraction of the targets, then one step."""

import numpy as np

from course_lib import Tensor, functional, optim
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.data import IGNORE

V, RATE = 3, 0.5


class Lookup:
    """The smallest model there is: a row of logits (V) for each token."""

    def __init__(self, table):
        self.table = Tensor(table, requires_grad=True, dtype="float64")  # (V, V)

    def loss(self, idx, targets):
        logits = functional.embedding(self.table, idx).reshape(-1, V)  # (B T, V)
        return functional.cross_entropy(logits, targets.reshape(-1))


def cases(random):
    def part(rows, context, ignored=0):
        idx, targets = random.integers(0, V, (2, rows, context)).astype(np.int32)
        targets.reshape(-1)[: rows * context - ignored : -1] = IGNORE
        if ignored:
            targets.reshape(-1)[rows * context - ignored :] = IGNORE
        return idx, targets

    def case(label, *parts):
        return Case(label, random.normal(size=(V, V)).round(1), list(parts))

    one = np.array([[0, 1]], np.int32), np.array([[1, 2]], np.int32)
    yield Case("one part", np.zeros((V, V)), [one])
    yield case("two equal parts", part(2, 2), part(2, 2))
    yield case("three equal parts", part(1, 3), part(1, 3), part(1, 3))
    yield case("the last part has fewer rows", part(3, 2), part(1, 2))
    yield case("targets that are not scored", part(2, 4, ignored=5), part(2, 4))


def called(answer, table, parts):
    """Two steps, so that gradients that were not set to zero show."""
    model = Lookup(table)
    optimiser = optim.SGD([("table", model.table)])
    losses = [answer(model, optimiser, parts, RATE) for _ in range(2)]
    return [*map(float, losses), model.table.numpy()]


def step(model, optimiser, parts, rate):
    scored = [int((targets != IGNORE).sum()) for _, targets in parts]
    total = 0.0
    optimiser.zero_grad()
    for (idx, targets), count in zip(parts, scored, strict=True):
        part = model.loss(idx, targets) * (count / sum(scored))
        part.backward()
        total += part.item()
    optimiser.step(rate)
    return total


exercise = Exercise(
    title="A step in parts",
    minutes=15,
    core=False,
    defines="gradient_accumulation",
    given="import numpy as np\nfrom course_lib.data import IGNORE",
    cases=cases,
    results=("the first loss", "the second loss", "the parameter"),
    reference=step,
    call=called,
    tolerance=1e-8,
    hints=(
        "Gradients add up until zero_grad(). So what happens once, and what happens for each part?",
        "The mean over the whole batch is a sum of the parts' means, each multiplied by its fraction of all scored targets: "
        "(targets != IGNORE).sum() counts those of a part.",
        "scored = [(t != IGNORE).sum() for _, t in parts]; optimiser.zero_grad(); for each part: loss = model.loss(idx, "
        "targets) * float(count / sum(scored)); loss.backward(); add up loss.item(). Then optimiser.step(rate).",
    ),
    example='''def mean_in_parts(parts):
    """The mean of all numbers in a list of arrays, without ever putting them into one array."""
    count = sum(part.size for part in parts)
    return sum(part.mean() * (part.size / count) for part in parts)
''',
    wrong=[
        Wrong(Changed((" * (count / sum(scored))", "")),
              "Each part has full weight, so the gradient is too large: multiply each loss by the part's fraction of the "
              "scored targets."),
        Wrong(Changed(("count / sum(scored)", "1 / len(parts)")),
              "All parts have the same weight. The weight of a part is its number of scored targets, divided by that of the "
              "whole batch."),
        Wrong("""def gradient_accumulation(model, optimiser, parts, rate):
    scored = [int((targets != IGNORE).sum()) for _, targets in parts]
    total = 0.0
    for (idx, targets), count in zip(parts, scored):
        optimiser.zero_grad()
        loss = model.loss(idx, targets) * (count / sum(scored))
        loss.backward()
        total += loss.item()
    optimiser.step(rate)
    return total
""", "zero_grad() is inside the loop, so each part deletes the gradient of the previous one. Call it once, before the loop."),
        Wrong(Changed(("    optimiser.zero_grad()\n", "")),
              "The gradients of the previous step are still there. Begin with optimiser.zero_grad()."),
        Wrong(Changed(("    optimiser.step(rate)", "        optimiser.step(rate)")),
              "The optimiser takes a step after every part. Take one step, after the gradients of all parts are added up."),
        Wrong(Changed(("total += loss.item()", "total = model.loss(idx, targets).item()")),
              "The step is right. You return the loss of the last part; return that of the whole batch."),
        Wrong(Changed(("(targets != IGNORE).sum()", "targets.size")),
              "A part counts with all its targets, also with those that are not scored. Count those that are not IGNORE."),
    ],
)  # fmt: skip
