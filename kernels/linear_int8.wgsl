// A linear layer with weights of 8 bits, for a few rows, as in generation: y (n, M) = x (n, K) weight (M, K)^T + bias. Twin of
// linear_int8.cu.
//
// Promise: a group owns OUTPUTS outputs of one row; LANES threads share the words of one and add up in workgroup memory, in order.
// Constant: BIAS, whether there is one. Codes of a word: the first in the lowest bits, each with a sign.

// region linear_int8
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
@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

var<workgroup> parts: array<f32, OUTPUTS * LANES>;

// The products of the four codes of a word with four numbers of x.
fn dot_word(word: u32, start: u32, count: u32) -> f32 {
    var sum = 0.0;
    for (var i = 0u; i < count; i++) {
        sum += f32(extractBits(bitcast<i32>(word), 8 * i, 8)) * x[start + i];
    }
    return sum;
}

@compute @workgroup_size(OUTPUTS * LANES)
fn linear_int8(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let m = group.x * OUTPUTS + thread / LANES;
    let row = group.y + args.first;
    var sum = 0.0;
    if (m < args.M) {
        let line = (args.K + 3) / 4;
        for (var w = thread % LANES; w < line; w += LANES) {
            sum += dot_word(words[m * line + w], row * args.K + 4 * w, min(4, args.K - 4 * w));
        }
    }
    parts[thread] = sum;
    workgroupBarrier();
    if (thread % LANES == 0 && m < args.M) {
        var total = 0.0;
        for (var lane = 0u; lane < LANES; lane++) {
            total += parts[thread + lane];
        }
        total *= scales[m];
        if (BIAS) {
            total += bias[m];
        }
        y[row * args.M + m] = total;
    }
}
// endregion
