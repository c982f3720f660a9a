"""The likeliest text of two tokens, which need not begin with the likeliest token."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def case(label, first, after):
        return Case(label, np.array(first), np.array(after))

    yield case("the likeliest first token is right", [0.75, 0.25], [[0.2, 0.8], [0.9, 0.1]])
    yield case("the other first token is better", [0.6, 0.4], [[0.5, 0.5], [0.1, 0.9]])
    yield case("a token after itself", [0.5, 0.2, 0.3], [[0.4, 0.3, 0.3], [0.3, 0.3, 0.4], [0.0, 0.1, 0.9]])
    yield case(
        "a sure second token is not enough", [0.66, 0.1, 0.24], [[0.4, 0.3, 0.3], [0.0, 0.0, 1.0], [0.3, 0.3, 0.4]]
    )
    after = random.uniform(0.05, 1, (6, 6)) ** 2
    first = random.uniform(0.5, 1, 6)
    yield Case("six tokens", first / first.sum(), after / after.sum(axis=1, keepdims=True))


def likeliest(first, after):
    both = first[:, None] * after  # (V, V)
    return tuple(int(i) for i in np.unravel_index(both.argmax(), both.shape))


exercise = Exercise(
    title="The likeliest two",
    minutes=4,
    core=False,
    defines="likeliest_pair",
    cases=cases,
    reference=likeliest,
    hints=("Try all pairs in two loops, and keep the one with the largest product first[a] * after[a, b].",),
    wrong=[
        Wrong("def likeliest_pair(first, after):\n    a = int(first.argmax())\n    return a, int(after[a].argmax())\n",
              "This is greedy decoding. A less likely first token can have a second one that makes up for it."),
        Wrong(Changed(("first[a] * after[a, b]", "first[a] + after[a, b]")),
              "Probabilities of tokens that follow each other multiply."),
        Wrong(Changed(("first[a] * after[a, b]", "first[b] * after[a, b]")),
              "after[a, b] is the probability of b after a, so a is the first token."),
        Wrong("""def likeliest_pair(first, after):
    return tuple(int(i) for i in np.unravel_index(after.argmax(), after.shape))
""", "This looks at the second token alone. The first must be likely too: multiply."),
        Wrong("def likeliest_pair(first, after):\n    return int(first.argmax()), int((first @ after).argmax())\n",
              "These are the likeliest first token, and the likeliest second one over all beginnings. They need not go "
              "together."),
    ],
)  # fmt: skip
