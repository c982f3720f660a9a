// Negative, exp, log, tanh, square root, sine and cosine, elementwise. Twin of unary.cu.
//
// Constants: OP, 0 to 6 in the order above.

// include "group.wgsl"
// include "sine.wgsl"
// include "tanh.wgsl"

struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(THREADS)
fn unary(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i >= args.n) {
        return;
    }
    switch OP {
        case 0u: { y[i] = -x[i]; }
        case 1u: { y[i] = exp(x[i]); }
        case 2u: { y[i] = log(x[i]); }
        case 3u: { y[i] = safe_tanh(x[i]); }
        case 4u: { y[i] = sqrt(x[i]); }
        case 5u: { y[i] = sine(x[i], 0.0); }
        default: { y[i] = sine(x[i], 0.5); }
    }
}
