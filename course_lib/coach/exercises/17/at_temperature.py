"""Temperature for probabilities whose logits are not known: their logarithms serve."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("twice as likely, temperature 0.5", np.array([2.0, 1.0]) / 3, 0.5)
    yield Case("four times as likely, temperature 2", np.array([0.2, 0.8]), 2.0)
    yield Case("temperature 1 changes nothing", np.array([0.5, 0.25, 0.25]), 1.0)
    raw = random.uniform(0.01, 1, 7)
    yield Case("seven tokens, temperature 0.7", raw / raw.sum(), 0.7)


exercise = Exercise(
    title="Temperature from probabilities",
    minutes=3,
    core=False,
    defines="at_temperature",
    cases=cases,
    reference=lambda p, temperature: p ** (1 / temperature) / (p ** (1 / temperature)).sum(),
    hints=(
        "np.log(probabilities) are logits of these probabilities. Divide them by the temperature, take np.exp, and divide by "
        "the sum.",
    ),
    wrong=[
        Wrong("""def at_temperature(probabilities, temperature):
    scaled = probabilities / temperature
    return scaled / scaled.sum()
""", "Nothing changes: a factor for all probabilities cancels. It is the logits that are divided."),
        Wrong("""def at_temperature(probabilities, temperature):
    lifted = np.exp(probabilities / temperature)
    return lifted / lifted.sum()
""", "The probabilities are not the logits. exp of the logits gave them, so their logs are logits."),
        Wrong(Changed((" / temperature", " * temperature")), "A low temperature makes differences larger: divide by it."),
        Wrong("def at_temperature(probabilities, temperature):\n    return np.exp(np.log(probabilities) / temperature)\n",
              "The result must sum to 1: divide by the sum."),
        Wrong("def at_temperature(probabilities, temperature):\n    return np.log(probabilities) / temperature\n",
              "These are the new logits. exp of them, divided by the sum, are the probabilities."),
    ],
)  # fmt: skip
