"""Credit for the token that went wrong, and for those before it; nothing for what came after."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.tuning import tiny


def cases(random):
    yield Case("a right text and a wrong one", [None, 1], [2, 3], 3)
    yield Case("one text, wrong at its first token", [0], [3], 3)
    yield Case("all texts are right", [None, None], [3, 2], 4)
    yield Case("all are wrong, at different tokens", [1, 0, 2], [3, 3, 3], 3)
    yield Case("a wide batch", [2, None, 4, 0], [5, 6, 5, 2], 9)
    texts = tiny.draw(tiny.start(), 12, random)
    yield Case("twelve texts of the tiny grammar", [tiny.FAULT[text] for text in texts], [tiny.T] * 12, tiny.T)


def right(faults, lengths, width):
    known = [range(n if fault is None else fault + 1) for fault, n in zip(faults, lengths, strict=True)]
    wrong = len(faults) - list(faults).count(None)
    each = wrong / sum(map(len, known))
    return np.array([
        [np.nan if t not in columns else each - (t == fault and fault is not None) for t in range(width)]
        for columns, fault in zip(known, faults, strict=True)
    ])  # fmt: skip


exercise = Exercise(
    title="Credit for each token",
    minutes=15,
    defines="fault_credit",
    target="course_lib.tuning.reward.fault_credit",
    given="import math\nimport numpy as np\nfrom course_lib.tuning.reward import spread",
    cases=cases,
    reference=right,
    hints=(
        "Which tokens count? Of a right text all `length`, of a wrong one `fault + 1`. Begin with that list.",
        "The small number is the count of faults divided by the sum of that list. Fill an array (B, width) with it, and subtract "
        "1 at each fault.",
        "last = [...]; credit = np.full((len(last), width), wrong / sum(last)); only where fault is not None: "
        "credit[row, fault] -= 1.0; return spread(credit, last).",
    ),
    example='''def spread(credit, lengths):
    """credit (B, width) with nan from each row's length on."""
    return np.where(np.arange(credit.shape[1])[None] < np.asarray(lengths)[:, None], credit, math.nan)
''',
    wrong=[
        Wrong(Changed(("else fault + 1", "else length")),
              "What comes after a fault has credit here. It was written on a wrong beginning: nan."),
        Wrong(Changed(("else fault + 1", "else fault")),
              "The token at the fault is left out, the one that should learn. It is counted: fault + 1 tokens of a wrong text."),
        Wrong(Changed(("else fault + 1", "else fault"), ("credit[row, fault] -= 1.0", "credit[row, fault] = -1.0"),
                      ("return spread(credit, last)",
                       "return spread(credit, [length if fault is None else fault + 1 "
                       "for fault, length in zip(faults, lengths)])")),
              "The token at the fault is not counted, and gets -1 alone. It is one of the tokens up to the fault: count it, and "
              "give it the small number, too."),
        Wrong(Changed(("fault is not None for fault in faults", "bool(fault) for fault in faults")),
              "A fault at index 0 is not counted: 0 is false, as None is. Compare with None."),
        Wrong(Changed(("if fault is not None:", "if fault:")),
              "A fault at index 0 gets no -1: 0 is false, as None is. Compare with None."),
        Wrong(Changed(("length if fault is None else fault + 1", "fault + 1 if fault else length")),
              "A text with a fault at index 0 counts to its end, like a right one: 0 is false, as None is. Compare with None."),
        Wrong(Changed(("length if fault is None else fault + 1", "fault + 1 if fault else length"),
                      ("fault is not None for fault in faults", "bool(fault) for fault in faults"),
                      ("if fault is not None:", "if fault:")),
              "A fault at index 0 is taken for none at all: 0 is false, as None is. Compare with None."),
        Wrong(Changed(("wrong / max(sum(last), 1)", "0.0")),
              "The faults get -1, but what was right gets nothing. The credit of the whole batch should add up to 0."),
        Wrong(Changed(("wrong / max(sum(last), 1)", "wrong / max(sum(lengths), 1)")),
              "You divide by all tokens. Only those up to the faults have credit, so the sum is not 0."),
        Wrong(Changed(("wrong / max(sum(last), 1)", "wrong / len(last)")),
              "You divide by the number of texts. The credit stands at each token up to the faults, so it is their number "
              "that makes the sum 0."),
        Wrong(Changed(("return spread(credit, last)", "return np.nan_to_num(spread(credit, last))")),
              "What comes after a fault or the end of a text has 0 here. It gets nan: nothing is known of it, good or bad."),
        Wrong(Changed(("credit[row, fault] -= 1.0", "credit[row, fault] = -1.0")),
              "The token at the fault gets -1 and the small number too: subtract 1 from what is there."),
        Wrong(Changed(("credit[row, fault] -= 1.0", "credit[row, : fault + 1] -= 1.0")),
              "You punish every token up to the fault. Those before it were right."),
        Wrong(Changed(("credit[row, fault] -= 1.0", "credit[row, fault] += 1.0")), "The sign: a fault gets less, not more."),
    ],
)  # fmt: skip
