"""A swizzle: where the chunks of a row are stored, so that eight lanes that read a column use different banks."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates


def cases(random):
    yield Case("numbered chunks", np.arange(1024, dtype=np.uint32))
    yield Case("any bits", random.integers(0, 2**32, size=1024, dtype=np.uint32))


def launch(kernel, x):
    y = cuda.empty((1024,), np.uint32)
    kernel(1, 32, (cuda.asarray(x), y))
    return y


exercise = Exercise(
    title="A swizzle",
    minutes=10,
    core=False,
    language="cuda",
    defines="swizzled_columns",
    cases=cases,
    reference=lambda x: np.ascontiguousarray(x.reshape(32, 8, 4).swapaxes(0, 1)).reshape(-1),
    call=launch,
    measured="any bits",
    goals=rates(1.1 * 8 * 1024, wavefronts=4.0),
    hints=(
        "A row is 128 bytes long, so the same index in all rows lies in the same four banks. Eight rows should store "
        "their chunk p at eight different indices.",
        "The index must depend on the row, and for each row it must be a permutation of 0 ... 7. Rotation by the number "
        "of the row is one; the lecture has another.",
        "return chunk ^ (row % 8);",
    ),
    example='''// Eight rows of eight numbers, each row rotated by its own number, so that a column lies in eight banks.
__device__ int moved(int row, int column) {
    return (column + row) % 8;
}
''',
    wrong=[
        Wrong(Changed(("chunk ^ (row % 8)", "row % 8")),
              "Two chunks of a row are stored at one index, so one of them is lost: within a row, eight chunks need eight "
              "indices.",
              when=lambda seen: any(i.kind == "race" and "__shared__" in i.message for i in seen.issues)
                  or (not seen.issues and seen.got is not None and len(np.unique(seen.got)) < len(np.unique(seen.inputs[0])))),
        Wrong(Changed(("chunk ^ (row % 8)", "chunk + row % 8")),
              "An index is larger than 7 or below 0: it lies outside of its row.",
              when=lambda seen: "out-of-bounds" in seen.kinds),
        Wrong(Changed(("chunk ^ (row % 8)", "7 - chunk")), generic="not reached: wavefronts"),
    ],
)  # fmt: skip
