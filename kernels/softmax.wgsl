// Softmax over the last axis, with or without a causal mask: forward and backward. Twin of softmax.cu.
//
// Promise: y of x (rows, S); causal: row t of T sees columns 0 .. S - T + t, the others are 0 and never read. A group owns a row.
// Constants: CAUSAL.

// include "reduce.wgsl"

struct Args {
    rows: u32,
    T: u32,
    S: u32,
    lowest: f32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(THREADS)
fn softmax_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                   @builtin(local_invocation_index) lane: u32) {
    let row = group_index(group, groups);
    let inside = row < args.rows;
    let start = row * args.S;
    let seen = select(0u, select(args.S, args.S - args.T + row % args.T + 1, CAUSAL), inside);
    var m = args.lowest;
    for (var c = lane; c < seen; c += THREADS) {
        m = max(m, x[start + c]);
    }
    m = group_max(lane, m);
    var l = 0.0;
    for (var c = lane; c < seen; c += THREADS) {
        l += exp(x[start + c] - m);
    }
    l = group_sum(lane, l);
    for (var c = lane; c < select(0u, args.S, inside); c += THREADS) {
        if (c < seen) {
            y[start + c] = exp(x[start + c] - m) / l;
        } else {
            y[start + c] = 0.0;
        }
    }
}

@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read_write> dx: array<f32>;

// dx = y (dy - sum(dy y)); y is 0 where it is masked.
@compute @workgroup_size(THREADS)
fn softmax_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                    @builtin(local_invocation_index) lane: u32) {
    let row = group_index(group, groups);
    let start = row * args.S;
    let end = select(0u, args.S, row < args.rows);
    var along = 0.0;
    for (var c = lane; c < end; c += THREADS) {
        along += dy[start + c] * weights[start + c];
    }
    along = group_sum(lane, along);
    for (var c = lane; c < end; c += THREADS) {
        dx[start + c] = weights[start + c] * (dy[start + c] - along);
    }
}
