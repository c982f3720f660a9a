// A linear layer with weights of 4 bits, for a few rows, as in generation: y (n, M) = x (n, K) weight (M, K)^T + bias. Twin of
// linear_int4.cu.
//
// Promise: a group owns OUTPUTS outputs of one row; LANES threads share the words of one and add up in workgroup memory, in order.
// Constants: ZEROS and BIAS, whether there are zero points (8 otherwise) and a bias. Codes of a word: the first in the lowest bits.

// region linear_int4
const OUTPUTS = 32u;
const LANES = 8u;

struct Args {
    n: u32,
    K: u32,
    M: u32,
    first: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> words: array<u32>;
@group(0) @binding(3) var<storage, read> scales: array<f32>;
@group(0) @binding(4) var<storage, read> zeros: array<f32>;
@group(0) @binding(5) var<storage, read> bias: array<f32>;
@group(0) @binding(6) var<storage, read_write> y: array<f32>;

var<workgroup> parts: array<f32, OUTPUTS * LANES>;

// The sum of (code - zero) * x over the eight codes of a word and `count` numbers of x from `start` on.
fn dot_word(word: u32, zero: f32, start: u32, count: u32) -> f32 {
    var sum = 0.0;
    // yours: add up (code i of the word - zero) * x[start + i] for the first `count` of the eight
    for (var i = 0u; i < count; i++) {
        sum += (f32((word >> (4 * i)) & 15) - zero) * x[start + i];
    }
    // end
    return sum;
}

@compute @workgroup_size(OUTPUTS * LANES)
fn linear_int4(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let m = group.x * OUTPUTS + thread / LANES;
    let row = group.y + args.first;
    var sum = 0.0;
    if (m < args.M) {
        let groups = (args.K + 31) / 32;
        for (var w = thread % LANES; w < groups * 4; w += LANES) {
            let at = m * groups + w / 4;
            var zero = 8.0;
            if (ZEROS) {
                zero = zeros[at];
            }
            let count = min(8, max(args.K, 8 * w) - 8 * w); // the last group may go beyond K
            sum += scales[at] * dot_word(words[m * groups * 4 + w], zero, row * args.K + 8 * w, count);
        }
    }
    parts[thread] = sum;
    workgroupBarrier();
    if (thread % LANES == 0 && m < args.M) {
        var total = 0.0;
        for (var lane = 0u; lane < LANES; lane++) {
            total += parts[thread + lane];
        }
        if (BIAS) {
            total += bias[m];
        }
        y[row * args.M + m] = total;
    }
}
// endregion
