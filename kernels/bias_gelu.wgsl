// Bias and GELU in one pass: the activation between the two matrices of the MLP. Forward and backward. Twin of bias_gelu.cu.
//
// Promise: y = gelu(x + bias), x (n, F); dx = dy gelu'(x + bias). dbias is the sum of the rows of dx.

// include "group.wgsl"
// include "gelu.wgsl"

struct Args {
    n: u32,
    F: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read> dy: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(THREADS)
fn bias_gelu_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                     @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.n) {
        y[i] = gelu(x[i] + bias[i % args.F]);
    }
}

@compute @workgroup_size(THREADS)
fn bias_gelu_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                      @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i < args.n) {
        dx[i] = dy[i] * gelu_grad(x[i] + bias[i % args.F]);
    }
}
