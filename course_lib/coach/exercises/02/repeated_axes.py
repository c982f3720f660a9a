"""Which axes was a small tensor repeated along? Its gradient must be summed over them."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    return [
        Case("a row, repeated over three rows", (4,), (3, 4)),
        Case("nothing was repeated", (2, 3), (2, 3)),
        Case("a column, repeated along its rows", (3, 1), (3, 4)),
        Case("one number", (), (2, 3)),
        Case("an axis of length 1 that stays 1", (1, 3), (2, 1, 3)),
        Case("both kinds at once", (5, 1, 7), (2, 5, 6, 7)),
    ]


def check(axes, shape, to):
    return None if isinstance(axes, tuple) else "These are the right axes, in a list. The task asks for a tuple."


exercise = Exercise(
    title="Where was it repeated?",
    minutes=10,
    defines="repeated_axes",
    target="course_lib.tensor.shapes.repeated_axes",
    cases=cases,
    check=check,
    hints=(
        "Shapes are aligned at the right. So how many axes of `to` have no partner in `shape`?",
        "An axis of `to` was repeated if it has no partner, or if its partner is 1 and it is not.",
        "With missing = len(to) - len(shape), the partner of axis a is shape[a - missing], if a >= missing.",
    ),
    example='''def kept_axes(shape, to):
    """The opposite question: which axes of `to` were not repeated?"""
    missing = len(to) - len(shape)
    kept = []
    for axis in range(missing, len(to)):  # the ones before have no partner
        if shape[axis - missing] == to[axis]:
            kept.append(axis)
    return tuple(kept)
''',
    wrong=[
        Wrong(Changed((" or (shape[axis - missing] == 1 and length != 1)", "")),
              "You found the axes that were put in front. An axis of length 1 can be repeated as well."),
        Wrong("""def repeated_axes(shape, to):
    missing = len(to) - len(shape)
    return tuple(a for a in range(missing, len(to)) if shape[a - missing] == 1 and to[a] != 1)
""", "You found the axes of length 1. A shape with fewer axes gets new ones in front: these are repeated too."),
        Wrong(Changed((" and length != 1", "")),
              "An axis of length 1 that is still 1 in `to` was not repeated: there is nothing to sum."),
        Wrong("""def repeated_axes(shape, to):
    return tuple(a for a in range(len(to)) if a >= len(shape) or shape[a] != to[a])
""", "Shapes are aligned at the right: the last axis of `shape` belongs to the last axis of `to`."),
        Wrong("""def repeated_axes(shape, to):
    missing = len(to) - len(shape)
    ones = [a for a in range(len(shape)) if shape[a] != to[a + missing]]
    return tuple(list(range(missing)) + ones)
""", "The axes are counted in `shape`. Count them in `to`: it may have more axes, and they stand in front."),
    ],
)  # fmt: skip
