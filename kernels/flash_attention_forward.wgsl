// Flash attention, forward: softmax(q k^T / sqrt(D)) v without ever storing the score matrix. (Dao et al. 2022)
//
// Promise: y (B, T, H, D) and logsumexp (B, H, T) of q (B, T, H, D) and k, v (B, S, G, D); head h reads key-value head h G / H;
//   causal: query t sees keys 0 .. S - T + t, and no other key is read into a sum. Twin of flash_attention_forward.cu.
//   A group owns OWN queries, 8 threads each. Keys and values are streamed through workgroup memory in tiles of KEYS; each query has
//   a running maximum m and a running sum l (online softmax). A thread has every eighth number of y.
// Constants: D; KEYS, a multiple of 8; CAUSAL.

// include "flash_attention.wgsl"

const LOWEST = -3.4e38;

@group(0) @binding(4) var<storage, read_write> y: array<f32>;
@group(0) @binding(5) var<storage, read_write> logsumexp: array<f32>;

var<workgroup> q_tile: array<f32, OWN * ROW>;
var<workgroup> tile: array<f32, KEYS * ROW>; // keys, then values
var<workgroup> scores: array<f32, OWN * KEYS>;
var<workgroup> weights: array<f32, OWN * KEYS>;

@compute @workgroup_size(OWN * LANES)
fn flash_attention_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let first = group.x * OWN;
    let own = thread / LANES;
    let lane = thread % LANES;
    let t = min(first + own, args.T - 1);
    let queries = (group.z * args.T * args.H + group.y) * D; // + t H D
    let keys = keys_of(group); // + s G D
    for (var i = thread; i < OWN * D; i += OWN * LANES) {
        let row = min(first + i / D, args.T - 1);
        q_tile[i / D * ROW + i % D] = q[queries + row * args.H * D + i % D] * args.scale;
    }
    let seen = seen_by(t);
    var m = LOWEST;
    var l = 0.0;
    var result: array<f32, ITEMS>;
    for (var start = 0u; start < args.S - hidden_from(first); start += KEYS) {
        for (var i = thread; i < KEYS * D; i += OWN * LANES) {
            let key = min(start + i / D, args.S - 1);
            tile[i / D * ROW + i % D] = k[keys + key * args.G * D + i % D];
        }
        workgroupBarrier();
        for (var j = lane; j < KEYS; j += LANES) {
            var score = 0.0;
            for (var d = 0u; d < D; d++) {
                score += q_tile[own * ROW + d] * tile[j * ROW + d];
            }
            scores[own * KEYS + j] = score;
        }
        workgroupBarrier();
        for (var i = thread; i < KEYS * D; i += OWN * LANES) {
            let key = min(start + i / D, args.S - 1);
            tile[i / D * ROW + i % D] = v[keys + key * args.G * D + i % D];
        }
        let visible = min(max(seen, start) - start, KEYS);
        var new_m = m;
        for (var j = 0u; j < visible; j++) {
            new_m = max(new_m, scores[own * KEYS + j]); // a nan reaches l, if not the maximum
        }
        for (var j = lane; j < KEYS; j += LANES) {
            weights[own * KEYS + j] = exp(scores[own * KEYS + j] - new_m);
        }
        workgroupBarrier();
        let correction = exp(m - new_m);
        m = new_m;
        l *= correction;
        for (var i = 0u; i < ITEMS; i++) {
            result[i] *= correction;
        }
        for (var j = 0u; j < visible; j++) {
            let weight = weights[own * KEYS + j];
            l += weight;
            for (var i = 0u; i < ITEMS; i++) {
                result[i] += weight * tile[j * ROW + min(lane + i * LANES, D - 1)];
            }
        }
        workgroupBarrier();
    }
    if (first + own < args.T) {
        for (var i = 0u; i < ITEMS; i++) {
            let d = lane + i * LANES;
            if (d < D) {
                y[queries + t * args.H * D + d] = result[i] / l;
            }
        }
        if (lane == 0) {
            logsumexp[(group.z * args.H + group.y) * args.T + t] = m + log(l);
        }
    }
}
