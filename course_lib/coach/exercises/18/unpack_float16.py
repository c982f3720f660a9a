"""Half floats in pairs, and a grid-stride loop: fewer threads than words."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import unwritten

GROUP = 64


def cases(random):
    for label, n, groups in (("one float", 1, 1), ("one word", 2, 1), ("three floats", 3, 1), ("as many words as "
                                                                                               "threads", 128, 1),
                             ("more words than threads", 401, 1), ("two workgroups, several iterations", 700, 2)):  # fmt: skip
        yield Case(label, random.normal(0, 3, size=n).astype(np.float16).astype(np.float32), groups)


def launch(kernel, floats, groups):
    n = len(floats)
    words = np.append(floats.astype(np.float16), np.float16(99))[: n + n % 2].copy().view(np.uint32)  # ((n + 1) / 2,)
    y = unwritten(n)
    kernel(groups, x=words, y=y, n=n)
    return y


def swapped(floats, groups):
    padded = np.append(floats, np.float32(99))[: len(floats) + len(floats) % 2]
    return padded.reshape(-1, 2)[:, ::-1].ravel()[: len(floats)]


def one_round(floats, groups):
    y = floats.copy()
    y[2 * GROUP * groups :] = np.nan
    return y


def one_by_one(seen):
    """Whether y is indexed by i, the number of a word."""
    return re.search(r"\by\[\s*i\s*(\+\s*1u?\s*)?\]", seen.text) is not None


exercise = Exercise(
    title="Two float16 numbers in a word",
    minutes=10,
    core=False,
    language="wgsl",
    seconds=30,
    defines="unpack_float16",
    cases=cases,
    reference=lambda floats, groups: floats,
    call=launch,
    hints=(
        "Thread id.x begins at word id.x, and its next word is as far on as the launch has threads.",
        "for (var i = id.x; 2 * i < args.n; i += groups.x * 64) { let pair = unpack2x16float(x[i]); ... }",
        "y[2 * i] = pair.x; and if (2 * i + 1 < args.n) { y[2 * i + 1] = pair.y; }",
    ),
    example="""// Words unpacked to bytes: four in each, the first in the lowest 8 bits.
struct Args {
    words: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(64)
fn unpack_bytes(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < args.words; i += groups.x * 64) {
        for (var byte = 0u; byte < 4; byte++) {
            y[4 * i + byte] = (x[i] >> (8 * byte)) & 0xffu;
        }
    }
}
""",
    wrong=[
        Wrong(Changed(("        if (2 * i + 1 < args.n) {\n            y[2 * i + 1] = pair.y;\n        }",
                       "        y[2 * i + 1] = pair.y;")),
              "A thread writes beyond y. It has a word only while 2 * i < args.n, and a second float in it only if 2 * i + 1 < "
              "args.n.",
              when=lambda seen: any(i.kind == "out-of-bounds" and "`y[" in i.message for i in seen.issues)
                  and len(seen.inputs[0]) % 2 == 1),
        Wrong(Changed(("2 * i < args.n;", "i < args.n;")),
              "There are half as many words as floats: go on while 2 * i < args.n.",
              when=lambda seen: any(i.kind == "out-of-bounds" and "`x[" in i.message for i in seen.issues)),
        Wrong(Changed(("i += groups.x * 64", "i += args.n")),
              "Each thread unpacks one word, but there are more words than threads. Go on with i + groups.x * 64.",
              like=one_round),
        Wrong(Changed(("i += groups.x * 64", "i += 64u")),
              "Several threads unpack the same words: the stride of the loop is the number of threads of the launch, groups.x "
              "* 64.",
              when=lambda seen: "race" in seen.kinds and not one_by_one(seen)),
        Wrong(Changed(("y[2 * i] = pair.x;", "y[i] = pair.x;"), ("y[2 * i + 1] = pair.y;", "y[i + 1] = pair.y;")),
              "Word i holds two floats, so the words before it hold 2 * i: they are y[2 * i] and y[2 * i + 1].",
              when=lambda seen: "race" in seen.kinds and one_by_one(seen)),
        Wrong(Changed(("y[2 * i] = pair.x;", "y[2 * i] = pair.y;"), ("y[2 * i + 1] = pair.y;", "y[2 * i + 1] = pair.x;")),
              "The halves of each word are exchanged: the first, `x`, is in the lower 16 bits.", like=swapped),
        Wrong(Changed(("var i = id.x;", "int i = id.x;")), generic="is C++"),
    ],
)  # fmt: skip
