"""Strides that show a small shape as a larger one: 0 where it is repeated."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

REFUSED = "refused with a ValueError"


def cases(random):
    return [
        Case("a row, repeated over two rows", (2,), (1,), (2, 2)),
        Case("nothing is repeated", (2, 3), (3, 1), (2, 3)),
        Case("a column, repeated along its rows", (3, 1), (1, 1), (3, 4)),
        Case("a column, transposed before", (3, 1), (1, 3), (3, 4)),
        Case("one number", (), (), (2, 3)),
        Case("a transposed matrix, repeated", (4, 3), (1, 4), (2, 4, 3)),
        Case("a square matrix, transposed, repeated", (3, 3), (1, 3), (3, 3, 3)),
        Case("a row, backwards, repeated", (3,), (-1,), (2, 3)),
        Case("an axis of length 1 that stays 1", (1, 3), (3, 1), (2, 1, 3)),
        Case("both kinds at once", (5, 1, 7), (7, 7, 1), (2, 5, 6, 7)),
        Case("lengths that do not fit", (3,), (1,), (3, 4)),
        Case("a matrix that would have to shrink", (3, 4), (4, 1), (1, 4)),
        Case("fewer axes than there are", (2, 3), (3, 1), (3,)),
        Case("fewer axes than there are, of length 1", (1, 3), (3, 1), (3,)),
    ]


def strides_or_refusal(answer, shape, strides, to):
    """A tuple of strides, 0 where the axis has length 1 (any stride is right there); or the refusal."""
    try:
        found = answer(shape, strides, to)
    except ValueError:
        return REFUSED
    if isinstance(found, tuple | list) and len(found) == len(to):
        return tuple(0 if length == 1 else stride for stride, length in zip(found, to, strict=True))
    return found


exercise = Exercise(
    title="Repeat without copying",
    minutes=15,
    defines="broadcast_strides",
    target="course_lib.tensor.shapes.broadcast_strides",
    given="from course_lib.tensor.shapes import broadcast_shape",
    cases=cases,
    call=strides_or_refusal,
    hints=(
        "Align the two shapes at the right. How many axes of `to` have no partner? What is their stride?",
        "Three kinds of axes: no partner (0), a partner of length 1 that is shown longer (0), an equal partner (its own stride).",
        "missing = len(to) - len(shape); then (0,) * missing, followed by one stride for each of zip(shape, strides, "
        "to[missing:]). Before that: raise ValueError if `to` has fewer axes, or a length is neither 1 nor that of `to`.",
    ),
    example='''def diagonal_strides(strides):
    """Another view that only strides make: the diagonal of a matrix. One step is one row down and one column right."""
    rows, columns = strides
    return (rows + columns,)
''',
    wrong=[
        Wrong("""def broadcast_strides(shape, strides, to):
    more = len(to) - len(shape)
    if more < 0 or any(n not in (1, m) for n, m in zip(shape + (1,) * more, to)):
        raise ValueError("does not fit")
    return tuple(s if n == m else 0 for n, m, s in zip(shape + (1,) * more, to, strides + (0,) * more))
""", "The shapes are compared from the left. Broadcasting compares them from the right: new axes come in front."),
        Wrong("""def broadcast_strides(shape, strides, to):
    assert len(to) >= len(shape)
    m = len(to) - len(shape)
    assert all(a == b or a == 1 for a, b in zip(shape, to[m:]))
    return [0] * m + [s if a == b else 0 for a, b, s in zip(shape, to[m:], strides)]
""", "The caller expects a ValueError for shapes that do not fit; an `assert` raises AssertionError.",
              when=lambda seen: seen.expected == REFUSED and seen.error.startswith("AssertionError")),
        Wrong("""def broadcast_strides(shape, strides, to):
    if len(shape) != len(to):
        raise ValueError("not the same number of axes")
    return tuple(0 if a == 1 else s for a, s in zip(shape, strides))
""", "These shapes fit, and your code refuses them with ValueError.",
              when=lambda seen: isinstance(seen.got, str) and seen.got == REFUSED, once="a refusal is no number"),
        Wrong("""def broadcast_strides(shape, strides, to):
    missing = len(to) - len(shape)
    return (0,) * missing + tuple(0 if a != b else s for a, b, s in zip(shape, to[missing:], strides))
""", "`shape` does not fit `to`, or would shrink or lose an axis, and your code gives strides: `raise ValueError(...)`.",
              when=lambda seen: seen.expected == REFUSED and isinstance(seen.got, tuple | list)),
        Wrong(Changed(("0 if length == 1 != target else stride", "stride")),
              "An axis of length 1 that is shown longer is repeated too: its stride becomes 0."),
        Wrong("""def broadcast_strides(shape, strides, to):
    if broadcast_shape(shape, to) != to or len(to) < len(shape):
        raise ValueError
    missing = len(to) - len(shape)
    padded = (1,) * missing + shape
    out, step = [], 1
    for n in reversed(padded):
        out.insert(0, 0 if n == 1 else step)
        step = step * n
    return tuple(out)
""", "You computed the strides anew from the shape. A transposed view has others: keep what is given."),
        Wrong("""def broadcast_strides(shape, strides, to):
    if broadcast_shape(shape, to) != to or len(to) < len(shape):
        raise ValueError
    found = [s if i < len(shape) and shape[i] == n else 0 for i, (n, s) in enumerate(zip(to, strides + (0,) * len(to)))]
    return tuple(found)
""", "The axes are aligned at the left. Shapes are aligned at the right: the last axis of `shape` belongs to the last of `to`."),
        Wrong(Changed(("(0,) * missing + tuple(repeated)", "tuple(repeated)")),
              "There must be one stride for each axis of `to`. Axes that `shape` lacks stand in front, with stride 0."),
        Wrong(Changed(("(0,) * missing + tuple(repeated)", "tuple(repeated) + (0,) * missing")),
              "The new axes stand in front, so their zeros do too."),
    ],
)  # fmt: skip
