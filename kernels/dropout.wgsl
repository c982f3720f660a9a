// Dropout (Srivastava et al. 2014) without a stored mask: forward, and backward with the same call. Twin of dropout.cu.
//
// Promise: element i is kept and multiplied by `scale` if its random word is at least `threshold`, else 0. A thread owns the four
//   elements of one draw. random: seed low, seed high, step.

// include "group.wgsl"
// include "philox.wgsl"

struct Args {
    threshold: u32,
    scale: f32,
    site: u32,
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> random: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(THREADS)
fn dropout(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
           @builtin(local_invocation_index) lane: u32) {
    let draw = element_index(group, groups, lane);
    let words = philox(vec4(draw, 0u, random[2], args.site), vec2(random[0], random[1]));
    for (var j = 0u; j < 4; j++) {
        let i = 4 * draw + j;
        if (i < args.n) {
            y[i] = select(0.0, x[i] * args.scale, words[j] >= args.threshold);
        }
    }
}
