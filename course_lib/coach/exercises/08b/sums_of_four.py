"""One float4 for each thread: how its pointer is made."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import requests


def cases(random):
    for label, n in (("one sum", 1), ("two sums", 2), ("two warps", 64), ("a last block that is too long", 45)):
        yield Case(label, (0.5 + random.integers(-9, 10, size=4 * n)).astype(np.float32))


def launch(kernel, x):
    n = len(x) // 4
    y = cuda.empty((n,))
    kernel(-(-n // 32), 32, (cuda.asarray(x), y, n))
    return y


exercise = Exercise(
    title="Sums of four",
    minutes=3,
    core=False,
    language="cuda",
    defines="sums_of_four",
    cases=cases,
    reference=lambda x: x.reshape(-1, 4).sum(axis=1),
    call=launch,
    measured="two warps",
    goals=[Goal("requests that read global memory", requests("read"), at_most=2)],
    hints=("float4 v = *(const float4*)(x + 4 * i); and then y[i] = v.x + v.y + v.z + v.w;",),
    wrong=[
        Wrong(Changed(("x + 4 * i", "x + i")),
              "x points to floats, so x + i is one float further for each thread. Four numbers begin at x + 4 * i.",
              when=lambda seen: "misaligned-access" in seen.kinds),
        Wrong(Changed(("float4 v = *(const float4*)(x + 4 * i);", "const float* v = x + 4 * i;"),
                      ("v.x + v.y + v.z + v.w", "v[0] + v[1] + v[2] + v[3]")), generic="the goal is not reached"),
        Wrong(Changed(("v.x + v.y + v.z + v.w", "v.x + v.y + v.z")),
              "The last of the four is left out: a float4 has the parts x, y, z and w.",
              like=lambda x: x.reshape(-1, 4)[:, :3].sum(axis=1)),
        Wrong(Changed(("if (i < n) {", "{")), generic="accesses an array out of bounds"),
    ],
)  # fmt: skip
