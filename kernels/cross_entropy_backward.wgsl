// Cross-entropy, backward: dlogits from logits and the logsumexp that cross_entropy.wgsl kept. Twin of cross_entropy_backward.cu.
//
// Promise: dlogits = (softmax - one-hot) dloss / count; 0 in a row whose target is `ignore`. A thread owns an element.

// include "group.wgsl"

struct Args {
    n: u32,
    V: u32,
    ignore: i32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<i32>;
@group(0) @binding(3) var<storage, read> logsumexp: array<f32>;
@group(0) @binding(4) var<storage, read> dloss: array<f32>;
@group(0) @binding(5) var<storage, read> count: array<f32>;
@group(0) @binding(6) var<storage, read_write> dlogits: array<f32>;

@compute @workgroup_size(THREADS)
fn cross_entropy_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                          @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i >= args.n * args.V) {
        return;
    }
    let row = i / args.V;
    let target_class = targets[row];
    if (target_class == args.ignore) {
        dlogits[i] = 0.0;
        return;
    }
    let p = exp(logits[i] - logsumexp[row]) - f32(i % args.V == u32(target_class));
    dlogits[i] = p * (dloss[0] / max(count[0], 1.0));
}
