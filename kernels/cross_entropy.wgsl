// Cross-entropy of logits against targets, in nats. Twin of cross_entropy.cu.
//
// Promise: losses and logsumexp of logits (n, V), the loss 0 where the target is `ignore` or no class; how many targets count; and
//   the mean over those, no number if there are none. cross_entropy_fused gives the losses, and writes dlogits for a dloss of 1 over
//   the logits. A group owns a row.

// include "reduce.wgsl"

struct Args {
    n: u32,
    V: u32,
    ignore: i32,
    lowest: f32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<i32>;
@group(0) @binding(3) var<storage, read_write> losses: array<f32>;
@group(0) @binding(4) var<storage, read_write> logsumexp: array<f32>;

@compute @workgroup_size(THREADS)
fn cross_entropy_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                         @builtin(local_invocation_index) lane: u32) {
    let row = group_index(group, groups);
    let start = row * args.V;
    let end = select(0u, args.V, row < args.n);
    var largest = args.lowest;
    for (var c = lane; c < end; c += THREADS) {
        largest = max(largest, logits[start + c]);
    }
    largest = group_max(lane, largest);
    var sum = 0.0;
    for (var c = lane; c < end; c += THREADS) {
        sum += exp(logits[start + c] - largest);
    }
    sum = group_sum(lane, sum);
    if (lane == 0 && row < args.n) {
        let result = largest + log(sum);
        let wanted = targets[row];
        logsumexp[row] = result;
        losses[row] = 0.0;
        if (wanted != args.ignore && u32(wanted) < args.V) {
            losses[row] = result - logits[start + u32(wanted)];
        }
    }
}

@group(0) @binding(1) var<storage, read> of_rows: array<f32>;
@group(0) @binding(3) var<storage, read> counted: array<f32>;
@group(0) @binding(3) var<storage, read_write> kept: array<f32>;
@group(0) @binding(4) var<storage, read_write> loss: array<f32>;

// One group: how many targets are not ignored.
@compute @workgroup_size(THREADS)
fn cross_entropy_count(@builtin(local_invocation_index) lane: u32) {
    var found = 0.0;
    for (var i = lane; i < args.n; i += THREADS) {
        found += f32(targets[i] != args.ignore);
    }
    found = group_sum(lane, found);
    if (lane == 0) {
        kept[0] = found;
    }
}

@group(0) @binding(1) var<storage, read_write> in_place: array<f32>; // logits, then dlogits
@group(0) @binding(4) var<storage, read_write> of_each: array<f32>; // the loss of each row

@compute @workgroup_size(THREADS)
fn cross_entropy_fused(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                       @builtin(local_invocation_index) lane: u32) {
    let row = group_index(group, groups);
    let start = row * args.V;
    let end = select(0u, args.V, row < args.n);
    var largest = args.lowest;
    for (var c = lane; c < end; c += THREADS) {
        largest = max(largest, in_place[start + c]);
    }
    largest = group_max(lane, largest);
    var sum = 0.0;
    for (var c = lane; c < end; c += THREADS) {
        sum += exp(in_place[start + c] - largest);
    }
    let result = largest + log(group_sum(lane, sum));
    if (row >= args.n) {
        return;
    }
    let wanted = targets[row];
    let counts = wanted != args.ignore && u32(wanted) < args.V;
    if (lane == 0 && !counts) {
        of_each[row] = 0.0;
    }
    for (var c = lane; c < end; c += THREADS) {
        let logit = in_place[start + c];
        let one = counts && c == u32(wanted);
        if (one) { // by the thread that owns this logit, before it is gone
            of_each[row] = result - logit;
        }
        in_place[start + c] = 0.0;
        if (counts) {
            in_place[start + c] = (exp(logit - result) - f32(one)) / max(counted[0], 1.0);
        }
    }
}

// One group.
@compute @workgroup_size(THREADS)
fn cross_entropy_mean(@builtin(local_invocation_index) lane: u32) {
    var sum = 0.0;
    for (var i = lane; i < args.n; i += THREADS) {
        sum += of_rows[i];
    }
    sum = group_sum(lane, sum);
    if (lane == 0) {
        loss[0] = sum / counted[0];
    }
}
