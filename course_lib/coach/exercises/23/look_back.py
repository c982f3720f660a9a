"""Decoupled look-back: publish a value, then its flag; and look back over aggregates to the first prefix."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

EMPTY, AGGREGATE, PREFIX = range(3)
LAST = """struct Last {  // the last number that is not 0: an operator that is associative, but not commutative
    static __device__ int of(int left, int right) { return right ? right : left; }
};
"""


def cases(random):
    """x, tiles of 32 that began before this launch and their aggregates, which of them has a prefix, warps of a block, Op."""
    none = np.zeros(0, np.int32)
    yield Case("one tile", np.ones(32, np.int32), none, 0, 1, "Sum")
    yield Case("two tiles in two blocks", np.ones(64, np.int32), none, 0, 1, "Sum")
    for label, aggregates, at in (
        ("the tile before has a prefix", [5], 0),
        ("three aggregates, then a prefix", [1, 20, 300, 4000], 0),
        ("an aggregate, then a prefix", [7, 80, 900], 1),
    ):
        aggregates = np.array(aggregates, np.int32)
        yield Case(label, np.ones(32 * (len(aggregates) + 1), np.int32), aggregates, at, 1, "Sum")
    yield Case("numbers that no float holds", np.full(64, 2**24 + 1, np.int32), none, 0, 2, "Sum")
    yield Case("eight warps at once", random.integers(-9, 10, 500).astype(np.int32), none, 0, 8, "Sum")
    for label, aggregates, at in (
        ("the order matters: Op::of gives the last number that is not 0", [5, 7, 0, 9], 0),
        ("the order matters again", [5, 7, 9], 1),
    ):
        x = np.where(np.arange(32 * (len(aggregates) + 1)) % 32 < 20, 0, 3).astype(np.int32)
        yield Case(label, x, np.array(aggregates, np.int32), at, 1, "Last")


def launch(kernel, x, aggregates, prefix_at, warps, op):
    n, tiles, begun = len(x), -(-len(x) // 32), len(aggregates)
    y, partial, state = cuda.zeros(n, np.int32), np.zeros(2 * tiles, np.int32), np.zeros(1 + tiles, np.int32)
    partial[: 2 * begun : 2], state[0], state[1 : 1 + begun] = aggregates, begun, AGGREGATE
    if begun:
        partial[2 * prefix_at + 1], state[1 + prefix_at] = scanned(aggregates[: prefix_at + 1], op)[-1], PREFIX
    partial, state = cuda.asarray(partial), cuda.asarray(state)
    kernel.instance(f"1, {op}, int")(
        -(-(tiles - begun) // warps), 32 * warps, (cuda.asarray(x), y, partial, state, 0, n)
    )
    return y, partial[2 * begun + 1 :: 2], state[1 + begun :]


def scanned(x, op):
    if op == "Sum":
        return np.cumsum(x, dtype=np.int32)
    at = np.maximum.accumulate(np.where(x != 0, np.arange(len(x)), 0))
    return x[at]


def reference(x, aggregates, prefix_at, warps, op, exchanged=False):
    """exchanged: what is found further back is put on the right."""
    begun = len(aggregates)
    last = aggregates
    if begun and exchanged:
        last = np.append(aggregates[:prefix_at:-1], scanned(aggregates[: prefix_at + 1], op)[-1])
    y = scanned(np.concatenate([last, x[32 * begun :]]), op)[len(last) :]
    ends = np.minimum(np.arange(32, len(y) + 32, 32), len(y)) - 1
    return np.concatenate([np.zeros(32 * begun, np.int32), y]), y[ends], np.full(len(ends), PREFIX, np.int32)


def missed(*words):
    """A race between a write with these words and a read of another warp."""
    return lambda seen: any(
        i.kind == "race" and all(word in (i.source + i.other_source).replace(" ", "") for word in words)
        for i in seen.issues
    )


NO_PREFIX = (
    "Nothing of the first tile is added to the second, though its flag is PREFIX. The loop must reach tile 0; the "
    "prefix of tile `other` is partial[2 * other + 1]: add it, and stop."
)


def adds_nothing(seen):
    found = seen.label == "two tiles in two blocks" and not seen.issues and (seen.got[0][32:] == np.arange(1, 33)).all()
    return found and seen.got[1][1] == 32  # the prefix that is published lacks the first tile, too


exercise = Exercise(
    title="Look back",
    minutes=20,
    core=False,
    language="cuda",
    defines="scan_3_look_back",
    instances=("1, Sum, int", "1, Last, int"),
    given=LAST,
    cases=cases,
    reference=reference,
    results=("y", "the prefixes", "the flags"),
    call=launch,
    hints=(
        "To publish: partial[2 * tile] = aggregate; __threadfence(); atomicExch(&flags[tile], AGGREGATE);. The inclusive "
        "prefix goes to partial[2 * tile + 1] in the same way, with PREFIX. Between them stands a loop.",
        "for (int other = tile - 1; other >= 0;) reads the flag of `other`. EMPTY: continue, without a step. Else combine, stop "
        "at a PREFIX, and go on with other - 1 at an AGGREGATE.",
        "__threadfence(); before = Op::of(partial[2 * other + (flag == PREFIX)], before); if (flag == PREFIX) break; other--;",
    ),
    example='''// A relay: each warp waits for the one before, and adds 1 to what it was given. All numbers are 0 at first.
__global__ void relay(int* values, int* flags) {
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        int given = 0;
        if (warp > 0) {
            while (atomicAdd(&flags[warp - 1], 0) == 0) {}
            __threadfence();
            given = values[warp - 1];
        }
        values[warp] = given + 1;
        __threadfence();  // the value before its flag
        atomicExch(&flags[warp], 1);
    }
}
''',
    wrong=[
        Wrong(Changed(("        __threadfence();\n        atomicExch(&flags[tile], PREFIX);",
                       "        atomicExch(&flags[tile], PREFIX);")),
              "Another warp may see the flag and not the prefix. First write the prefix, then call __threadfence(), then write "
              "the flag.",
              when=missed("partial[2*tile+1]")),
        Wrong(Changed(("Op::of(partial[2 * other + (flag == PREFIX)], before)",
                       "Op::of(before, partial[2 * other + (flag == PREFIX)])")),
              "The earlier one stands on the left. Each tile that you come to lies before all so far: Op::of(its value, before).",
              like=lambda *case: reference(*case, exchanged=True)),
        Wrong(Changed(("            if (flag == PREFIX) break;\n", "")),
              "A prefix holds all that lies before it already. After a PREFIX, stop.",
              when=lambda seen: None if len(seen.inputs[1]) < 2 or seen.inputs[2] == 0 else
                  not seen.issues and (seen.got[0][-32:] > seen.expected[0][-32:]).all(),
              once="more is added than there is, with a prefix in between"),
        Wrong(Changed(("partial[2 * other + (flag == PREFIX)]", "partial[2 * other]")), NO_PREFIX, when=adds_nothing,
              once="the second tile's sums begin at 0, though the first tile has a prefix"),
        Wrong(Changed(("before = Op::of(partial", "if (flag == AGGREGATE) before = Op::of(partial")), NO_PREFIX,
              when=adds_nothing, also=True, once="as above"),
        Wrong(Changed(("partial[2 * other + (flag == PREFIX)]", "partial[2 * other]"), ("        if (tile > 0) {", "        {")),
              "At a PREFIX you add that tile's own aggregate, and stop: what lies before it is lost. The prefix of tile `other` "
              "is partial[2 * other + 1].",
              when=lambda seen: seen.label == "an aggregate, then a prefix" and not seen.issues
                  and (seen.expected[0] - seen.got[0] == np.repeat((0, 7), (96, 32))).all(),
              once="just the aggregate before the prefix is missing"),
        Wrong(Changed(("        partial[2 * tile + 1] = Op::of(before, aggregate);",
                       "        partial[2 * tile + 1] = aggregate;")),
              "What you publish as a prefix is the tile's own aggregate. The inclusive prefix is before and aggregate together.",
              when=lambda seen: not seen.issues and (seen.got[0] == seen.expected[0]).all()
                  and (seen.got[1] != seen.expected[1]).any() and seen.got[1][-1] == seen.inputs[0][-32:].sum(),
                  once="the published number is exactly the tile's aggregate"),
        Wrong(Changed(("            if (flag == EMPTY) continue;  // its aggregate is on its way\n",
                       "            if (flag == EMPTY) break;\n")),
              generic="most"),
    ],
)  # fmt: skip
