"""Steps with momentum: each keeps a part of the move before it."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one step", 1.0, [2.0], 0.1, 0.6)
    yield Case("two steps in one direction", 1.0, [2.0, 2.0], 0.1, 0.6)
    yield Case("to and fro", 0.0, [1.0, -1.0, 1.0, -1.0], 0.5, 0.5)
    yield Case("keep is 0: plain SGD", 3.0, [1.0, 4.0, -2.0], 0.25, 0.0)
    yield Case("no gradient, no step", 3.0, [], 0.25, 0.9)


def steps(point, gradients, rate, keep):
    move = 0.0
    for gradient in gradients:
        move = keep * move - rate * gradient
        point += move
    return point


exercise = Exercise(
    title="Steps with momentum",
    minutes=3,
    core=False,
    defines="momentum_steps",
    cases=cases,
    reference=steps,
    hints=("Two lines in the loop: the new move is keep * move - rate * gradient; then the move is added to the point.",),
    wrong=[
        Wrong(Changed(("keep * move - rate * gradient", "-rate * gradient")),
              "This is plain SGD: the move before is forgotten. Let move become keep * move - rate * gradient."),
        Wrong(Changed(("keep * move - rate", "move - rate")),
              "The old moves never fade. Only the part `keep` of the move before is kept."),
        Wrong(Changed(("- rate", "+ rate")),
              "This climbs: a step goes against the gradient, so in all rate * gradient is subtracted from the point."),
        Wrong(Changed(("keep * move - rate", "keep * move - (1 - keep) * rate")),
              "That is a running average: it shrinks the new step. Momentum adds the whole new step to what is kept."),
    ],
)  # fmt: skip
