"""Cross-entropy from the probabilities of the true letters: the mean of their surprises, in nats."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one letter", [0.5])
    yield Case("a likely and an unlikely letter", [0.5, 0.125])
    yield Case("no surprise", [1.0, 1.0])
    yield Case("seven letters", random.uniform(0.01, 1, 7).tolist())
    yield Case("a page, whose probabilities have a product that is 0 in a float", [0.1] * 1000)


exercise = Exercise(
    title="Average surprise",
    minutes=2,
    core=False,
    defines="average_surprise",
    cases=cases,
    reference=lambda probabilities: -float(np.mean(np.log(probabilities))),
    hints=("The surprise at one letter is -math.log(p). Sum those of all letters, and divide by their number.",),
    wrong=[
        Wrong("def average_surprise(probabilities):\n    return -sum(p * math.log(p) for p in probabilities)\n",
              "Each surprise is weighted by its probability, as in an entropy. These letters are what came: each counts once."),
        Wrong("def average_surprise(probabilities):\n    return -sum(p * math.log(p) for p in probabilities) / "
              "len(probabilities)\n",
              "Each surprise is weighted by its probability. These letters are what came: each counts once, in a plain mean."),
        Wrong("def average_surprise(probabilities):\n    return -math.log(sum(probabilities) / len(probabilities))\n",
              "This is the surprise at the mean probability. Take the log of each, and then the mean."),
        Wrong(Changed(("math.log(", "math.log2(")), "These are bits. A nat is measured by the natural logarithm, math.log."),
        Wrong(Changed((" / len(probabilities)", "")), "This is the surprise at the whole text. Divide by the number of letters."),
        Wrong("def average_surprise(probabilities):\n    return -math.log(math.prod(probabilities)) / len(probabilities)\n",
              "The product of a whole page of probabilities is 0 in a float, and 0 has no logarithm. Sum the logarithms.",
              when=lambda seen: seen.label.startswith("a page") and seen.error.startswith("ValueError")),
        Wrong(Changed(("sum(-", "sum(")), generic="the sign is wrong"),
    ],
)  # fmt: skip
