"""The index of a thread in its grid, written down by the thread itself."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, grid, block in (("one block", 1, 4), ("two blocks", 2, 3), ("many blocks", 7, 32)):
        yield Case(label, grid, block)


def launch(kernel, grid, block):
    y = cuda.empty((grid * block,), np.int32)  # (grid * block,)
    kernel(grid, block, (y,))
    return y


exercise = Exercise(
    title="Which thread am I?",
    minutes=3,
    core=False,
    language="cuda",
    defines="write_index",
    cases=cases,
    reference=lambda grid, block: np.arange(grid * block, dtype=np.int32),
    call=launch,
    hints=("int i = blockIdx.x * blockDim.x + threadIdx.x; and then the thread writes i to y[i].",),
    wrong=[
        Wrong(Changed(("blockIdx.x * blockDim.x", "blockIdx.x * gridDim.x")),
              "gridDim.x is the number of blocks. A block has blockDim.x threads.",
              when=lambda seen: "gridDim" in seen.text and "blockDim" not in seen.text),
        Wrong(Changed(("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x")),
              "threadIdx.x begins at 0 again in each block, so all blocks write to the same few elements.",
              when=lambda seen: "race" in seen.kinds and "blockIdx" not in seen.text),
        Wrong(Changed(("blockIdx.x * blockDim.x", "blockIdx.x")),
              "Block 1 begins after all the threads of block 0, and not one further: blockIdx.x * blockDim.x is the number of "
              "threads in the blocks before.",
              when=lambda seen: "race" in seen.kinds and "blockIdx.x + threadIdx.x" in seen.text),
        Wrong(Changed(("y[i] = i", "y[i] = threadIdx.x")), generic="all elements from `block` on"),
    ],
)  # fmt: skip
