"""Right answers to the exercises of chapter 18, written in other ways than ours."""

from importlib import import_module

from course_lib.coach.exercise import Changed

RIGHT = {
    "scale_wgsl": [
        Changed(("    if (i < args.n) {\n        y[i]", "    if (i >= args.n) {\n        return;\n    }\n    {\n        y[i]")),
        Changed(("args.s * x[i]", "x[i] * args.s"), ("let i", "let i: u32")),
    ],
    "short_row": [
        Changed(("    tree[lane] = 0.0;\n    if (lane < args.n) {\n        tree[lane] = x[lane];\n    }",
                 "    var own = 0.0;\n    if (lane < args.n) {\n        own = x[lane];\n    }\n    tree[lane] = own;")),
        Changed(("        tree[lane] = x[lane];\n    }", "        tree[lane] += x[lane];\n    }")),
    ],
    "as_fraction": [
        Changed(("y[i] = f32(i) / f32(args.n);", "let n = f32(args.n);\n        y[i] = f32(i) / n;")),
        Changed(("f32(i) / f32(args.n)", "f32(i) * (1.0 / f32(args.n))")),
    ],
    "bias_gelu_wgsl": [
        Changed(("    if (i < args.n) {\n        y[i] = gelu(x[i] + bias[i % args.F]);\n    }",
                 "    if (i >= args.n) {\n        return;\n    }\n    let column = i - i / args.F * args.F;\n"
                 "    let shifted = bias[column] + x[i];\n    y[i] = gelu(shifted);")),
        """struct Args {
    n: u32,
    F: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

fn bend(z: f32) -> f32 {
    let u = clamp(0.7978845608 * (z + 0.044715 * z * z * z), -15.0, 15.0);
    return 0.5 * z * (1.0 + tanh(u));
}

@compute @workgroup_size(256)
fn bias_gelu_forward(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.y * groups.x * 256 + id.x;
    if (i < arrayLength(&y)) {
        y[i] = bend(x[i] + bias[i % arrayLength(&bias)]);
    }
}
""",
    ],
    "softmax_wgsl": [
        Changed(("    var l = 0.0;\n    for (var c = lane; c < seen; c += THREADS) {\n        l += exp(x[start + c] - "
                 "m);",
                 "    var l = 0.0;\n    for (var c = lane; c < seen; c += THREADS) {\n"
                 "        y[start + c] = exp(x[start + c] - m);\n        l += y[start + c];"),
                ("y[start + c] = exp(x[start + c] - m) / l;", "y[start + c] /= l;")),
        """// include "group.wgsl"

var<workgroup> numbers: array<f32, 256>;
var<workgroup> answer: f32;

struct Args {
    rows: u32,
    T: u32,
    S: u32,
    lowest: f32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

// One thread merges the numbers of all: slow and simple.
fn together(lane: u32, value: f32, largest: bool) -> f32 {
    numbers[lane] = value;
    workgroupBarrier();
    if (lane == 0) {
        answer = numbers[0];
        for (var i = 1u; i < 256; i++) {
            answer = select(answer + numbers[i], max(answer, numbers[i]), largest);
        }
    }
    workgroupBarrier();
    let result = answer;
    workgroupBarrier();
    return result;
}

fn group_sum(lane: u32, value: f32) -> f32 {
    return together(lane, value, false);
}

@compute @workgroup_size(256)
fn softmax_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                   @builtin(local_invocation_index) lane: u32) {
    let row = group_index(group, groups);
    var seen = args.S;
    if (CAUSAL) {
        seen = args.S - args.T + row % args.T + 1;
    }
    var m = args.lowest;
    var sum = 0.0;
    if (row < args.rows) {
        for (var c = lane; c < seen; c += 256) {
            m = max(m, x[row * args.S + c]);
        }
    }
    m = together(lane, m, true);
    if (row < args.rows) {
        for (var c = lane; c < seen; c += 256) {
            sum += exp(x[row * args.S + c] - m);
        }
    }
    sum = group_sum(lane, sum);
    if (row < args.rows) {
        for (var c = lane; c < args.S; c += 256) {
            y[row * args.S + c] = select(0.0, exp(x[row * args.S + c] - m) / sum, c < seen);
        }
    }
}
""",
    ],
    "gemm_inner_loop": [
        Changed(("            sums[0] += column.x * row;\n            sums[1] += column.y * row;\n            sums[2] += "
                 "column.z * row;\n"
                 "            sums[3] += column.w * row;",
                 "            for (var i = 0u; i < 4; i++) {\n                sums[i] = fma(vec4(column[i]), row, sums[i]);\n"
                 "            }"),
                ("        let row = top + thread.y * 4 + i;\n        for", "        let row = top + thread.y * 4 + i;\n"
                 "        if (row >= args.N) {\n            break;\n        }\n        for")),
        Changed(("            let row = b_tile[s * (TILE / 4) + thread.x];\n            sums[0] += column.x * row;\n"
                 "            sums[1] += column.y * row;\n            sums[2] += column.z * row;\n            sums[3] += "
                 "column.w * row;",
                 "            let row = b_tile[s * (TILE / 4) + thread.x];\n            for (var i = 0u; i < 4; i++) {\n"
                 "                for (var j = 0u; j < 4; j++) {\n                    sums[i][j] += column[i] * row[j];\n"
                 "                }\n            }")),
    ],
    "workgroup_sum": [
        Changed(("    tree[lane] = value;", "    workgroupBarrier();  // nobody reads the total before this one any more\n"
                 "    tree[lane] = value;"),
                ("    workgroupBarrier();\n    let total = tree[0];\n    workgroupBarrier();\n    return total;",
                 "    workgroupBarrier();\n    return tree[0];")),
        Changed(("    for (var half = THREADS / 2; half > 0; half /= 2) {\n        workgroupBarrier();\n        if (lane < half) "
                 "{\n"
                 "            tree[lane] += tree[lane + half];\n        }\n    }\n    workgroupBarrier();",
                 "    workgroupBarrier();\n    for (var half = THREADS / 2; half > 0; half /= 2) {\n        if (lane < half) {\n"
                 "            tree[lane] = tree[lane] + tree[lane + half];\n        }\n        workgroupBarrier();\n    }")),
    ],
    "bias_gelu_backward_wgsl": [
        Changed(("    let du = ROOT_2_PI * (1.0 + 3.0 * 0.044715 * x * x);\n"
                 "    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * du;",
                 "    let gate = 0.5 * (1.0 + t);\n"
                 "    return gate + 2.0 * x * gate * (1.0 - gate) * ROOT_2_PI * (1.0 + 0.134145 * x * x);")),
        Changed(("    if (i < args.n) {\n        dx[i] = dy[i] * gelu_grad(x[i] + bias[i % args.F]);\n    }",
                 "    if (i >= args.n) {\n        return;\n    }\n    var d = gelu_grad(bias[i % args.F] + x[i]);\n    d *= "
                 "dy[i];\n"
                 "    dx[i] = d;")),
    ],
    "unpack_float16": [
        """struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn unpack_float16(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    var i = id.x; // of y
    while (i < args.n) {
        let pair = unpack2x16float(x[i / 2]);
        y[i] = select(pair.x, pair.y, i % 2 == 1);
        i += groups.x * 64;
    }
}
""",
        Changed(("for (var i = id.x; 2 * i < args.n; i += groups.x * 64) {\n        let pair = unpack2x16float(x[i]);\n"
                 "        y[2 * i] = pair.x;",
                 "for (var i = id.x; i < arrayLength(&x); i += groups.x * 64) {\n        let pair = unpack2x16float(x[i]);\n"
                 "        y[2 * i] = unpack2x16float(x[i] & 0xffffu).x;")),
    ],
    "matmul_wgsl": [
        import_module("course_lib.coach.exercises.18.matmul_wgsl").NAIVE,
        Changed(("const SLICE = 8u;", "const SLICE = 16u;")),
    ],
}  # fmt: skip
