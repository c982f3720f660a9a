"""Find the fault: a loss on answers that counts the prompt as well."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

USER, MARK, END = 8, 9, 0


def row(prompt, answer, width):
    ids = [END, USER, *prompt, MARK, *answer, END]
    return ids + [END] * (width + 1 - len(ids))


def cases(random):
    def case(label, rows, width, mark=MARK, end=END):
        tokens = np.array([row(*one, width) for one in rows])  # (B, T + 1)
        losses = random.permutation(np.arange(1.0, 1 + len(rows) * width)).reshape(len(rows), width) / 8  # (B, T)
        if (mark, end) != (MARK, END):
            tokens = np.where(tokens == MARK, mark, np.where(tokens == END, end, tokens))
        return Case(label, losses, tokens, mark, end)

    yield case("one answer of one token", [([5], [6])], 5)
    yield case("padding behind the answer", [([5, 4], [6])], 9)
    yield case("an empty answer", [([5], [])], 6)
    yield case("answers of different lengths", [([5], [6, 7, 7, 3]), ([5, 4, 3], [2])], 9)
    yield case("other special tokens", [([5, 4], [6, 7])], 8, mark=30, end=20)
    lengths = ((9, 4), (2, 12), (6, 1), (1, 7))
    many = [tuple(random.integers(1, 7, length).tolist() for length in both) for both in lengths]
    yield case("four conversations", many, 20)


def mean(losses, tokens, mark, end):
    scored = []
    for one, ids in zip(losses.tolist(), tokens.tolist(), strict=True):
        start = ids.index(mark)
        scored += one[start : ids.index(end, start + 1)]
    return sum(scored) / len(scored)


exercise = Exercise(
    title="Find the fault: a leak in the loss",
    minutes=5,
    core=False,
    defines="answer_loss",
    given="import numpy as np",
    cases=cases,
    reference=mean,
    hints=(
        "Of the first case, write down the tokens and below each its loss. Which losses are averaged, and of which tokens?",
        "Every row begins with the end token. So the first `end` is at index 0, and all up to the end of the answer is counted. "
        "Which token stands just before the answer?",
        "start = np.flatnonzero(ids == mark)[0].",
    ),
    example='''def words_after_colon(text):
    """The words of the last part of "name: words. more", up to its full stop."""
    start = text.index(":")  # not 0: the name is no part of it
    return text[start + 1 : text.index(".", start)].split()
''',
    wrong=[
        Wrong(Changed(("ids == mark", "ids == end")),
              "The loss counts the prompt too: from the end token that begins the row up to the end of the answer."),
        Wrong(Changed(("ids == mark)[0]", "ids == mark)[0] + 1")),
              "losses[b, t] belongs to the token after tokens[b, t]. So the first token of the answer has its loss where the "
              "special token `mark` stands; you begin one later."),
        Wrong(Changed(("ids == mark)[0]", "ids == mark)[0] - 1")),
              "You begin one too early: that loss is of the special token `mark` itself, which is no part of the answer."),
        Wrong("""def answer_loss(losses, tokens, mark, end):
    scored = []
    for row, ids in zip(losses, tokens):
        scored.append(row[np.flatnonzero(ids == mark)[0] :])
    return np.concatenate(scored).mean()
""", "The padding behind the answers is counted. An answer stops at the first end token after the special token `mark`."),
        Wrong("""def answer_loss(losses, tokens, mark, end):
    means = []
    for row, ids in zip(losses, tokens):
        start = np.flatnonzero(ids == mark)[0]
        stop = start + 1 + np.flatnonzero(ids[start + 1 :] == end)[0]
        means.append(row[start:stop].mean())
    return np.mean(means)
""", "You average the means of the rows. A long answer has more tokens, and each token should have the same weight."),
    ],
)  # fmt: skip
