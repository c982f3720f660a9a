// Linear recurrences, forward: gated linear attention, the gated delta rule, and the state space. Twin of linear_recurrence.cu.
//
// Promise: y (heads, T, E) of q, k (heads, T, D), v (heads, T, E), g (heads, T, D), and rate (heads, T): beta of the delta rule, or gamma
//   of the state space, which has weight and g (heads, T). states (N + 1, heads, D, E): 0 is given, n is after n chunks of CHUNK steps,
//   the last of them after all T. A thread owns a column of a head's state and keeps it in registers, step after step; STEPS steps of
//   q, k and e^g pass through workgroup memory together. Where a kind has no rate or weight, any array of T numbers a head will do.
// Constants: D; KIND, 0 gated linear attention, 1 gated delta rule, 2 state space; STEPS; CHUNK.

const COLUMNS = 32u;

struct Args {
    heads: u32,
    T: u32,
    E: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> k: array<f32>;
@group(0) @binding(3) var<storage, read> v: array<f32>;
@group(0) @binding(4) var<storage, read> g: array<f32>;
@group(0) @binding(5) var<storage, read> rate: array<f32>;
@group(0) @binding(6) var<storage, read> weight: array<f32>;
@group(0) @binding(7) var<storage, read_write> y: array<f32>;
@group(0) @binding(8) var<storage, read_write> states: array<f32>;

var<workgroup> queries: array<f32, STEPS * D>;
var<workgroup> keys: array<f32, STEPS * D>;
var<workgroup> decays: array<f32, STEPS * D>;

@compute @workgroup_size(COLUMNS)
fn linear_recurrence_forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let head = group.y;
    let column = group.x * COLUMNS + thread;
    let inside = column < args.E;
    let at = head * D * args.E + min(column, args.E - 1); // of a column in a state; + d E
    var own: array<f32, D>;
    for (var d = 0u; d < D; d++) {
        own[d] = states[at + d * args.E];
    }
    for (var start = 0u; start < args.T; start += STEPS) {
        workgroupBarrier();
        for (var i = thread; i < STEPS * D; i += COLUMNS) {
            let t = head * args.T + min(start + i / D, args.T - 1);
            queries[i] = q[t * D + i % D];
            keys[i] = k[t * D + i % D];
            decays[i] = exp(g[select(t * D + i % D, t, KIND == 2u)]);
        }
        workgroupBarrier();
        for (var step = 0u; step < min(STEPS, args.T - start); step++) {
            let t = start + step;
            let row = head * args.T + t;
            var written = v[row * args.E + min(column, args.E - 1)];
            let value = written;
            var stored = 0.0;
            var read = 0.0;
            var score = 0.0;
            for (var d = 0u; d < D; d++) {
                own[d] *= decays[step * D + d];
                if (KIND == 1u) {
                    stored += keys[step * D + d] * own[d];
                }
                if (KIND == 2u) {
                    read += queries[step * D + d] * own[d];
                    score += queries[step * D + d] * keys[step * D + d];
                }
            }
            if (KIND == 1u) {
                written = rate[row] * (value - stored);
            }
            if (KIND == 2u) {
                written = weight[row] * value;
                read += rate[row] * score * value;
            }
            for (var d = 0u; d < D; d++) {
                own[d] += keys[step * D + d] * written;
                if (KIND != 2u) {
                    read += queries[step * D + d] * own[d];
                }
            }
            if (inside) {
                y[row * args.E + column] = read;
                if ((t + 1) % CHUNK == 0 || t + 1 == args.T) {
                    let n = t / CHUNK + 1;
                    for (var d = 0u; d < D; d++) {
                        states[n * args.heads * D * args.E + at + d * args.E] = own[d];
                    }
                }
            }
        }
    }
}
