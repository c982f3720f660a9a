"""The first lines of WGSL of one's own: chapter 04's `scale`, in the other language."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import unwritten

GROUP = 64


def cases(random):
    sizes = {"three numbers": (3, 2.0), "one workgroup": (64, -1.5), "a last workgroup that is too long": (70, 0.5)}
    for label, (n, s) in sizes.items():
        yield Case(label, random.normal(size=n).astype(np.float32), s)


def launch(kernel, x, s):
    y = unwritten(x.shape)  # (n,)
    kernel(-(-len(x) // GROUP), x=x, y=y, n=len(x), s=s)
    return y


exercise = Exercise(
    title="Scale, in WGSL",
    minutes=3,
    core=False,
    language="wgsl",
    seconds=30,
    defines="scale_wgsl",
    cases=cases,
    reference=lambda x, s: np.float32(s) * x,
    call=launch,
    hints=("let i = id.x; and if (i < args.n) { ... }: as in gelu above. The factor is args.s.",),
    wrong=[
        Wrong(Changed(("if (i < args.n) {", "if (true) {")),
              "The last workgroup has more threads than there are numbers: those from args.n on must do nothing.",
              when=lambda seen: "out-of-bounds" in seen.kinds and "args.n" not in seen.text.split("fn scale_wgsl")[-1]),
        Wrong(Changed(("if (i < args.n) {", "if (i <= args.n) {")),
              "One thread too many takes part: the numbers are 0 to n - 1, so number n is none of them.",
              when=lambda seen: "out-of-bounds" in seen.kinds and {issue.count for issue in seen.issues} == {1}),
        Wrong(Changed(("args.s * x[i]", "args.s + x[i]")),
              "The factor is added: `*` multiplies.", like=lambda x, s: np.float32(s) + x),
        Wrong(Changed(("let i = id.x;", "int i = id.x;")), generic="is C++"),
    ],
)  # fmt: skip
