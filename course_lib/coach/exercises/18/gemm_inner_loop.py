"""The inner loop of every product on WebGPU: 4 x 4 numbers in registers from two vec4 of workgroup memory."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Wrong
from course_lib.coach.shaders import elements
from course_lib.coach.shared_cases import two_writers, unwritten

FORWARD = "A_ROWS=True, B_ROWS=False, BIAS=True"  # y = x weight^T + bias
BATCH = "two products in one launch"
WEIGHTS = "A_ROWS=False, B_ROWS=True, BIAS=False"  # dweight = dy^T x


def cases(random):
    for label, N, K, M, kind in (("one number", 1, 1, 1, FORWARD), ("2 x 3 times 3 x 2", 2, 3, 2, FORWARD),
                                 ("a tile minus a row and a column", 63, 17, 63, FORWARD),
                                 ("four tiles, ragged", 70, 33, 65, WEIGHTS), ("two tiles and a bias", 3, 5, 70, FORWARD),
                                 ("one tile", 64, 32, 64, FORWARD),
                                 (BATCH, 5, 3, 4, FORWARD)):  # fmt: skip
        batch = (2,) if label == BATCH else ()
        a, b = (random.normal(size=(*batch, *shape)).astype(np.float32) for shape in ((N, K), (K, M)))
        yield Case(label, a, b, random.normal(1, 1, size=M).astype(np.float32), kind)


def launch(kernel, a, b, bias, kind):
    (*batch, N, K), M = a.shape, b.shape[-1]
    A = a if kind == FORWARD else np.ascontiguousarray(a.swapaxes(-1, -2))
    B = b if kind == WEIGHTS else np.ascontiguousarray(b.swapaxes(-1, -2))
    y = unwritten((*batch, N, M))
    count = batch[0] if batch else 1
    first = 1 if batch else 0  # one matrix of the batch was multiplied by an earlier launch
    A, B, y = (np.concatenate([np.zeros_like(x[:first]), x]) if batch else x for x in (A, B, y))
    kernel.instance(kind)(
        (-(-M // 64), -(-N // 64), count), a=A, b=B, bias=bias, y=y, batch=(1, 1, 1, first + count), a_batch=(0, 0, 0, N * K),
        b_batch=(0, 0, 0, K * M), N=N, M=M,
        K=K, a_row=K if kind == FORWARD else 1, a_column=1 if kind == FORWARD else N, b_row=M if kind == WEIGHTS else 1,
        b_column=1 if kind == WEIGHTS else K,
        first=first,
    )  # fmt: skip
    return y[first:] if batch else y


def product(a, b, bias, kind):
    return a.astype(np.float64) @ b + (bias if kind == FORWARD else 0)


def placed(change):
    """A wrong product: `change` is applied to each thread's 4 x 4 numbers."""

    def wrong(a, b, bias, kind):
        if a.ndim == 3:
            return np.stack([wrong(one, other, bias, kind) for one, other in zip(a, b, strict=True)])
        (N, _), M = a.shape, b.shape[1]
        whole = np.zeros((-(-N // 64) * 64, -(-M // 64) * 64))
        whole[:N, :M] = a.astype(np.float64) @ b
        for i in range(0, len(whole), 4):
            for j in range(0, whole.shape[1], 4):
                whole[i : i + 4, j : j + 4] = change(whole[i : i + 4, j : j + 4])
        return whole[:N, :M] + (bias if kind == FORWARD else 0)

    return wrong


def last_slice(a, b, bias, kind):
    k = (a.shape[-1] - 1) // 16 * 16
    return product(a[..., k:], b[..., k:, :], bias, kind)


def crossed(a, b, bias, kind):
    """The 4 x 4 numbers of each thread, written as if thread.x counted rows."""
    if a.ndim == 3:
        return np.stack([crossed(one, other, bias, kind) for one, other in zip(a, b, strict=True)])
    (N, _), M = a.shape, b.shape[1]
    whole = np.zeros((-(-N // 64) * 64, -(-M // 64) * 64))
    whole[:N, :M] = a.astype(np.float64) @ b
    exchanged = whole.reshape(len(whole) // 64, 16, 4, -1, 16, 4).transpose(0, 4, 2, 3, 1, 5).reshape(whole.shape)
    return exchanged[:N, :M] + (bias if kind == FORWARD else 0)


def last_product(a, b, bias, kind):
    """The result of sums[i] = ... in place of +=: number 15 of the last slice, 0 if it is beyond K."""
    k = (a.shape[-1] - 1) // 16 * 16 + 15
    return product(a[..., k : k + 1], b[..., k : k + 1, :], bias, kind)


exercise = Exercise(
    title="The inner loop of every product",
    minutes=20,
    language="wgsl",
    seconds=30,
    defines="gemm",
    instances=(FORWARD, WEIGHTS),
    target="wgsl:gemm.wgsl",
    cases=cases,
    reference=product,
    call=launch,
    tolerance=1e-4,
    measured="one tile",
    goals=[Goal("elements read from workgroup memory", elements("read", "workgroup"), at_most=2 * 256 * 32)],
    hints=(
        "Of A you need the rows from 4 thread.y on: vec4 number thread.y of number s. Of B the columns from 4 thread.x on.",
        "let column = a_tile[s * (TILE / 4) + thread.y]; and row = b_tile[s * (TILE / 4) + thread.x]; then each of column.x, .y, "
        ".z, .w times row.",
        "sums[0] += column.x * row; and so on to sums[3]. At the end two loops, i and j: row = top + thread.y * 4 + i, column "
        "= left + thread.x * 4 + j, and y[(matrix * args.N + row) * args.M + column] = sums[i][j], plus bias[column] if "
        "BIAS, where both are within bounds.",
    ),
    example="""// Four products at once: each vec4 of a times its own first number, added to y.
struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(64)
fn add_products(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < args.n) {
        let four = a[id.x];
        y[id.x] += four.x * four;  // one number times a vec4
    }
}
""",
    wrong=[
        Wrong(Changed(("top + thread.y * 4 + i", "top + thread.y + i"), ("left + thread.x * 4 + j", "left + thread.x + j")),
              "Two threads write the same number of y. Each owns 4 x 4 numbers: its rows begin at top + thread.y * 4, its "
              "columns at left + thread.x * 4.",
              when=lambda seen: seen.label not in (BATCH, "four tiles, ragged") and two_writers(seen)),
        Wrong(Changed(("(matrix * args.N + row) * args.M", "row * args.M")),
              "Both products are written to the same addresses. Matrix number `matrix` of y begins at matrix * args.N * "
              "args.M.",
              when=lambda seen: seen.label == BATCH and np.isnan(seen.got).all(),
              once="which matrices were written, and which were not"),
        Wrong(Changed(("(matrix * args.N + row) * args.M", "(group.z * args.N + row) * args.M")),
              "A launch may begin in the middle of a batch. Number its matrices by `matrix`, which counts from args.first, "
              "not by group.z.",
              when=lambda seen: seen.label == BATCH and np.isnan(seen.got[1]).all() and not np.isnan(seen.got[0]).any(),
              once="as above"),
        Wrong(Changed(("(matrix * args.N + row) * args.M", "(matrix * args.N + row) * args.N")),
              "y is (N, M): there are args.N rows and args.M columns, so a row of y has args.M numbers. You have exchanged two "
              "of these.",
              when=lambda seen: seen.label == "four tiles, ragged"
                  and any(i.kind == "out-of-bounds" and "`y[" in i.message for i in seen.issues)),
        Wrong(Changed(("if (row < args.N && column < args.M) {", "if (row < args.N) {")),
              "The tile extends beyond the edge of y, and you write out of bounds. Write only where row < args.N and column < "
              "args.M.",
              when=lambda seen: any(i.kind == "out-of-bounds" and "`y[" in i.message for i in seen.issues)
                  or any(i.kind == "race" and "`y[" in i.message for i in seen.issues)),
        Wrong(Changed(("                if (BIAS) {\n                    value += bias[column];\n                }\n", "")),
              "The bias is missing. If BIAS is true, column c gets bias[c].",
              when=lambda seen: seen.inputs[3] == FORWARD and np.allclose(seen.got + seen.inputs[2], seen.expected, atol=1e-4)),
        Wrong(Changed(("if (BIAS) {", "if (true) {")), "The bias is added though BIAS is false here.",
              like=lambda a, b, bias, kind: product(a, b, bias, FORWARD)),
        Wrong(Changed(("value += bias[column];", "value += bias[row];")),
              "The bias is indexed by the row. Each column has one: bias[column].",
              when=lambda seen: None if seen.inputs[3] != FORWARD or seen.got.shape[-1] != seen.got.shape[-2]
                  else np.allclose(seen.got, seen.expected - seen.inputs[2] + seen.inputs[2][:, None], atol=1e-4)),
        Wrong(Changed(("value += bias[column];", "value += bias[thread.x * 4 + j];")),
              "The bias is right in the first tile of a row only. `column` counts from the left edge of y: bias[column].",
              like=lambda a, b, bias, kind: product(a, b, bias[np.arange(len(bias)) % 64], kind)),
        Wrong(Changed(("thread.y * 4 + i", "thread.x * 4 + i"), ("thread.x * 4 + j", "thread.y * 4 + j")),
              "The 4 x 4 numbers of thread (x, y) are written where those of thread (y, x) belong: thread.y counts rows, of "
              "a_tile and of y, and thread.x columns, of b_tile and of y.", like=crossed),
        Wrong(Changed(("sums[0] += ", "sums[0] = "), ("sums[1] += ", "sums[1] = "), ("sums[2] += ", "sums[2] = "),
                      ("sums[3] += ", "sums[3] = ")),
              "Each product overwrites the previous ones. Add it to them: sums[i] += ...", like=last_product),
        Wrong(Changed(("sums[0] += column.x * row;", "sums[0] += row.x * column;"), ("sums[1] += column.y * row;",
                       "sums[1] += row.y * column;"), ("sums[2] += column.z * row;", "sums[2] += row.z * column;"),
                      ("sums[3] += column.w * row;", "sums[3] += row.w * column;")),
              "The 4 x 4 numbers of each thread are transposed: sums[i] is row i, so it needs component i of A's vec4, times "
              "the whole vec4 of B.", like=placed(lambda piece: piece.T)),
        Wrong(Changed(("        for (var s = 0u; s < SLICE; s++) {", "        sums = array<vec4<f32>, 4>();\n"
                                                                    "        for (var s = 0u; s < SLICE; s++) {")),
              "The sums are reset at each slice: only the last 16 numbers along K count. `sums` must accumulate over all "
              "slices.",
              like=last_slice),
        Wrong(Changed(("let column = a_tile[s * (TILE / 4) + thread.y];", "let column = a_tile[thread.y];"),
                      ("let row = b_tile[s * (TILE / 4) + thread.x];", "let row = b_tile[thread.x];\n            if (s > 0) {\n"
                       "                continue;\n            }")),
              "Only number 0 of each slice is read. Number s begins at vec4 s * (TILE / 4).",
              like=lambda a, b, bias, kind: product(a[..., ::16], b[..., ::16, :], bias, kind)),
        Wrong(Changed(("            sums[0] += column.x * row;", "            sums[0] += a_tile[s * (TILE / 4) + thread.y].x * "
                                                                 "row;")),
              "The results are right, but the tiles are read too often. For each s read one vec4 of each, name both with "
              "`let`, and compute 16 multiply-adds from them.",
              when=lambda seen: not seen.failing.difference
                  and any(line.space == "workgroup" and line.op == "read" for r in seen.reports for line in r.lines)
                  and sum(r.elements("workgroup", "read") for r in seen.reports) > 2 * 256 * 32),
    ],
)  # fmt: skip
