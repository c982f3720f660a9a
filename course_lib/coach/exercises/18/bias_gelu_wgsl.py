"""A kernel of chapter 05, ported: the bounds check, and the bias of a column, i % F."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import unwritten
from course_lib.devices import ops

GROUP = 256  # threads
FOLDED = "workgroups in several rows"


def cases(random):
    for label, rows, F in (("one number", 1, 1), ("one row of three", 1, 3), ("three rows of two", 3, 2),
                           ("one column", 7, 1), ("a little more than a workgroup", 7, 37), (FOLDED, 20, 100)):  # fmt: skip
        x = random.normal(0, 2, size=(rows, F)).astype(np.float32)
        yield Case(label, x, (1.5 + random.normal(size=F)).astype(np.float32))


def launch(kernel, x, bias):
    y = unwritten(x.shape)
    groups = -(-x.size // GROUP)
    kernel((min(groups, 3), -(-groups // 3)), x=x, bias=bias, y=y, n=x.size, F=x.shape[1])
    return y


def gelu(x):
    return ops("reference").gelu_forward(x.astype(np.float64))


def of_the_row(seen):
    """Was every number given the bias of its row, where there is one?"""
    x, bias = seen.inputs
    own = bias[: len(x), None]
    return np.allclose(seen.got[: len(own)], gelu(x[: len(own)] + own), atol=1e-4)


def first_group(x, bias):
    y = gelu(x + bias)
    y.ravel()[GROUP:] = np.nan
    return y


exercise = Exercise(
    title="Bias and GELU, ported",
    minutes=12,
    language="wgsl",
    seconds=30,
    defines="bias_gelu_forward",
    target="wgsl:bias_gelu.wgsl",
    cases=cases,
    reference=lambda x, bias: gelu(x + bias),
    call=launch,
    tolerance=1e-4,
    hints=(
        "Which number does this thread own? element_index(group, groups, lane) gives its index. Is it within bounds? Compare "
        "with args.n.",
        "A row has args.F numbers, so number i is in column i % args.F. `let` names a value, and `if (...) { }` needs braces.",
        "let i = element_index(group, groups, lane); if (i < args.n) { y[i] = gelu(x[i] + ...[i % args.F]); }",
    ),
    example="""// Each column times a factor of its own: y = x * factor, factor (F).
// include "group.wgsl"

struct Args {
    n: u32,
    F: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> factor: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(THREADS)
fn scale_columns(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.n) {
        y[i] = x[i] * factor[i % args.F];
    }
}
""",
    wrong=[
        Wrong(Changed(("    if (i < args.n) {\n        y[i] = gelu(x[i] + bias[i % args.F]);\n    }",
                       "    y[i] = gelu(x[i] + bias[i % args.F]);")),
              "Threads beyond the last number write too. WebGPU silently clamps such an index, or drops the access: write "
              "only where i < args.n.",
              when=lambda seen: "out-of-bounds" in seen.kinds
                  and any("`y[" in i.message and i.thread[0] + GROUP * i.block[0] >= seen.inputs[0].size for i in seen.issues)),
        Wrong(Changed(("element_index(group, groups, lane)", "group.x * THREADS + lane")),
              "The workgroups of a launch may be arranged in several rows, here 3 in each. element_index(group, groups, lane) "
              "takes that into account.",
              when=lambda seen: seen.label == FOLDED
                  and not re.search(r"element_index|group_index|group\.y|\bid\.y", seen.text)),
        Wrong(Changed(("bias[i % args.F]", "bias[i]")),
              "The bias has only F numbers, and you read beyond them. Number i is in column i % args.F.",
              when=lambda seen: "out-of-bounds" in seen.kinds and any("`bias[" in issue.message for issue in seen.issues)),
        Wrong(Changed(("i % args.F", "i / args.F")),
              "The bias is indexed by the row. Number i is in row i / args.F and column i % args.F: bias[i % args.F].",
              when=of_the_row),
        Wrong(Changed(("gelu(x[i] + bias[i % args.F])", "gelu(x[i]) + bias[i % args.F]")),
              "The bias is added after the activation. Add it before: gelu(x + bias).", like=lambda x, bias: gelu(x) + bias),
        Wrong(Changed(("gelu(x[i] + bias[i % args.F])", "gelu(x[i])")), "The bias is missing.", like=lambda x, bias: gelu(x)),
        Wrong(Changed(("gelu(x[i] + bias[i % args.F])", "x[i] + bias[i % args.F]")), "This is x + bias, without GELU.",
              like=lambda x, bias: x + bias),
        Wrong(Changed(("element_index(group, groups, lane)", "lane")),
              "Only the numbers of the first workgroup are written. `lane` counts within a workgroup; element_index(group, "
              "groups, lane) counts over all of them.", like=first_group),
        Wrong(Changed(("let i = element_index(group, groups, lane);", "int i = element_index(group, groups, lane);")),
              generic="`int i` is C++"),
        Wrong(Changed(("let i = element_index", "let i: i32 = element_index")), generic="declared as i32 and given a u32"),
        Wrong(Changed(("% args.F]);", "% args.F])")), generic="A `;` is missing"),
    ],
)  # fmt: skip
