"""The iterations of a tiled kernel in one dimension: load, wait, use, wait."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.kernels import bytes_moved

T = 64


def cases(random):
    def pair(n, m):
        return tuple((0.5 + random.integers(-9, 10, size=size)).astype(np.float32) for size in (n, m))

    yield Case("one and two", np.array([3], np.float32), np.array([1, 5], np.float32))
    yield Case("equal numbers", np.full(4, 2, np.float32), np.full(3, 2, np.float32))
    yield Case(
        "a few numbers among the largest floats", np.array([3e38], np.float32), np.array([1, 3.2e38], np.float32)
    )
    yield Case("more than a tile", *pair(5, 70))
    yield Case("two blocks", *pair(128, 192))
    yield Case("sizes that no tile fits", *pair(100, 130))


def launch(kernel, x, b):
    y = cuda.empty((len(x),), np.int32)
    kernel(-(-len(x) // T), T, (cuda.asarray(x), cuda.asarray(b), y, len(x), len(b)))
    return y


def below(x, b):
    """For each number of x how many of b are smaller, int32."""
    return (b < x[:, None]).sum(axis=1).astype(np.int32)


def with_the_rest(x, b):
    return (below(x, b) + (x > 1e9) * (-len(b) % T)).astype(np.int32)


exercise = Exercise(
    title="How many are smaller?",
    minutes=4,
    core=False,
    language="cuda",
    defines="ranks",
    instances=(str(T),),
    cases=cases,
    reference=below,
    call=launch,
    measured="two blocks",
    goals=[Goal("bytes of global memory moved", bytes_moved, at_most=4 * (128 + 2 * 192 + 128))],
    hints=("Store b[first + t] to part[t] if there is one; a barrier; compare with part[0], part[1] ... but not "
           "beyond m; a barrier.",),
    wrong=[
        Wrong(Changed(("if (first + t < m) part[t] = b[first + t];", "part[t] = first + t < m ? b[first + t] : 1e9f;"),
                      ("u < T && first + u < m", "u < T")),
              "The last tile is not full, and what `part` holds after the last number of b was counted, too. Compare with m "
              "- first numbers there, or fill the rest with INFINITY.", like=with_the_rest),
        Wrong(Changed(("            count += part[u] < own;\n        }\n        __syncthreads();",
                       "            count += part[u] < own;\n        }")),
              "A fast warp loads the next tile while a slow one reads this one. A barrier is missing after the comparisons.",
              when=lambda seen: "race" in seen.kinds and seen.text.count("__syncthreads") == 1
              and seen.label == "more than a tile"),
        Wrong(Changed(("        __syncthreads();\n        for", "        for")),
              "A thread may read an element of `part` before it is written. A barrier is missing before the comparisons.",
              when=lambda seen: "race" in seen.kinds and seen.text.count("__syncthreads") == 1
              and seen.label == "one and two"),
        Wrong(Changed(("part[t] = b[first + t]", "part[t] = b[t]")),
              "In each iteration the same first numbers of b are loaded. The tile of this one begins at `first`.",
              when=lambda seen: not seen.issues and seen.label in ("more than a tile", "two blocks") and "b[t]" in seen.text),
        Wrong(Changed(("if (first + t < m) part[t] = b[first + t];", "part[t] = first + t < m ? b[first + t] : 0.0f;"),
                      (" && first + u < m", "")),
              "Beyond the end of b stand zeros in the tile, and they are counted: here a zero is not nothing.",
              like=lambda x, b: below(x, np.concatenate((b, np.zeros(-len(b) % T, np.float32))))),
        Wrong(Changed(("part[u] < own", "part[u] <= own")),
              "Equal numbers were counted, too. The task asks how many are smaller.",
              like=lambda x, b: (b <= x[:, None]).sum(axis=1).astype(np.int32)),
        Wrong(Changed(("part[u] < own", "b[first + u] < own")), generic="the goal is not reached"),
    ],
)  # fmt: skip
