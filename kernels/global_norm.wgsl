// The global norm, the length of all gradients taken as one vector: what clipping compares with its limit. Twin of global_norm.cu.
//
// Promise: each array leaves the sums of its squares, 8192 elements at a time, in `partial` from `first` on; the root of their
//   sum is y. Sums of few thousand terms each, in the same order on every run: small terms are not lost beside large sums.

// include "reduce.wgsl"

const EACH = 8192u;

struct Args {
    n: u32,
    first: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> partial: array<f32>;
@group(0) @binding(1) var<storage, read> squares: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(THREADS)
fn global_norm_squares(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                       @builtin(local_invocation_index) lane: u32) {
    let own = group_index(group, groups);
    let end = min((own + 1) * EACH, args.n);
    var sum = 0.0;
    for (var i = own * EACH + lane; i < end; i += THREADS) {
        sum += x[i] * x[i];
    }
    sum = group_sum(lane, sum);
    if (lane == 0 && own * EACH < args.n) {
        partial[args.first + own] = sum;
    }
}

// One group.
@compute @workgroup_size(THREADS)
fn global_norm_root(@builtin(local_invocation_index) lane: u32) {
    var sum = 0.0;
    for (var i = lane; i < args.n; i += THREADS) {
        sum += squares[i];
    }
    sum = group_sum(lane, sum);
    if (lane == 0) {
        y[args.first] = sqrt(sum);
    }
}
