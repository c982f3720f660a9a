// SwiGLU (Shazeer 2020): silu(gate) * up, silu(z) = z sigmoid(z). Forward and backward. Twin of swiglu.cu.
//
// Promise: x (n, 2F), gate first; y (n, F).

// include "group.wgsl"
// include "tanh.wgsl"

struct Args {
    n: u32,
    F: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read> dy: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<f32>;

fn sigmoid(z: f32) -> f32 {
    // e is at most 1, so nothing overflows; both forms are the same number.
    let e = exp(-abs(z));
    return select(e, 1.0, z >= 0.0) / (1.0 + e);
}

@compute @workgroup_size(THREADS)
fn swiglu_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                  @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.n) {
        let at = i / args.F * 2 * args.F + i % args.F;
        let gate = x[at];
        y[i] = gate * sigmoid(gate) * x[at + args.F];
    }
}

@compute @workgroup_size(THREADS)
fn swiglu_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                   @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.n) {
        let at = i / args.F * 2 * args.F + i % args.F;
        let gate = x[at];
        let s = sigmoid(gate);
        dx[at] = dy[i] * x[at + args.F] * s * (1.0 + gate * (1.0 - s));
        dx[at + args.F] = dy[i] * gate * s;
    }
}
