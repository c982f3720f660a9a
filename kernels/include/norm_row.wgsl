// What layernorm.wgsl, residual_layernorm.wgsl and rmsnorm.wgsl share: a workgroup normalises a row of C elements; and the backward.
//
// The file that includes this says which it is: RMS, the mean counts as 0; RESIDUAL, x is x + residual, kept as total, and dtotal is
// added to dx.
// Constants: BIAS, whether there is one; DTOTAL, whether dtotal is there. An array that is not used may be any other.

// include "reduce.wgsl"

struct Args {
    rows: u32,
    C: u32,
    eps: f32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;

// forward
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read> residual: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;
@group(0) @binding(6) var<storage, read_write> statistics: array<f32>; // mean (rows), rstd (rows)
@group(0) @binding(7) var<storage, read_write> total: array<f32>;

fn element(i: u32) -> f32 {
    if (RESIDUAL) {
        return x[i] + residual[i];
    }
    return x[i];
}

fn forward(row: u32, lane: u32) {
    let start = row * args.C;
    let end = select(0u, args.C, row < args.rows);
    var mean = 0.0;
    if (!RMS) {
        var sum = 0.0;
        for (var c = lane; c < end; c += THREADS) {
            sum += element(start + c);
        }
        mean = group_sum(lane, sum) / f32(args.C);
    }
    var squares = 0.0;
    for (var c = lane; c < end; c += THREADS) {
        let centred = element(start + c) - mean;
        squares += centred * centred;
    }
    let rstd = 1.0 / sqrt(group_sum(lane, squares) / f32(args.C) + args.eps);
    for (var c = lane; c < end; c += THREADS) {
        let value = element(start + c);
        var result = (value - mean) * rstd * weight[c];
        if (BIAS) {
            result += bias[c];
        }
        y[start + c] = result;
        if (RESIDUAL) {
            total[start + c] = value;
        }
    }
    if (lane == 0 && row < args.rows) {
        statistics[row] = mean;
        statistics[args.rows + row] = rstd;
    }
}

// backward
@group(0) @binding(3) var<storage, read> dy: array<f32>;
@group(0) @binding(4) var<storage, read> means: array<f32>;
@group(0) @binding(5) var<storage, read> rstds: array<f32>;
@group(0) @binding(6) var<storage, read> dtotal: array<f32>;
@group(0) @binding(7) var<storage, read_write> dx: array<f32>;
@group(0) @binding(7) var<storage, read_write> partial: array<f32>;

fn mean_of(row: u32) -> f32 {
    if (RMS) {
        return 0.0;
    }
    return means[row];
}

// For a row: with xhat the normalised row and g = dy weight, dx = (g - mean(g) - xhat mean(g xhat)) rstd.
fn backward(row: u32, lane: u32) {
    let start = row * args.C;
    let end = select(0u, args.C, row < args.rows);
    let mean = mean_of(row);
    let rstd = rstds[row];
    var sum = 0.0;
    var along = 0.0;
    for (var c = lane; c < end; c += THREADS) {
        let g = dy[start + c] * weight[c];
        sum += g;
        along += g * (x[start + c] - mean) * rstd;
    }
    var mean_g = 0.0;
    if (!RMS) {
        mean_g = group_sum(lane, sum) / f32(args.C);
    }
    let mean_g_xhat = group_sum(lane, along) / f32(args.C);
    for (var c = lane; c < end; c += THREADS) {
        let xhat = (x[start + c] - mean) * rstd;
        var result = (dy[start + c] * weight[c] - mean_g - xhat * mean_g_xhat) * rstd;
        if (RESIDUAL && DTOTAL) {
            result += dtotal[start + c];
        }
        dx[start + c] = result;
    }
}

const PART = 64u;

// The gradients of weight and bias. A thread owns a column of PART rows: number i of (parts, C).
fn collect(i: u32) {
    let part = i / args.C;
    let c = i % args.C;
    let end = min((part + 1) * PART, args.rows);
    var along = 0.0;
    var sum = 0.0;
    for (var row = part * PART; row < end; row++) {
        let d = dy[row * args.C + c];
        sum += d;
        along += d * (x[row * args.C + c] - mean_of(row)) * rstds[row];
    }
    if (part * PART < args.rows) {
        partial[part * 2 * args.C + c] = along;
        partial[(part * 2 + 1) * args.C + c] = sum;
    }
}
