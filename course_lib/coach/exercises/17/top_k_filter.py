"""Top-k: keep the k likeliest tokens of each row."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

SORTED = "The probabilities are sorted. Each must keep the index of its token."


def cases(random):
    def case(label, rows, k):
        return Case(label, np.array(rows, np.float64), k)

    yield case("the likelier of two", [[0.25, 0.75]], 1)
    yield case("two of four", [[0.125, 0.5, 0.125, 0.25]], 2)
    yield case("two rows", [[0.5, 0.375, 0.125], [0.125, 0.5, 0.375]], 2)
    yield case("k is the whole vocabulary", [[0.25, 0.0, 0.75]], 3)
    yield case("k is larger than the vocabulary", [[0.25, 0.75]], 10)
    yield case("two tokens tie for the k-th", [[0.5, 0.25, 0.25]], 2)
    yield case("as likely as the k-th", [[0.25, 0.5, 0.25]], 2)
    yield case("all tokens tie", [[0.25, 0.25, 0.25, 0.25]], 1)
    yield case("one token", [[1.0]], 1)
    raw = np.exp(2 * random.normal(size=(4, 50)))
    yield Case("four rows of 50 tokens", raw / raw.sum(-1, keepdims=True), 7)


def check(result, probabilities, k):
    if not isinstance(result, np.ndarray):
        return f"The result is a {type(result).__name__}; it must be a NumPy array of the shape of `probabilities`."
    return None


exercise = Exercise(
    title="Top-k sampling",
    minutes=10,
    core=False,
    defines="top_k_filter",
    target="course_lib.sampling.top_k_filter",
    given="import numpy as np",
    cases=cases,
    check=check,
    hints=(
        "What is the probability of the k-th likeliest token of a row? Compare all others with it.",
        "np.sort(probabilities, -1) sorts each row, the smallest first. Which column holds the k-th largest?",
        "least = np.sort(probabilities, -1)[:, -k, None]; kept = np.where(probabilities >= least, probabilities, 0.0); divide "
        "by each row's sum. First of all: k = min(k, probabilities.shape[-1]).",
    ),
    example='''def podium(times):
    """The three fastest of each race, (R, N) times; the others become inf. Times equal to the third are kept."""
    third = np.sort(times, -1)[:, min(3, times.shape[-1]) - 1, None]  # (R, 1)
    return np.where(times <= third, times, np.inf)
''',
    wrong=[
        Wrong("""def top_k_filter(probabilities, k):
    result = np.zeros(probabilities.shape)
    for r, row in enumerate(probabilities):
        best = np.argsort(-row, kind="stable")[:k]
        result[r, best] = row[best]
    return result / result.sum(-1, keepdims=True)
""", "Tokens as likely as the k-th are kept as well; you keep only the first of them."),
        Wrong(Changed((" / kept.sum(-1, keepdims=True)", "")),
              "The kept probabilities must sum to 1 again: divide each row by its sum."),
        Wrong(Changed(("-k, None", "k - 1, None"), (">= least", "<= least")),
              "These are the least likely tokens. np.sort puts the smallest first."),
        Wrong("""def top_k_filter(probabilities, k):
    kept = -np.sort(-probabilities, -1)
    kept[:, k:] = 0
    return kept / kept.sum(-1, keepdims=True)
""", SORTED),
        Wrong(Changed(("return kept", "kept = -np.sort(-kept, -1)\n    return kept")), SORTED, also=True),
        Wrong(Changed(("np.sort(probabilities, -1)[..., -k, None]", "np.sort(probabilities, None)[-k]")),
              "You take the k largest numbers of all rows together. Each row keeps its own k."),
        Wrong(Changed((">= least", "> least")),
              "The k-th token itself must be kept: keep every token that is *at least* as likely."),
        Wrong(Changed(("    k = min(k, probabilities.shape[-1])\n", "")),
              "k may be larger than the vocabulary: then all tokens are kept. Use min(k, V).",
              when=lambda seen: seen.label == "k is larger than the vocabulary"
                  and ("out of bounds" in seen.error or seen.error.startswith(("IndexError", "ValueError")))),
    ],
)  # fmt: skip
