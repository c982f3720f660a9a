"""The estimator k3 of the KL divergence, tried on every text of the tiny grammar, where its mean is known."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.tuning import tiny


def cases(random):
    yield Case("one token, twice as likely at the start", np.log([0.25]), np.log([0.5]))
    yield Case("nothing has changed", np.array([-1.0, -2.0]), np.array([-1.0, -2.0]))
    yield Case("likelier now, and less likely", np.array([-0.5, -3.0]), np.array([-2.0, -1.0]))
    start = tiny.start()
    moved = start + random.normal(0, 0.5, start.shape)
    yield Case(
        "every text there is: the mean by probability is the exact KL",
        *(tiny.log_chances(theta).sum(1) for theta in (moved, start)),
    )


def right(log_p, log_start):
    d = np.subtract(log_start, log_p)
    return np.expm1(d) - d


exercise = Exercise(
    title="An estimate of KL",
    minutes=3,
    core=False,
    defines="kl_estimates",
    given="import numpy as np",
    cases=cases,
    tolerance=1e-7,
    reference=right,
    hints=("Three terms of d, element by element: np.exp(d), d and 1.",),
    wrong=[
        Wrong(Changed(("log_start - log_p", "log_p - log_start")),
              "d is the other way round here: log_start - log_p. exp(d) is the probability at the start over the one now."),
        Wrong(Changed(("np.exp(d) - d - 1", "-d")),
              "This is the first estimator, log_p - log_start. Its mean is right too, but single values may be negative."),
        Wrong(Changed(("np.exp(d) - d - 1", "d**2 / 2")),
              "This is the second estimator, half the square: it is near for small changes only."),
        Wrong(Changed(("np.exp(d) - d - 1", "np.exp(d) - d")),
              "The 1 is missing: where nothing has changed, the estimate must be 0."),
        Wrong(Changed(("np.exp(d) - d - 1", "np.exp(d) - 1")), "d itself is missing: it is exp(d) - d - 1."),
        Wrong(Changed(("np.exp(d) - d - 1", "(np.exp(d) - d - 1).mean()")),
              "This is one number for all tokens. Return the estimate of each, (n,).", when=lambda seen: np.ndim(seen.got) == 0,
              once="one number for many is a mean or a sum"),
    ],
)  # fmt: skip
