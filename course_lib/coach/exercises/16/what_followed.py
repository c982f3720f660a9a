"""A bigram model without a table: what came after one token, and how often."""

from itertools import pairwise

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("always the same token followed", [3, 8, 3, 8], 3)
    yield Case("three of four times", [1, 5, 1, 5, 1, 9, 1, 5], 1)
    yield Case("the token is the last one too", [2, 7, 4, 2], 2)
    yield Case("a token after itself", [6, 6, 6, 1], 6)
    yield Case("forty tokens", random.integers(0, 4, 40).tolist(), 2)


def followed(ids, token):
    found = [b for a, b in pairwise(ids) if a == token]
    return {b: found.count(b) / len(found) for b in found}


exercise = Exercise(
    title="What came next?",
    minutes=4,
    core=False,
    defines="what_followed",
    cases=cases,
    reference=followed,
    hints=(
        "For each index i but the last: if ids[i] is the token, then ids[i + 1] followed. The probability is its count, "
        "divided by the number of all that followed.",
    ),
    wrong=[
        Wrong(Changed(("/ len(found)", "/ ids.count(token)")),
              "After the last token of the list nothing follows. Divide by the number of those that did follow."),
        Wrong(Changed(("/ len(found)", "/ len(ids)")),
              "Divide by how often anything followed this token, not by the length of the text: the probabilities sum to 1."),
        Wrong(Changed((" / len(found)", "")), "These are counts. Divide them by their sum, so that they become probabilities."),
        Wrong("""def what_followed(ids, token):
    found = set(b for a, b in zip(ids, ids[1:]) if a == token)
    return {b: 1 / len(found) for b in found}
""", "What followed more often is more likely. Count each time, not each different token."),
        Wrong(Changed(("range(len(ids) - 1)", "range(len(ids))")), generic="IndexError"),
    ],
)  # fmt: skip
