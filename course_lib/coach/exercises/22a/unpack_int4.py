"""Codes of 4 bits out of words, in WGSL."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import beyond, unwritten
from course_lib.devices.packing import pack_int4

GROUP, THREADS = 32, 64


def cases(random):
    for label, groups in (("one group", 1), ("two groups", 2), ("16 groups", 16), ("33 groups", 33)):
        codes = random.integers(0, 16, (1, GROUP * groups), dtype=np.uint8)
        codes[0, :2] = 15, 0
        yield Case(label, codes, random.uniform(0.1, 2, groups).astype(np.float32))


def weights(codes, scales, zero=8):
    return ((codes[0].astype(np.float32) - zero) * np.repeat(scales, GROUP)).astype(np.float32)


def backwards(codes, scales):
    return weights(codes.reshape(-1, 8)[:, ::-1].reshape(1, -1), scales)


def with_the_next(codes, scales):
    words = codes.reshape(-1, 8).astype(float)
    words[:, :-1] += 16.0 * codes.reshape(-1, 8)[:, 1:]
    return weights(words.reshape(1, -1), scales)


def unsigned(codes, scales):
    """A code below 8, less 8 as a u32, is beyond 4 billion."""
    wrapped = codes[0].astype(np.uint32) - np.uint32(8)
    return (wrapped.astype(np.float32) * np.repeat(scales, GROUP)).astype(np.float32)


def launch(kernel, codes, scales):
    words = pack_int4(codes)[0]  # (n / 8,)
    y = unwritten(codes.size)
    kernel(-(-words.size // THREADS), words=words, scales=scales, y=y, n=words.size)
    return y


exercise = Exercise(
    title="Unpack 4 bits, in WGSL",
    minutes=12,
    language="wgsl",
    seconds=30,
    defines="unpack_int4",
    cases=cases,
    reference=weights,
    call=launch,
    hints=(
        "Thread i owns word i, and so the weights 8 i .. 8 i + 7. All eight lie in one group: four words make a group.",
        "(word >> (4 * j)) & 15u is code j. f32() makes a float of it; then subtract 8.0.",
        "if (i < args.n) { for (var j = 0u; j < 8; j++) { y[8 * i + j] = scales[i / 4] * (f32((words[i] >> (4 * j)) & "
        "15u) - 8.0); } }",
    ),
    example="""// Bits of a word, as floats 0 and 1: 32 for each thread.
struct Args {
    n: u32,
}
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn unpack_bits(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if (i < args.n) {
        for (var j = 0u; j < 32; j++) {
            y[32 * i + j] = f32((words[i] >> j) & 1u);
        }
    }
}
""",
    wrong=[
        Wrong(Changed((" - 8.0", "")),
              "A code c stands for scale * (c - 8): all your weights are 8 steps too large.",
              like=lambda codes, scales: weights(codes, scales, zero=0)),
        Wrong(Changed(("f32((words[i] >> (4 * j)) & 15u)", "(words[i] >> (4 * j)) & 15u"), ("(code - 8.0)", "f32(code - 8)")),
              "A u32 has no negative numbers: a code below 8, minus 8, wraps around to over 4 billion. Make a float of the code "
              "first, then subtract 8.0.", like=unsigned),
        Wrong(Changed(("(4 * j)", "(28 - 4 * j)")),
              "The codes of each word come out backwards: the first is in the lowest four bits.", like=backwards),
        Wrong(Changed(("scales[i / 4]", "scales[i / 32]")),
              "i counts words, and a word holds eight weights: 32 weights are 4 words, so the group is i / 4.",
              like=lambda codes, scales: weights(codes, scales[np.arange(len(scales)) // 8])),
        Wrong(Changed(("& 15u", "& 255u")), "15 keeps the four bits of one code; 255 keeps those of the next one too.",
              like=with_the_next),
        Wrong(Changed(("    if (i < args.n) {", "    if (i <= args.n) {")),
              "Thread n has no word. A thread computes only if i < args.n.",
              when=lambda seen: beyond(seen, seen.inputs[0].size // 8, 64)),
    ],
)  # fmt: skip
