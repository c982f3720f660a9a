"""No number is converted silently: from an index to a fraction."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import unwritten

GROUP = 64


def cases(random):
    for label, n in (("four numbers", 4), ("one number", 1), ("two workgroups", 100)):
        yield Case(label, n)


def launch(kernel, n):
    y = unwritten(n)  # (n,)
    kernel(-(-n // GROUP), y=y, n=n)
    return y


exercise = Exercise(
    title="From an index to a fraction",
    minutes=2,
    core=False,
    language="wgsl",
    seconds=30,
    defines="as_fraction",
    cases=cases,
    reference=lambda n: (np.arange(n) / n).astype(np.float32),
    call=launch,
    hints=("f32(i) is i as a floating-point number. Convert both, then divide.",),
    wrong=[
        Wrong(Changed(("f32(i) / f32(args.n)", "f32(i / args.n)")),
              "The integers were divided first, and i / n of two integers is rounded down: 0. Convert both before you "
              "divide.",
              like=lambda n: np.zeros(n, np.float32)),
        Wrong(Changed(("f32(i) / f32(args.n)", "f32(args.n) / f32(i)")), "This is n divided by i: the other way round.",
              when=lambda seen: np.allclose(seen.got[1:], seen.inputs[0] / np.arange(1, seen.inputs[0]))),
        Wrong(Changed(("f32(i) / f32(args.n)", "i / args.n")), generic="Nothing converts by itself"),
        Wrong(Changed(("f32(i) / f32(args.n)", "f32(i) / args.n")), generic="has an f32 on its left"),
    ],
)  # fmt: skip
