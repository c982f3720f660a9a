"""Attention that reads its keys and values as codes of 8 bits."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.devices.packing import pack_rows, unpack_rows


def cases(random):
    def case(label, P, N, H, G, d, lengths):
        M = -(-max(lengths) // N)
        tables = random.integers(0, P, (len(lengths), M)).astype(np.int32)
        pages = [pack_rows(random.normal(size=(P, N, G, d))) for _ in range(2)]
        q = random.normal(size=(len(lengths), H, d)).astype(np.float32)
        return Case(label, q, *pages, tables, np.array(lengths, np.int32) - 1)

    yield case("one row of four numbers", 1, 1, 1, 1, 4, (1,))
    yield case("five numbers", 2, 2, 1, 1, 5, (3,))
    yield case("heads that share", 5, 4, 4, 2, 12, (9, 2))
    yield case("32 numbers, three texts", 9, 8, 2, 2, 32, (17, 1, 30))


def attended(q, k_pages, v_pages, tables, positions, unpack=unpack_rows):
    (R, H, d), G = q.shape, k_pages.shape[2]
    y = np.zeros(q.shape)
    for r in range(R):
        S = positions[r] + 1
        k, v = (unpack(pages, d)[tables[r]].reshape(-1, G, d)[:S].astype(float) for pages in (k_pages, v_pages))
        for h in range(H):
            scores = k[:, h // (H // G)] @ q[r, h] / np.sqrt(d)
            p = np.exp(scores - scores.max())
            y[r, h] = p @ v[:, h // (H // G)] / p.sum()
    return y.astype(np.float32)


def without_sign(words, d):
    found = unpack_rows(words, d)
    scale = np.ascontiguousarray(words[..., -1:]).view(np.float32)
    return np.where(found < 0, found + 256 * scale, found)


def without_scale(words, d):
    return unpack_rows(words, d) / np.ascontiguousarray(words[..., -1:]).view(np.float32)


def from_the_top(words, d):
    return unpack_rows(np.concatenate([words[..., :-1].byteswap(), words[..., -1:]], axis=-1), d)


def launch(kernel, q, k_pages, v_pages, tables, positions):
    (R, H, d), (_, N, G, _) = q.shape, k_pages.shape
    y = cuda.empty(q.shape)
    given = [cuda.asarray(x) for x in (q, k_pages, v_pages, tables, positions)]
    kernel.instance("32")((H, R), 128, (*given, y, tables.shape[1], N, H, G, d, float(d**-0.5)))
    return y


NUMBER = "scale * (signed char)(words[i / 4] >> 8 * (i % 4))"

exercise = Exercise(
    title="Attention over 8 bits",
    minutes=6,
    core=False,
    language="cuda",
    defines="paged_attention_int8",
    instances=("32",),
    target="kernel:paged_attention.cu",
    cases=cases,
    reference=attended,
    call=launch,
    hints=(
        "Number i of a row is in word i / 4. Which of the four bytes is it?",
        "Byte i % 4, counted from the lowest bits: shift the word down by 8 * (i % 4), and keep 8 bits, with their sign.",
        "A cast to signed char keeps the lowest 8 bits and takes the highest of them as the sign. Then multiply by scale.",
    ),
    example='''// Number i of halves of words, with a sign and without a scale.
struct Halves {
    const unsigned* words;
    __device__ int operator[](int i) const { return (short)(words[i / 2] >> 16 * (i % 2)); }
};
''',
    wrong=[
        Wrong(Changed((NUMBER, "scale * (words[i / 4] >> 8 * (i % 4) & 255)")),
              "Negative codes come out as 129 to 255: a byte has a sign here, which a cast to signed char reads.",
              like=lambda *inputs: attended(*inputs, without_sign)),
        Wrong(Changed((NUMBER, "(float)(signed char)(words[i / 4] >> 8 * (i % 4))")),
              "The codes are right, and nothing multiplies them: a number is its code times the scale of its row.",
              like=lambda *inputs: attended(*inputs, without_scale)),
        Wrong(Changed((NUMBER, "scale * (signed char)(words[i / 4] >> 8 * (3 - i % 4))")),
              "The codes of a word are read from the highest bits down. The first is in the lowest.",
              like=lambda *inputs: attended(*inputs, from_the_top)),
    ],
)  # fmt: skip
