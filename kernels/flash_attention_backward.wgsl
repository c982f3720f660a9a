// Flash attention, backward: dq, dk and dv without the score matrix. (Dao et al. 2022, section 3 and appendix B)
//
// Promise: with weights = exp(score - logsumexp), delta = sum(dy y) and dscore = weight (dy . v - delta) / sqrt(D):
//   dq = dscore k, dk = dscore q, dv = weight dy. Two kernels, one that owns queries and one that owns keys, so that nothing is added
//   by two groups: no atomics. A group owns OWN rows, 8 threads each; the other side is streamed through workgroup memory in tiles
//   of TILE rows. Shapes and masks as in flash_attention_forward.wgsl. Twin of flash_attention_backward.cu.
// Constants: D; TILE, a multiple of 8; CAUSAL.

// include "group.wgsl"
// include "flash_attention.wgsl"

@group(0) @binding(4) var<storage, read> dy: array<f32>;
@group(0) @binding(5) var<storage, read> logsumexp: array<f32>;
@group(0) @binding(6) var<storage, read> delta: array<f32>;
@group(0) @binding(7) var<storage, read_write> dq: array<f32>;
@group(0) @binding(7) var<storage, read_write> dk: array<f32>;
@group(0) @binding(8) var<storage, read_write> dv: array<f32>;

// The first step: delta (B, H, T) of dy and y (B, T, H, D). A thread owns a row.
@group(0) @binding(1) var<storage, read> y: array<f32>;
@group(0) @binding(7) var<storage, read_write> deltas: array<f32>;

@compute @workgroup_size(THREADS)
fn flash_attention_delta(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                         @builtin(local_invocation_index) lane: u32) {
    let row = element_index(group, groups, lane); // (b T + t) H + h
    if (row >= arrayLength(&deltas)) {
        return;
    }
    var sum = 0.0;
    for (var d = 0u; d < D; d++) {
        sum += dy[row * D + d] * y[row * D + d];
    }
    let b = row / (args.H * args.T);
    deltas[(b * args.H + row % args.H) * args.T + row / args.H % args.T] = sum;
}

var<workgroup> first_tile: array<f32, TILE * ROW>; // keys, or queries
var<workgroup> second_tile: array<f32, TILE * ROW>; // values, or dy
var<workgroup> dscores: array<f32, OWN * TILE>;
var<workgroup> weights: array<f32, OWN * TILE>;

@compute @workgroup_size(OWN * LANES)
fn flash_attention_backward_q(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first = group.x * OWN;
    let own = thread / LANES;
    let lane = thread % LANES;
    let t = min(first + own, args.T - 1);
    let query = ((group.z * args.T + t) * args.H + group.y) * D;
    let keys = keys_of(group); // + s G D
    let row = (group.z * args.H + group.y) * args.T + t;
    let seen = seen_by(t);
    var result: array<f32, ITEMS>;
    for (var start = 0u; start < args.S - hidden_from(first); start += TILE) {
        for (var i = thread; i < TILE * D; i += OWN * LANES) {
            let at = keys + min(start + i / D, args.S - 1) * args.G * D + i % D;
            first_tile[i / D * ROW + i % D] = k[at];
            second_tile[i / D * ROW + i % D] = v[at];
        }
        workgroupBarrier();
        for (var j = lane; j < TILE; j += LANES) {
            var score = 0.0;
            var dweight = 0.0;
            for (var d = 0u; d < D; d++) {
                score += q[query + d] * first_tile[j * ROW + d];
                dweight += dy[query + d] * second_tile[j * ROW + d];
            }
            dscores[own * TILE + j] = exp(score * args.scale - logsumexp[row]) * (dweight - delta[row]) * args.scale;
        }
        workgroupBarrier();
        let visible = min(max(seen, start) - start, TILE);
        for (var j = 0u; j < visible; j++) {
            for (var i = 0u; i < ITEMS; i++) {
                result[i] += dscores[own * TILE + j] * first_tile[j * ROW + min(lane + i * LANES, D - 1)];
            }
        }
        workgroupBarrier();
    }
    for (var i = 0u; i < ITEMS; i++) {
        let d = lane + i * LANES;
        if (first + own < args.T && d < D) {
            dq[query + d] = result[i];
        }
    }
}

@compute @workgroup_size(OWN * LANES)
fn flash_attention_backward_kv(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first = group.x * OWN;
    let own = thread / LANES;
    let lane = thread % LANES;
    let s = min(first + own, args.S - 1);
    let key = ((group.z * args.S + s) * args.G + group.y) * D;
    let shared_by = args.H / args.G; // query heads that read this key-value head
    // Query t sees key s if t >= s + T - S: the first tile that has such a query for a key of this group.
    let before = select(0u, max(first + args.T, args.S) - args.S, CAUSAL);
    let from_query = select(0u, max(s + args.T, args.S) - args.S, CAUSAL);
    var result_k: array<f32, ITEMS>;
    var result_v: array<f32, ITEMS>;
    for (var head = group.y * shared_by; head < (group.y + 1) * shared_by; head++) {
        let queries = (group.z * args.T * args.H + head) * D; // + t H D
        let rows = (group.z * args.H + head) * args.T;
        for (var start = before / TILE * TILE; start < args.T; start += TILE) {
            for (var i = thread; i < TILE * D; i += OWN * LANES) {
                let at = queries + min(start + i / D, args.T - 1) * args.H * D + i % D;
                first_tile[i / D * ROW + i % D] = q[at];
                second_tile[i / D * ROW + i % D] = dy[at];
            }
            workgroupBarrier();
            for (var j = lane; j < TILE; j += LANES) {
                var score = 0.0;
                var dweight = 0.0;
                for (var d = 0u; d < D; d++) {
                    score += k[key + d] * first_tile[j * ROW + d];
                    dweight += v[key + d] * second_tile[j * ROW + d];
                }
                let row = rows + min(start + j, args.T - 1);
                let weight = exp(score * args.scale - logsumexp[row]);
                weights[own * TILE + j] = weight;
                dscores[own * TILE + j] = weight * (dweight - delta[row]) * args.scale;
            }
            workgroupBarrier();
            let end = min(args.T - start, TILE);
            for (var j = max(from_query, start) - start; j < end; j++) {
                for (var i = 0u; i < ITEMS; i++) {
                    let d = j * ROW + min(lane + i * LANES, D - 1);
                    result_k[i] += dscores[own * TILE + j] * first_tile[d];
                    result_v[i] += weights[own * TILE + j] * second_tile[d];
                }
            }
            workgroupBarrier();
        }
    }
    for (var i = 0u; i < ITEMS; i++) {
        let d = lane + i * LANES;
        if (first + own < args.S && d < D) {
            dk[key + d] = result_k[i];
            dv[key + d] = result_v[i];
        }
    }
}
