"""PPO's clipped objective as a loss; on all texts of the tiny grammar, weighted, it is the exact one."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.tuning import tiny


def cases(random):
    def case(label, ratios, advantages, clip=0.2):
        before = random.normal(-2, 1, len(ratios)).round(2)
        return Case(label, before + np.log(ratios), before, np.array(advantages, float), clip)

    yield case("a ratio of 2, a gain", [2.0], [1.0])
    yield case("a ratio of 2, a loss", [2.0], [-1.0])
    yield case("a ratio of 0.5, a gain", [0.5], [1.0])
    yield case("a ratio of 0.5, a loss", [0.5], [-1.0])
    yield case("nothing has changed", [1.0, 1.0], [2.0, -0.5])
    yield case("within the clip", [1.1, 0.9, 1.15], [1.0, -2.0, 0.5])
    yield case("a wider clip", [2.0, 0.2, 1.4], [1.0, -1.0, 3.0], 0.5)
    yield case("forty tokens", np.exp(random.normal(0, 0.4, 40)), random.normal(size=40))

    then = tiny.start()
    now = then + random.normal(0, 0.3, then.shape)

    def written(label, texts, advantages):
        log_p, before = (tiny.log_chances(theta)[texts].reshape(-1) for theta in (now, then))
        return Case(label, log_p, before, np.repeat(advantages, tiny.T), 0.2)

    texts = tiny.draw(then, 8, random)
    yield written("eight texts of the tiny grammar", texts, tiny.REWARD[texts] - tiny.expected(then))
    everything = np.arange(len(tiny.TEXTS))
    weight = len(everything) * tiny.chances(
        then
    )  # of each text, so that the mean over all is that over what is written
    advantages = weight * (tiny.REWARD - tiny.expected(then))
    yield written("every text there is, by its probability: the exact objective", everything, advantages)


def right(log_p, before, advantages, clip):
    total = 0.0
    for now, then, advantage in zip(log_p, before, advantages, strict=True):
        ratio = np.exp(now - then)
        bound = min(ratio, 1 + clip) if advantage > 0 else max(ratio, 1 - clip)
        total -= bound * advantage
    return total / len(log_p)


exercise = Exercise(
    title="The clipped objective",
    minutes=10,
    defines="clipped_loss",
    given="import numpy as np",
    cases=cases,
    tolerance=1e-7,
    reference=right,
    hints=(
        "The ratio is np.exp(log_p - before). The clamped one is np.clip(ratio, 1 - clip, 1 + clip).",
        "Multiply both by the advantages, take the smaller of the two for each token, then minus the mean.",
        "-np.minimum(ratio * advantages, np.clip(ratio, 1 - clip, 1 + clip) * advantages).mean().",
    ),
    example='''def never_more_than(values, limits):
    """The mean of values (n,), each at most its limit."""
    return np.minimum(values, limits).mean()
''',
    wrong=[
        Wrong(Changed(("np.minimum(ratio * advantages, within * advantages)", "(within * advantages)")),
              "The clamped ratio alone hides mistakes: where the ratio went the wrong way, the smaller gain counts, which is "
              "the one that is not clamped."),
        Wrong(Changed(("np.minimum(ratio * advantages, within * advantages)", "(ratio * advantages)")),
              "Nothing is cut off: this is the plain ratio times the advantage."),
        Wrong(Changed(("np.minimum(ratio * advantages, within * advantages)", "(np.minimum(ratio, within) * advantages)")),
              "You take the smaller ratio. Take the smaller gain: multiply by the advantages first, which may be negative."),
        Wrong(Changed(("np.minimum", "np.maximum")), "The larger gain is taken here. PPO takes the smaller one."),
        Wrong(Changed(("return -", "return ")), "This is the objective, which should rise. The loss is minus it."),
        Wrong(Changed((").mean()", ").sum()")), "This is the sum over the tokens. The loss is their mean."),
        Wrong(Changed(("np.exp(log_p - before)", "log_p / before")),
              "You divide log-probabilities. The ratio of probabilities is exp(log_p - before)."),
        Wrong(Changed(("np.exp(log_p - before)", "np.exp(before - log_p)")),
              "The ratio is upside down: it is the probability now over the one when it was written."),
    ],
)  # fmt: skip
