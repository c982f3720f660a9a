"""A cast of a pointer: four floats by one load, and four by one store."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests

BLOCK = 32


def cases(random):
    for label, groups in (
        ("one group", 1),
        ("three groups", 3),
        ("a last block that is too long", 40),
        ("256 groups", 256),
    ):
        yield Case(label, random.permutation(4 * groups).astype(np.float32) - 1.25)


def launch(kernel, x):
    groups, y = len(x) // 4, cuda.empty(x.shape)  # (4 groups,)
    kernel((groups + BLOCK - 1) // BLOCK, BLOCK, (cuda.asarray(x), y, groups))
    return y


exercise = Exercise(
    title="Four, from the last to the first",
    minutes=4,
    core=False,
    language="cuda",
    defines="reverse_fours",
    cases=cases,
    reference=lambda x: x.reshape(-1, 4)[:, ::-1].ravel(),
    call=launch,
    measured="256 groups",
    goals=[Goal("instructions that read global memory", requests("read"), at_most=8),
           Goal("instructions that write global memory", requests("write"), at_most=8)],
    hints=(
        "Group i begins at x + 4 * i. Read it as `show_cast` does, exchange its parts, and write with "
        "*(float4*)(y + 4 * i) = ...",
    ),
    wrong=[
        Wrong(Changed(("(x + 4 * i)", "(x + i)"), ("(y + 4 * i)", "(y + i)")),
              "x + i is float i. Group i begins 4 * i floats behind the first.",
              when=lambda seen: "misaligned-access" in seen.kinds and "(x + i)" in seen.text),
        Wrong(Changed(("*(const float4*)(x + 4 * i)", "*((const float4*)x + 4 * i)")),
              "After the cast a step is a whole float4, so 4 * i steps are too many. Add before the cast, or add i.",
              when=lambda seen: "out-of-bounds" in seen.kinds and "float4*)x+4*i" in seen.text.replace(" ", "")),
        Wrong(Changed(("= *(const float4*)", "= (const float4*)")),
              "The cast gives an address. A star before it reads the float4 that lies there.",
              when=lambda seen: "conversion from" in seen.error and "float4*" in seen.error.partition("to non-scalar")[0]),
        Wrong(Changed(("{p.w, p.z, p.y, p.x}", "{p.x, p.y, p.z, p.w}")), "The numbers are copied, in the old order.",
              like=lambda x: x),
        Wrong(Changed(("{p.w, p.z, p.y, p.x}", "{p.y, p.x, p.w, p.z}")), generic="right numbers at the wrong indices"),
        Wrong(Changed(("*(float4*)(y + 4 * i) = back;",
                       "y[4 * i] = back.x;\n        y[4 * i + 1] = back.y;\n        y[4 * i + 2] = back.z;\n        "
                       "y[4 * i + 3] = back.w;")),
              generic="instructions that write"),
    ],
)  # fmt: skip
