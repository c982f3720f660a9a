"""How large a dot product gives a wanted attention weight: softmax and the division by the root of D, backwards."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("half of the weight, two tokens", 0.5, 2, 4)
    yield Case("three tokens", 0.8, 3, 2)
    yield Case("nearly all, seven tokens", 0.99, 7, 64)
    yield Case("less than an equal weight", 0.1, 4, 9)
    yield Case("one component", 0.75, 5, 1)


exercise = Exercise(
    title="How large must a dot product be?",
    minutes=4,
    core=False,
    defines="needed_score",
    cases=cases,
    reference=lambda weight, tokens, D: np.sqrt(D) * np.log(weight * (tokens - 1) / (1 - weight)),
    hints=(
        "Call what softmax gets s. Each of the other tokens has exp(0) = 1, so weight = exp(s) / (exp(s) + tokens - 1). Solve "
        "it for exp(s), then s is its logarithm. What was s before the division?",
    ),
    wrong=[
        Wrong(Changed(("np.sqrt(D) * ", "")),
              "This is the score after the division by √D. The dot product is √D times as large."),
        Wrong(Changed(("np.sqrt(D) * np.log(weight * (tokens - 1) / (1 - weight))",
                       "np.log(weight * (tokens - 1) / (1 - weight)) / np.sqrt(D)")),
              "You divide by √D once more. The lecture divides the dot product, so to get it back, multiply by √D."),
        Wrong(Changed(("np.sqrt(D)", "D")), "Scores are divided by the root of D, not by D."),
        Wrong(Changed((" * (tokens - 1)", "")),
              "Softmax divides by the sum over all tokens: each of the other ones adds exp(0) = 1 to it."),
        Wrong(Changed(("(tokens - 1)", "tokens")),
              "The token that gets the weight is one of them all: only tokens - 1 others add 1 each."),
        Wrong("def needed_score(weight, tokens, D):\n    return np.sqrt(D) * weight * (tokens - 1) / (1 - weight)\n",
              "This is exp of the score. The score is its logarithm."),
        Wrong(Changed(("weight * (tokens - 1) / (1 - weight)", "weight")),
              "exp(score) alone is not the weight: softmax divides it by the sum over all tokens."),
        Wrong("def needed_score(weight, tokens, D):\n    return np.sqrt(D) * weight\n",
              generic="Your code never uses `tokens`"),
    ],
)  # fmt: skip
