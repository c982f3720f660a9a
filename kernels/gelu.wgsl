// GELU, tanh form: forward and backward. Twin of gelu.cu.
//
// Promise: y = gelu(x) elementwise, and dx = dy gelu'(x).

// include "group.wgsl"
// include "gelu.wgsl"

struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read> dy: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(THREADS)
fn gelu_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.n) {
        y[i] = gelu(x[i]);
    }
}

@compute @workgroup_size(THREADS)
fn gelu_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.n) {
        dx[i] = dy[i] * gelu_grad(x[i]);
    }
}
