"""How rare a bad draw must be, when one of many spoils the story."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one draw", 0.75, 1)
    yield Case("two draws", 0.25, 2)
    yield Case("stories of 150 tokens", 0.8, 150)
    yield Case("every second story", 0.5, 10)
    yield Case("no fault at all", 1.0, 150)


exercise = Exercise(
    title="One bad draw spoils it",
    minutes=3,
    core=False,
    defines="fault_per_draw",
    cases=cases,
    tolerance=1e-6,
    reference=lambda well_formed, draws: 1 - well_formed ** (1 / draws),
    hints=(
        "A story is well-formed if every draw is: (1 - p) ** draws. Set this equal to well_formed, and take the root: ** (1 / "
        "draws).",
    ),
    wrong=[
        Wrong("def fault_per_draw(well_formed, draws):\n    return (1 - well_formed) / draws\n",
              "That is near for rare faults, but probabilities of many draws multiply: (1 - p) ** draws is the fraction without "
              "a fault."),
        Wrong("def fault_per_draw(well_formed, draws):\n    return 1 - well_formed**draws\n",
              "This is the way from one draw to the story. Here the fraction of good stories is known: take the root."),
        Wrong(Changed(("1 - well_formed", "well_formed")),
              "This is the probability that one draw is good. The fault has the rest: 1 minus it."),
        Wrong("def fault_per_draw(well_formed, draws):\n    return (1 - well_formed) ** (1 / draws)\n",
              "Not all draws must be bad, one is enough. All must be good: take the root of well_formed."),
    ],
)  # fmt: skip
