"""Partial sums: each block adds its own rows, and writes a row of its own, so that no atomic is needed."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, blocks, rows, C in (("a block for each row", 2, 2, 3), ("one block", 1, 4, 2),
                                   ("five rows for two blocks", 2, 5, 3), ("more blocks than rows", 4, 3, 64),
                                   ("two rows for each of three blocks", 3, 6, 2)):  # fmt: skip
        yield Case(label, (0.5 + random.integers(-9, 10, size=(rows, C))).astype(np.float32), blocks)


def launch(kernel, dy, blocks):
    rows, C = dy.shape
    partial = cuda.empty((blocks, C))
    kernel(blocks, 64, (cuda.asarray(dy), partial, rows, C))
    return partial


def sums(dy, blocks):
    return np.stack([dy[own::blocks].sum(axis=0) for own in range(blocks)])


def side_by_side(dy, blocks):
    each = -(-len(dy) // blocks)
    return np.stack([dy[own * each : (own + 1) * each].sum(axis=0) for own in range(blocks)])


exercise = Exercise(
    title="Partial sums of a bias gradient",
    minutes=4,
    core=False,
    language="cuda",
    defines="partial_bias_gradient",
    cases=cases,
    reference=sums,
    call=launch,
    hints=("for (int row = blockIdx.x; row < rows; row += gridDim.x) adds the rows of the block. Its row of partial begins at "
           "blockIdx.x * C.",),
    wrong=[
        Wrong(Changed(("partial[blockIdx.x * C + c]", "partial[c]")),
              "All blocks write to the first row of `partial`, so each overwrites the others. Block b owns row b.",
              when=lambda seen: "race" in seen.kinds and "partial[c]" in seen.text),
        Wrong(Changed(("row += gridDim.x", "row++")),
              "A block adds all rows from its own on, so many rows are added twice. Its next row lies gridDim.x further.",
              like=lambda dy, blocks: np.stack([dy[own:].sum(axis=0) for own in range(blocks)])),
        Wrong(Changed(("int row = blockIdx.x; row", "int row = 0; row")),
              "Every block adds the same rows, from row 0 on. Block b begins with row b.",
              like=lambda dy, blocks: np.tile(dy[::blocks].sum(axis=0), (blocks, 1))),
        Wrong(Changed(("for (int row = blockIdx.x; row < rows; row += gridDim.x) sum += dy[row * C + c];",
                       "if (blockIdx.x < rows) sum = dy[blockIdx.x * C + c];")),
              "Each block adds one row. If there are more rows than blocks, it must go on with more.",
              like=lambda dy, blocks: np.concatenate((dy, np.zeros((blocks, dy.shape[1]), np.float32)))[:blocks]),
        Wrong(Changed(("for (int row = blockIdx.x; row < rows; row += gridDim.x) sum",
                       "int each = (rows + gridDim.x - 1) / gridDim.x;\n    for (int row = blockIdx.x * each; "
                       "row < rows && row < (blockIdx.x + 1) * each; row++) sum")),
              "A block adds rows that follow each other. The task gives block b every gridDim.x-th row, from row b on.",
              like=side_by_side),
        Wrong(Changed(("for (int row = blockIdx.x; row < rows; row += gridDim.x) sum",
                       "int each = rows / gridDim.x;\n    for (int row = blockIdx.x * each; row < (blockIdx.x + 1) * each; "
                       "row++) sum")),
              "A block adds rows that follow each other, and the rows that are left over no block adds. The task gives block b "
              "every gridDim.x-th row, from row b on.",
              like=lambda dy, blocks: side_by_side(dy[:len(dy) // blocks * blocks], blocks)),
    ],
)  # fmt: skip
