"""One scale for each group of 32 weights along a row."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

GROUP = 32


def cases(random):
    def case(label, N, J, size=1.0):
        return Case(
            label, (size * random.normal(size=(N, J * GROUP)) * random.uniform(0.1, 9, (N, 1))).astype(np.float32)
        )

    yield case("one group", 1, 1)
    yield case("two rows of one group", 2, 1)
    yield case("one row of two groups", 1, 2)
    yield case("three rows of four groups", 3, 4, 0.02)
    one = case("an outlier", 2, 3)
    one.inputs[0][0, 40] = -50
    yield one


def right(weight):
    return np.abs(weight.reshape(len(weight), -1, GROUP)).max(axis=2) / 7


exercise = Exercise(
    title="A scale for each group",
    minutes=4,
    core=False,
    defines="group_scales",
    given="import numpy as np\nGROUP = 32",
    cases=cases,
    reference=right,
    hints=("groups = weight.reshape(len(weight), -1, GROUP) is (N, J, 32). Take the largest absolute value of its last axis.",),
    wrong=[
        Wrong(Changed(("np.abs(groups).max(axis=2)", "np.abs(weight).max(axis=1, keepdims=True)")),
              "This is one scale for each row. Each group of 32 has its own: (N, J)."),
        Wrong(Changed(("np.abs(groups)", "groups")),
              "The largest weight may be a negative one: take the largest absolute value."),
        Wrong(Changed(("max(axis=2)", "max(axis=1)")),
              "The axes of the groups are (N, J, 32). The largest of a group is taken over the last axis, 2; you take it over "
              "the groups of a row."),
        Wrong(Changed((" / 7", " / 15")),
              "Codes of 4 bits are -8 .. 7, so the largest weight gets 7. 15 is the number of steps from one end of the grid to "
              "the other."),
        Wrong(Changed(("weight.reshape(len(weight), -1, GROUP)", "weight.reshape(-1, GROUP, len(weight)).transpose(2, 0, 1)")),
              "A group is 32 neighbours of one row: reshape to (N, J, 32), with the rows first."),
        Wrong(Changed(("weight.reshape(len(weight), -1, GROUP)", "weight.reshape(len(weight), GROUP, -1)"), ("axis=2", "axis=1")),
              "(N, 32, J) puts every J-th weight of a row into a group. A group is 32 neighbours: reshape to (N, J, 32)."),
    ],
)  # fmt: skip
