"""DPO: a loss from the log-probabilities of two answers under two models."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    def case(label, *numbers):
        *arrays, beta = numbers
        return Case(label, *(np.array(one, float) for one in arrays), beta)

    yield case("as at the start", [-30.0], [-40.0], [-30.0], [-40.0], 0.1)
    yield case("the preferred answer gained", [-28.0], [-40.0], [-30.0], [-40.0], 0.5)
    yield case("the other answer lost", [-30.0], [-45.0], [-30.0], [-40.0], 0.1)
    yield case("both lost, the preferred one more", [-37.0], [-42.0], [-30.0], [-40.0], 0.2)
    yield case(
        "three pairs", [-28.0, -31.0, -12.0], [-40.0, -22.0, -19.0], [-30.0, -30.0, -13.0], [-41.0, -25.0, -12.0], 0.3
    )
    yield case("far on the right side", [-10.0, -5.0], [-9000.0, -8.0], [-20.0, -6.0], [-30.0, -6.0], 1.0)
    yield case("far on the wrong side", [-9000.0, -5.0], [-10.0, -8.0], [-30.0, -6.0], [-20.0, -6.0], 1.0)
    four = random.normal(-40, 6, (4, 16)).round(1)
    yield Case("16 pairs", *four, 0.1)


def right(chosen, rejected, chosen_before, rejected_before, beta):
    margin = beta * ((chosen - chosen_before) - (rejected - rejected_before))
    return float(np.mean(np.logaddexp(0.0, -margin)))


exercise = Exercise(
    title="The loss of DPO",
    minutes=12,
    defines="dpo_loss",
    given="import numpy as np",
    cases=cases,
    reference=right,
    test_out=True,
    hints=(
        "How much did each answer gain since the start? The margin is what the preferred one gained more than the other, times "
        "beta.",
        "-log sigmoid(z) is log(1 + exp(-z)). np.logaddexp(a, b) is log(exp(a) + exp(b)), without overflow.",
        "margin = beta * ((chosen - chosen_before) - (rejected - rejected_before)); np.logaddexp(0, -margin).mean().",
    ),
    example='''def surprise_of_a_win(own, other, scale):
    """Nats of a win by the rating of Elo, where P(win) = sigmoid((own - other) / scale); arrays (N,), the mean of all games."""
    return np.logaddexp(0.0, -(own - other) / scale).mean()
''',
    wrong=[
        Wrong(Changed(("(chosen - chosen_before) - (rejected - rejected_before)", "chosen - rejected")),
              "The model at the start is missing. What counts is how much more likely each answer became since then."),
        Wrong(Changed(("np.logaddexp(0.0, -margin)", "np.logaddexp(0.0, margin)")),
              "The sign is the wrong way round: this loss falls when the *rejected* answer gains."),
        Wrong("""def dpo_loss(chosen, rejected, chosen_before, rejected_before, beta):
    margin = beta * ((chosen - chosen_before) - (rejected - rejected_before))
    return -np.log(1 / (1 + np.exp(-margin))).mean()
""", "Far on the wrong side np.exp overflows, or the sigmoid becomes 0, and the loss is infinite. There it is minus the margin: "
              "use np.logaddexp.",
              when=lambda seen: seen.label == "far on the wrong side" and seen.got == np.inf,
              once="only an overflow is infinite here"),
        Wrong(Changed(("beta * (", "(")), "beta is missing: it multiplies the difference inside the sigmoid."),
        Wrong("""def dpo_loss(chosen, rejected, chosen_before, rejected_before, beta):
    margin = (chosen - chosen_before) - (rejected - rejected_before)
    return beta * np.logaddexp(0.0, -margin).mean()
""", "beta stands outside of the logarithm. It multiplies the difference inside the sigmoid."),
        Wrong("""def dpo_loss(chosen, rejected, chosen_before, rejected_before, beta):
    margin = beta * ((chosen - chosen_before) - (rejected - rejected_before)).mean()
    return np.logaddexp(0.0, -margin)
""", "You average the margins, then take the loss of their mean. Each pair has a loss of its own: average these."),
        Wrong(Changed((".mean()", ".sum()")), "This is the sum over the pairs. The loss is their mean."),
        Wrong(Changed(("np.logaddexp(0.0, -margin)", "(1 / (1 + np.exp(np.clip(-margin, -500, 500))))")),
              "This is sigmoid(margin), the probability that is to grow. The loss is minus its logarithm."),
        Wrong(Changed(("(rejected - rejected_before)", "(rejected_before - rejected)")),
              "The gain of the rejected answer has the wrong sign: what it gains should make the loss larger."),
    ],
)  # fmt: skip
