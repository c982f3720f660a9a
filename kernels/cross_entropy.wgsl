// Cross-entropy of logits against targets, in nats. Twin of cross_entropy.cu.
//
// Promise: losses and logsumexp of logits (n, V), the loss 0 where the target is `ignore` or no class; how many targets count; and
//   the mean over those, nan if there are none. cross_entropy_fused gives the losses, and writes dlogits for a dloss of 1 over
//   the logits. A group owns a row.

// include "reduce.wgsl"

struct Args {
    n: u32,
    V: u32,
    ignore: i32,
    lowest: f32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read_write> logits: array<f32>; // cross_entropy_fused overwrites them with dlogits
@group(0) @binding(2) var<storage, read> targets: array<i32>;
@group(0) @binding(3) var<storage, read_write> losses: array<f32>;
@group(0) @binding(4) var<storage, read_write> logsumexp: array<f32>;

// log(sum(exp(row))) by a workgroup: the maximum m, then l, the sum of exp(logit - m). Beyond the last row nothing is read.
fn row_logsumexp(lane: u32, row: u32) -> f32 {
    let start = row * args.V;
    let end = select(0u, args.V, row < args.n);
    var m = args.lowest;
    for (var c = lane; c < end; c += THREADS) {
        m = max(m, logits[start + c]);
    }
    m = group_max(lane, m);
    var l = 0.0;
    for (var c = lane; c < end; c += THREADS) {
        l += exp(logits[start + c] - m);
    }
    return m + log(group_sum(lane, l));
}

@compute @workgroup_size(THREADS)
fn cross_entropy_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                         @builtin(local_invocation_index) lane: u32) {
    let row = group_index(group, groups);
    let lse = row_logsumexp(lane, row);
    if (lane == 0 && row < args.n) {
        let target_class = targets[row];
        logsumexp[row] = lse;
        losses[row] = 0.0;
        if (target_class != args.ignore && u32(target_class) < args.V) {
            losses[row] = lse - logits[row * args.V + u32(target_class)];
        }
    }
}

@group(0) @binding(1) var<storage, read> losses_read: array<f32>;
@group(0) @binding(3) var<storage, read> count_read: array<f32>;
@group(0) @binding(3) var<storage, read_write> count: array<f32>;
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
        count[0] = found;
    }
}

@group(0) @binding(4) var<storage, read_write> row_losses: array<f32>; // the loss of each row

@compute @workgroup_size(THREADS)
fn cross_entropy_fused(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                       @builtin(local_invocation_index) lane: u32) {
    let row = group_index(group, groups);
    let lse = row_logsumexp(lane, row);
    if (row >= args.n) {
        return;
    }
    let start = row * args.V;
    let target_class = targets[row];
    let counts = target_class != args.ignore && u32(target_class) < args.V;
    if (lane == 0 && !counts) {
        row_losses[row] = 0.0;
    }
    for (var c = lane; c < args.V; c += THREADS) {
        let logit = logits[start + c];
        let one = counts && c == u32(target_class);
        if (one) { // by the thread that owns this logit, before it is gone
            row_losses[row] = lse - logit;
        }
        logits[start + c] = 0.0;
        if (counts) {
            logits[start + c] = (exp(logit - lse) - f32(one)) / max(count_read[0], 1.0);
        }
    }
}

// One group.
@compute @workgroup_size(THREADS)
fn cross_entropy_mean(@builtin(local_invocation_index) lane: u32) {
    var sum = 0.0;
    for (var i = lane; i < args.n; i += THREADS) {
        sum += losses_read[i];
    }
    sum = group_sum(lane, sum);
    if (lane == 0) {
        loss[0] = sum / count_read[0];
    }
}
