// Matrix product: y (N, M) = A (N, K) B (K, M) + bias (M), for every pair of a batch. Twin of gemm.cu.
//
// Promise: A and B are strided, so that a transposed one needs no copy; batches loop over up to 4 axes, repeated where
//   a stride is 0. A group owns a tile of TILE x TILE elements and a thread 4 x 4 of them in registers: of every slice it reads 8
//   numbers for 16 multiply-adds, from tiles that all threads load together. Edges are zeros in the tiles.
// Constants: A_ROWS and B_ROWS, whether a row is contiguous in memory (else a column), so that consecutive threads read
//   consecutive numbers; BIAS, whether there is one.

// region gemm
const TILE = 64u;
const SLICE = 16u;

struct Args {
    batch: vec4<u32>,
    a_batch: vec4<u32>,
    b_batch: vec4<u32>,
    N: u32,
    M: u32,
    K: u32,
    a_row: u32,
    a_column: u32,
    b_row: u32,
    b_column: u32,
    first: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

// One row of the slice after the other; four consecutive numbers to a vector.
var<workgroup> a_tile: array<vec4<f32>, SLICE * TILE / 4>;
var<workgroup> b_tile: array<vec4<f32>, SLICE * TILE / 4>;

fn read_a(row: u32, k: u32, offset: u32) -> f32 {
    if (row < args.N && k < args.K) {
        return a[offset + row * args.a_row + k * args.a_column];
    }
    return 0.0;
}

fn read_b(k: u32, column: u32, offset: u32) -> f32 {
    if (k < args.K && column < args.M) {
        return b[offset + k * args.b_row + column * args.b_column];
    }
    return 0.0;
}

@compute @workgroup_size(16, 16)
fn gemm(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) thread: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let matrix = group.z + args.first;
    var rest = matrix;
    var a_offset = 0u;
    var b_offset = 0u;
    for (var axis = 3; axis >= 0; axis--) {
        let at = rest % args.batch[axis];
        a_offset += at * args.a_batch[axis];
        b_offset += at * args.b_batch[axis];
        rest /= args.batch[axis];
    }
    let top = group.y * TILE;
    let left = group.x * TILE;
    // Which four numbers of a tile this thread loads, (along its 64, along the 16 of a slice): consecutive threads read
    // consecutive memory where possible. One thread writes a vec4 whole: in WGSL two threads must not write parts of one.
    let beside = vec2(lane % 16 * 4, lane / 16); // where those along the 64 are contiguous
    let behind = vec2(lane / 4 % 16 * 4, lane / 64 * 4 + lane % 4); // where those along the slice are
    let of_a = select(beside, behind, A_ROWS);
    let of_b = select(behind, beside, B_ROWS);

    var sums: array<vec4<f32>, 4>;
    for (var k = 0u; k < args.K; k += SLICE) {
        var four_a: vec4<f32>;
        var four_b: vec4<f32>;
        for (var j = 0u; j < 4; j++) {
            four_a[j] = read_a(top + of_a.x + j, k + of_a.y, a_offset);
            four_b[j] = read_b(k + of_b.y, left + of_b.x + j, b_offset);
        }
        a_tile[of_a.y * (TILE / 4) + of_a.x / 4] = four_a;
        b_tile[of_b.y * (TILE / 4) + of_b.x / 4] = four_b;
        workgroupBarrier();
        // yours: for each of the SLICE numbers: a vec4 of a_tile, a vec4 of b_tile, and 16 multiply-adds into sums
        for (var s = 0u; s < SLICE; s++) {
            let column = a_tile[s * (TILE / 4) + thread.y];
            let row = b_tile[s * (TILE / 4) + thread.x];
            sums[0] += column.x * row;
            sums[1] += column.y * row;
            sums[2] += column.z * row;
            sums[3] += column.w * row;
        }
        // end
        workgroupBarrier();
    }
    // yours: write sums to y where there is such a row and column, with the bias if BIAS
    for (var i = 0u; i < 4; i++) {
        let row = top + thread.y * 4 + i;
        for (var j = 0u; j < 4; j++) {
            let column = left + thread.x * 4 + j;
            if (row < args.N && column < args.M) {
                var value = sums[i][j];
                if (BIAS) {
                    value += bias[column];
                }
                y[(matrix * args.N + row) * args.M + column] = value;
            }
        }
    }
    // end
}
// endregion
