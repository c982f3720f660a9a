// Attention of one query of each text over its rows in pages. (Kwon et al. 2023, section 4) Twin of paged_attention.cu.
//
// Promise: y (R, H, D) of q (R, H, D), text r over its rows 0 .. positions[r] of the pages (P, N, G, D) in its block table, tables (R, M).
//   A group owns a query. Rows pass in tiles of TILE: a thread makes the score of one row, then each owns numbers of the result. The
//   same bits on every run, and for a text the same whatever the others are.
// Constant: D. Limits: pages and positions inside (the launch code checks).

const TILE = 64u;
const OWN = (D + TILE - 1) / TILE; // numbers of a thread: thread, thread + TILE, ...
const LOWEST = -3.4e38;

struct Args {
    M: u32,
    N: u32,
    H: u32,
    G: u32,
    first: u32, // text of the first group
    scale: f32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> k: array<f32>;
@group(0) @binding(3) var<storage, read> v: array<f32>;
@group(0) @binding(4) var<storage, read> tables: array<i32>;
@group(0) @binding(5) var<storage, read> positions: array<i32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;

var<workgroup> scores: array<f32, TILE>;

// Where row s of text r begins, for key-value head g.
fn row_of(r: u32, s: u32, g: u32) -> u32 {
    return ((u32(tables[r * args.M + s / args.N]) * args.N + s % args.N) * args.G + g) * D;
}

@compute @workgroup_size(TILE)
fn paged_attention(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let h = group.x;
    let r = group.y + args.first;
    let g = h / (args.H / args.G);
    let query = (r * args.H + h) * D;
    let S = u32(positions[r]) + 1;
    var result: array<f32, OWN>;
    var m = LOWEST; // online softmax: the running maximum, and the running sum
    var l = 0.0;
    for (var start = 0u; start < S; start += TILE) {
        let rows = min(TILE, S - start);
        var score = LOWEST;
        if (thread < rows) {
            let at = row_of(r, start + thread, g);
            score = 0.0;
            for (var d = 0u; d < D; d++) {
                score += q[query + d] * k[at + d];
            }
            score *= args.scale;
        }
        scores[thread] = score;
        workgroupBarrier();
        var new_m = m;
        for (var j = 0u; j < rows; j++) {
            new_m = max(new_m, scores[j]);
        }
        let rescale = exp(m - new_m);
        m = new_m;
        l *= rescale;
        for (var i = 0u; i < OWN; i++) {
            result[i] *= rescale;
        }
        for (var j = 0u; j < rows; j++) {
            let p = exp(scores[j] - m);
            let at = row_of(r, start + j, g);
            l += p;
            for (var i = 0u; i < OWN; i++) {
                if (thread + i * TILE < D) {
                    result[i] += p * v[at + thread + i * TILE];
                }
            }
        }
        workgroupBarrier(); // the next tile writes to scores
    }
    for (var i = 0u; i < OWN; i++) {
        if (thread + i * TILE < D) {
            y[query + thread + i * TILE] = result[i] / l;
        }
    }
}
