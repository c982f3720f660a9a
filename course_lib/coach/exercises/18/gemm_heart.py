"""The inner loop of every product on WebGPU: 4 x 4 numbers in registers from two vec4 of workgroup memory."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Goal, Mistake, Wrong
from course_lib.coach.shaders import elements

FORWARD = "A_ROWS=True, B_ROWS=False, BIAS=True"  # y = x weight^T + bias
WEIGHTS = "A_ROWS=False, B_ROWS=True, BIAS=False"  # dweight = dy^T x


def cases(random):
    for label, N, K, M, kind in (("one number", 1, 1, 1, FORWARD), ("2 x 3 times 3 x 2", 2, 3, 2, FORWARD),
                                 ("a tile less a row and a column", 63, 17, 63, FORWARD),
                                 ("four tiles, ragged", 70, 33, 65, WEIGHTS), ("one tile", 64, 32, 64, FORWARD)):  # fmt: skip
        a, b = random.normal(size=(N, K)).astype(np.float32), random.normal(size=(K, M)).astype(np.float32)
        yield Case(label, a, b, random.normal(1, 1, size=M).astype(np.float32), kind)


def launch(kernel, a, b, bias, kind):
    (N, K), M = a.shape, b.shape[1]
    A = a if kind == FORWARD else np.ascontiguousarray(a.T)
    B = b if kind == WEIGHTS else np.ascontiguousarray(b.T)
    y = np.full((N, M), np.nan, np.float32)
    kernel.instance(kind)(
        (-(-M // 64), -(-N // 64), 1), a=A, b=B, bias=bias, y=y, batch=(1,) * 4, a_batch=(0,) * 4, b_batch=(0,) * 4, N=N, M=M,
        K=K, a_row=K if A is a else 1, a_column=1 if A is a else N, b_row=M if B is b else 1, b_column=1 if B is b else K,
        first=0,
    )  # fmt: skip
    return y


def product(a, b, bias, kind):
    return a.astype(np.float64) @ b + (bias if kind == FORWARD else 0)


def placed(change):
    """A wrong product: what each 4 x 4 piece of a tile looks like."""

    def wrong(a, b, bias, kind):
        (N, _), M = a.shape, b.shape[1]
        whole = np.zeros((-(-N // 64) * 64, -(-M // 64) * 64))
        whole[:N, :M] = a.astype(np.float64) @ b
        for i in range(0, len(whole), 4):
            for j in range(0, whole.shape[1], 4):
                whole[i : i + 4, j : j + 4] = change(whole[i : i + 4, j : j + 4])
        return whole[:N, :M] + (bias if kind == FORWARD else 0)

    return wrong


def last_slice(a, b, bias, kind):
    k = (a.shape[1] - 1) // 16 * 16
    return product(a[:, k:], b[k:], bias, kind)


exercise = Exercise(
    title="The heart of every product",
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
    mistakes=[
        Mistake("A thread's numbers lie 4 apart: its rows begin at top + thread.y * 4, its columns at left + thread.x * 4.",
                when=lambda seen: "race" in seen.kinds and "* 4" not in seen.text.split("workgroupBarrier();")[-1]),
        Mistake("The tile hangs over the edge, and you write there. Only where row < args.N and column < args.M is there a "
                "place.",
                when=lambda seen: any(i.kind == "out-of-bounds" and "`y[" in i.message for i in seen.issues)
                or any(i.kind == "race" and "`y[" in i.message for i in seen.issues)),
        Mistake("The bias is missing. Where BIAS is true, column c gets bias[c].",
                when=lambda seen: seen.inputs[3] == FORWARD and np.allclose(seen.got + seen.inputs[2], seen.expected, atol=1e-4)),
        Mistake("The bias is that of the row. It belongs to the column: bias[column].",
                when=lambda seen: "bias[row]" in seen.text and seen.inputs[3] == FORWARD),
        Mistake("Each 4 x 4 piece is transposed: sums[i] is row i, so it takes component i of A's vec4, times the whole vec4 of "
                "B.",
                like=placed(lambda piece: piece.T)),
        Mistake("Each slice begins anew: only the last 16 numbers along K are in the sum. `sums` goes on from slice to slice.",
                like=last_slice),
        Mistake("Only number 0 of each slice is taken. Number s lies TILE / 4 vec4 further on.",
                like=lambda a, b, bias, kind: product(a[:, ::16], b[::16], bias, kind)),
        Mistake("The results are right, but the tiles are read too often. Read one vec4 of each for each s, keep both in `let`, "
                "and "
                "make 16 multiply-adds of them.",
                when=lambda seen: not seen.failing.difference
                and any(line.space == "workgroup" and line.op == "read" for r in seen.reports for line in r.lines)
                and sum(r.elements("workgroup", "read") for r in seen.reports) > 2 * 256 * 32),
    ],
    hints=(
        "Of A you need rows 4 thread.y and on: vec4 number thread.y of slice s. Of B columns 4 thread.x and on.",
        "let column = a_tile[s * (TILE / 4) + thread.y]; and row = b_tile[s * (TILE / 4) + thread.x]; then each of column.x, .y, "
        ".z, .w times row.",
        "sums[0] += column.x * row; and so on to sums[3]. At the end two loops, i and j: row = top + thread.y * 4 + i, column = "
        "left + thread.x * 4 + j, and y[(matrix * args.N + row) * args.M + column] = sums[i][j] where both are inside.",
    ),
    sibling="""// The sum of four products at once: y[i] = a[i] * b, for four neighbours by one instruction.
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
    right=[
        Changed(("            sums[0] += column.x * row;\n            sums[1] += column.y * row;\n            sums[2] += "
                 "column.z * row;\n"
                 "            sums[3] += column.w * row;",
                 "            for (var i = 0u; i < 4; i++) {\n                sums[i] = fma(vec4(column[i]), row, sums[i]);\n"
                 "            }"),
                ("        let row = top + thread.y * 4 + i;\n        for", "        let row = top + thread.y * 4 + i;\n"
                 "        if (row >= args.N) {\n            break;\n        }\n        for")),
        Changed(("            let row = b_tile[s * (TILE / 4) + thread.x];\n            sums[0] += column.x * row;\n"
                 "            sums[1] += column.y * row;\n            sums[2] += column.z * row;\n            sums[3] += "
                 "column.w * row;",
                 "            let row = b_tile[s * (TILE / 4) + thread.x];\n            for (var i = 0u; i < 4; i++) {\n"
                 "                for (var j = 0u; j < 4; j++) {\n                    sums[i][j] += column[i] * row[j];\n"
                 "                }\n            }")),
    ],
    wrong=[
        Wrong(Changed(("if (row < args.N && column < args.M) {", "if (row < args.N) {")), "hangs over the edge"),
        Wrong(Changed(("                if (BIAS) {\n                    value += bias[column];\n                }\n", "")),
              "The bias is missing"),
        Wrong(Changed(("value += bias[column];", "value += bias[row];")), "The bias is that of the row"),
        Wrong(Changed(("sums[0] += column.x * row;", "sums[0] += row.x * column;"), ("sums[1] += column.y * row;",
                       "sums[1] += row.y * column;"), ("sums[2] += column.z * row;", "sums[2] += row.z * column;"),
                      ("sums[3] += column.w * row;", "sums[3] += row.w * column;")), "4 x 4 piece is transposed"),
        Wrong(Changed(("let column = a_tile[s * (TILE / 4) + thread.y];", "let column = a_tile[thread.y];"),
                      ("let row = b_tile[s * (TILE / 4) + thread.x];", "let row = b_tile[thread.x];\n            if (s > 0) {\n"
                       "                continue;\n            }")), "Only number 0 of each slice"),
        Wrong(Changed(("        for (var s = 0u; s < SLICE; s++) {", "        sums = array<vec4<f32>, 4>();\n"
                                                                    "        for (var s = 0u; s < SLICE; s++) {")),
              "Each slice begins anew"),
        Wrong(Changed(("            sums[0] += column.x * row;", "            sums[0] += a_tile[s * (TILE / 4) + thread.y].x * "
                                                                 "row;")),
              "read too often"),
        Wrong(Changed(("top + thread.y * 4 + i", "top + thread.y + i"), ("left + thread.x * 4 + j", "left + thread.x + j")),
              "A thread's numbers lie 4 apart"),
    ],
)  # fmt: skip
