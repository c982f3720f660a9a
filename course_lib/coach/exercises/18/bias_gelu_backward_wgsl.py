"""A backward pass in WGSL: the derivative of GELU, and the kernel that multiplies by it."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import unwritten
from course_lib.devices import ops

GROUP = 256


def cases(random):
    for label, rows, F in (("one number", 1, 1), ("two rows of three", 2, 3), ("one column", 5, 1),
                           ("a little more than a workgroup", 7, 37), ("workgroups in several rows", 20, 100)):  # fmt: skip
        dy, x = random.normal(0, 2, size=(2, rows, F)).astype(np.float32)
        yield Case(label, dy, x, (1.5 + random.normal(size=F)).astype(np.float32))
    far = np.array([[-60, -9, 9, 60]], np.float32)
    yield Case("far from 0", np.ones((1, 4), np.float32), far, np.zeros(4, np.float32))


def launch(kernel, dy, x, bias):
    dx = unwritten(x.shape)
    groups = -(-x.size // GROUP)
    kernel((min(groups, 3), -(-groups // 3)), dy=dy, x=x, bias=bias, dx=dx, n=x.size, F=x.shape[1])
    return dx


def right(dy, x, bias):
    return ops("reference").gelu_backward(dy.astype(np.float64), (x + bias).astype(np.float64))


def parts(z):
    t = np.tanh(0.7978845608 * (z + 0.044715 * z**3))
    return t, 0.7978845608 * (1 + 3 * 0.044715 * z * z)


def only_second(dy, x, bias):
    z = (x + bias).astype(np.float64)
    t, du = parts(z)
    return dy * 0.5 * z * (1 - t * t) * du


def without_inner(dy, x, bias):
    z = (x + bias).astype(np.float64)
    t, _ = parts(z)
    return dy * (0.5 * (1 + t) + 0.5 * z * (1 - t * t))


exercise = Exercise(
    title="Bias and GELU, the backward pass",
    minutes=12,
    core=False,
    language="wgsl",
    seconds=30,
    defines="bias_gelu_backward",
    target="wgsl:bias_gelu.wgsl",
    cases=cases,
    reference=right,
    call=launch,
    tolerance=1e-4,
    hints=(
        "gelu is x times (1 + t) / 2: a product, so its derivative has two terms. t is safe_tanh(u).",
        "let t = safe_tanh(ROOT_2_PI * (x + 0.044715 * x * x * x)); the derivative of t is (1 - t t) times the derivative of "
        "u.",
        "return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * ROOT_2_PI * (1.0 + 3.0 * 0.044715 * x * x); and the kernel as in "
        "exercise 1, with dx[i] = dy[i] * gelu_grad(x[i] + bias[...]).",
    ),
    example="""// The backward pass of y = x * x: dx = dy * 2 x.
// include "group.wgsl"

struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> dy: array<f32>;
@group(0) @binding(3) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(THREADS)
fn square_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                   @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.n) {
        dx[i] = dy[i] * 2.0 * x[i];
    }
}
""",
    wrong=[
        Wrong(Changed(("    if (i < args.n) {\n        dx[i] = dy[i] * gelu_grad(x[i] + bias[i % args.F]);\n    }",
                       "    dx[i] = dy[i] * gelu_grad(x[i] + bias[i % args.F]);")),
              "Threads beyond the last number write too: write only where i < args.n.",
              when=lambda seen: any(i.kind == "out-of-bounds" and "`dx[" in i.message for i in seen.issues)),
        Wrong(Changed(("x[i] + bias[i % args.F]", "x[i]")), "The bias is missing: take the derivative at x + bias.",
              like=lambda dy, x, bias: right(dy, x, np.zeros_like(bias))),
        Wrong(Changed(("dy[i] * gelu_grad", "gelu_grad")), "This is the derivative alone: multiply it by dy.",
              like=lambda dy, x, bias: right(np.ones_like(dy), x, bias)),
        Wrong(Changed(("return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * du;", "return 0.5 * x * (1.0 + t);")),
              "This is dy times GELU itself, not times its derivative.",
              like=lambda dy, x, bias: dy * ops("reference").gelu_forward((x + bias).astype(np.float64))),
        Wrong(Changed(("return 0.5 * (1.0 + t) + 0.5 * x", "return 0.5 * x")),
              "A term of the product rule is missing: the first, (1 + t) / 2.", like=only_second),
        Wrong(Changed((" * (1.0 - t * t) * du;", " * (1.0 - t * t);")),
              "The derivative of u is missing in the second term: u' = ROOT_2_PI (1 + 3 * 0.044715 x^2).", like=without_inner),
    ],
)  # fmt: skip
