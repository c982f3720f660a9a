// AdamW: one step of one parameter in place, its gradient clipped. (Loshchilov and Hutter 2019) Twin of adamw.cu.
//
// Promise: PyTorch's order, decay first. settings: learning rate, 1 - beta1^t, 1 - beta2^t. norm: the length of all gradients,
//   read if CLIP.
// Constants: CLIP.

// include "group.wgsl"

struct Args {
    n: u32,
    beta1: f32,
    rest1: f32,
    beta2: f32,
    rest2: f32,
    eps: f32,
    decay: f32,
    max_norm: f32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read_write> parameter: array<f32>;
@group(0) @binding(2) var<storage, read> gradient: array<f32>;
@group(0) @binding(3) var<storage, read_write> first: array<f32>;
@group(0) @binding(4) var<storage, read_write> second: array<f32>;
@group(0) @binding(5) var<storage, read> settings: array<f32>;
@group(0) @binding(6) var<storage, read> norm: array<f32>;

@compute @workgroup_size(THREADS)
fn adamw_step(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
              @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i >= args.n) {
        return;
    }
    var g = gradient[i];
    if (CLIP) {
        // Multiplied always, so that a norm of nan reaches every parameter.
        g *= select(args.max_norm / (norm[0] + 1e-6), 1.0, args.max_norm > norm[0] + 1e-6);
    }
    let rate = settings[0];
    let m = args.beta1 * first[i] + args.rest1 * g;
    let v = args.beta2 * second[i] + args.rest2 * g * g;
    first[i] = m;
    second[i] = v;
    parameter[i] = parameter[i] * (1.0 - rate * args.decay)
        - rate * (m / settings[1]) / (sqrt(v / settings[2]) + args.eps);
}
