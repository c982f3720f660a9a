// Cross-entropy of logits against targets, in nats: forward and backward. Twin of cross_entropy.cu and cross_entropy_backward.cu.
//
// Promise: losses and logsumexp of logits (n, V), 0 where the target is `ignore`; their mean over the targets that count, and how
//   many those are; dlogits = (softmax - one-hot) dloss / kept. A group owns a row.

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
        largest = larger(largest, logits[start + c]);
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
@group(0) @binding(3) var<storage, read_write> loss: array<f32>;

fn count(lane: u32) -> f32 {
    var kept = 0.0;
    for (var i = lane; i < args.n; i += THREADS) {
        kept += f32(targets[i] != args.ignore);
    }
    return group_sum(lane, kept);
}

// One group. 0 / 0, no number, if no target counts.
@compute @workgroup_size(THREADS)
fn cross_entropy_mean(@builtin(local_invocation_index) lane: u32) {
    var sum = 0.0;
    for (var i = lane; i < args.n; i += THREADS) {
        sum += of_rows[i];
    }
    sum = group_sum(lane, sum);
    let kept = count(lane);
    if (lane == 0) {
        loss[0] = sum / kept;
    }
}

@group(0) @binding(3) var<storage, read> logsumexps: array<f32>;
@group(0) @binding(4) var<storage, read> dloss: array<f32>;
@group(0) @binding(5) var<storage, read> kept: array<f32>;
@group(0) @binding(6) var<storage, read_write> dlogits: array<f32>;

// One group.
@compute @workgroup_size(THREADS)
fn cross_entropy_count(@builtin(local_invocation_index) lane: u32) {
    let found = count(lane);
    if (lane == 0) {
        loss[0] = found;
    }
}

@compute @workgroup_size(THREADS)
fn cross_entropy_backward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                          @builtin(local_invocation_index) lane: u32) {
    let i = element_index(group, groups, lane);
    if (i >= args.n * args.V) {
        return;
    }
    let row = i / args.V;
    let wanted = targets[row];
    if (wanted == args.ignore) {
        dlogits[i] = 0.0;
        return;
    }
    let share = exp(logits[i] - logsumexps[row]) - f32(i % args.V == u32(wanted));
    dlogits[i] = share * (dloss[0] / max(kept[0], 1.0));
}
