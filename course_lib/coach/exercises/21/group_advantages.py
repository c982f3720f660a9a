"""Advantages in a group of texts, as in GRPO."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.tuning import tiny


def cases(random):
    yield Case("two texts", np.array([0.0, 1.0]))
    yield Case("one right of four", np.array([0.0, 0.0, 1.0, 0.0]))
    yield Case("all right", np.array([1.0, 1.0, 1.0]))
    yield Case("all the same, and their mean is rounded", np.array([0.1, 0.1, 0.1]))
    yield Case("rewards below zero", np.array([-2.0, 1.0, -5.0]))
    yield Case("sixteen texts", random.integers(0, 2, 16).astype(float))
    yield Case("a group of one", np.array([1.0]))
    yield Case("eight texts that a policy of the tiny grammar wrote", tiny.REWARD[tiny.draw(tiny.start(), 8, random)])
    right_up_to = np.array([tiny.T if fault is None else fault for fault in tiny.FAULT])
    yield Case("every text there is, rewarded by how far it is right", right_up_to / tiny.T)


def right(rewards):
    centred = np.asarray(rewards, np.float64) - np.mean(rewards)
    deviation = float(np.mean(centred**2)) ** 0.5
    return centred / deviation if deviation > 1e-9 else 0.0 * centred


exercise = Exercise(
    title="Advantages in a group",
    minutes=4,
    core=False,
    defines="group_advantages",
    given="import numpy as np",
    cases=cases,
    reference=right,
    hints=(
        "rewards.mean() is the baseline, rewards.std() the scale. If the scale is 0 (or as small as rounding), return "
        "np.zeros(len(rewards)).",
    ),
    wrong=[
        Wrong(Changed((" / spread if spread > 1e-9 else np.zeros(len(rewards))", "")),
              "The mean is subtracted. Now divide by the standard deviation of the group."),
        Wrong(Changed((" - rewards.mean()", "")),
              "The baseline is missing: subtract the mean of the group first, or texts below it are reinforced too."),
        Wrong(Changed(("rewards.std()", "rewards.std(ddof=1) if len(rewards) > 1 else 0.0")),
              "This divides by the deviation of a sample, with n - 1. np.std as it stands divides by n."),
        Wrong(Changed(("rewards.std()", "rewards.var()")),
              "You divide by the variance. The standard deviation is its square root."),
        Wrong(Changed((" if spread > 1e-9 else np.zeros(len(rewards))", "")),
              "A group in which all earned the same gives 0 / 0. It teaches nothing: return zeros.",
              when=lambda seen: np.ptp(seen.inputs[0]) == 0 and seen.got is not None and np.isnan(seen.got).all(),
              once="nan comes from 0 / 0 alone"),
        Wrong(Changed(("spread > 1e-9", "spread != 0")),
              "The mean of equal numbers may be rounded, so their deviation is not always exactly 0, but about 1e-17. "
              "Return zeros where it is as small as that."),
        Wrong(Changed(("apart / spread", "-apart / spread")),
              "The sign: a text that earned more than its group has a positive one."),
    ],
)  # fmt: skip
