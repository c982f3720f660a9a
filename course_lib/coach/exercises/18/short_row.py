"""Find the fault: threads without a number leave, and the others wait for them at a barrier."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong
from course_lib.coach.shared_cases import unwritten

GROUP = 64


def cases(random):
    for label, n in (("three numbers", 3), ("one number", 1), ("a whole group", 64), ("one less", 63)):
        yield Case(label, random.integers(1, 50, n).astype(np.float32))


def launch(kernel, x):
    y = unwritten(1)
    kernel(1, x=x, y=y, n=len(x))
    return y


def left_as_it_was(seen):
    """No zero is written anywhere, and all that was wrong came of rows with fewer numbers than the tree has elements."""
    written = seen.text.partition("fn short_row")[2].partition("for (")[0]
    writes_none = not re.search(r"\b0(\.0)?f?\s*[;,)]|f32\(\)", written)
    short = all(outcome.right or len(outcome.inputs[0]) < GROUP for outcome in seen.outcomes)
    return bool(re.search(r"\bif\b", written)) and writes_none and short and not seen.kinds


exercise = Exercise(
    title="Find the fault: gone too early",
    minutes=4,
    core=False,
    language="wgsl",
    seconds=30,
    defines="short_row",
    cases=cases,
    reference=lambda x: x.sum(keepdims=True),
    call=launch,
    hints=("No thread may return before the last barrier. A thread without a number puts 0 into the tree, which changes no "
           "sum.",),
    wrong=[
        Wrong(Changed(("    tree[lane] = 0.0;\n    if (lane < args.n) {\n        tree[lane] = x[lane];\n    }\n",
                       "    if (lane >= args.n) {\n        return;\n    }\n    tree[lane] = x[lane];\n")),
              "Threads from n on never reach the barrier, at which all 64 must arrive. Let them stay, and contribute 0.",
              when=lambda seen: "divergent-barrier" in seen.kinds and "return" in seen.text),
        Wrong(Changed(("    tree[lane] = 0.0;\n    if (lane < args.n) {\n        tree[lane] = x[lane];\n    }\n",
                       "    tree[lane] = select(0.0, x[lane], lane < args.n);\n")),
              "`select` computes both of its values before it chooses: so threads without a number read x too. Write an `if`.",
              when=lambda seen: "out-of-bounds" in seen.kinds and "select" in seen.text),
        Wrong(Changed(("    if (lane < args.n) {\n        tree[lane] = x[lane];\n    }\n", "    tree[lane] = x[lane];\n")),
              "Only the threads below n have a number: the others must not read x.",
              when=lambda seen: "out-of-bounds" in seen.kinds),
        Wrong(Changed(("tree[lane] = 0.0;", "tree[lane] = 1.0;")),
              "The threads without a number contribute 1 each. What changes no sum is 0.",
              like=lambda x: x.sum(keepdims=True) + np.float32(GROUP - len(x))),
        Wrong(Changed(("    if (lane < args.n) {\n        tree[lane] = x[lane];\n    }\n",
                       "    tree[lane] = x[min(lane, args.n - 1)];\n")),
              "The threads without a number add the last one again. What changes no sum is 0.",
              like=lambda x: x.sum(keepdims=True) + x[-1:] * np.float32(GROUP - len(x))),
        # no wrong answer stands for it: what lies there from before may be zeros
        Mistake("The threads without a number write nothing to `tree`, and what lies there from before is added up: wgpu does "
                "not fill it with zeros. They must write 0.", when=left_as_it_was),
    ],
)  # fmt: skip
