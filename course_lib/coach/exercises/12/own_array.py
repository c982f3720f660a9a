"""Which array of a list does a block work on, and which of that array's blocks is it?"""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong

END = [3, 4, 5, 13]  # of the lecture: arrays of 300, 5, 128 and 1000 numbers, blocks of 128


def cases(random):
    yield Case("the first block of all", 0, [2, 3])
    for block in (3, 5, 12):
        yield Case(f"block {block} of the thirteen", block, END)
    yield Case("the last block of the first array", 2, END)
    yield Case("an array without numbers between two others", 2, [2, 2, 5])


def owner(block, end):
    k = sum(last <= block for last in end)
    return k, block - (end[k - 1] if k else 0)


exercise = Exercise(
    title="Which array is mine?",
    minutes=3,
    core=False,
    defines="own_array",
    cases=cases,
    reference=owner,
    results=("number of the array", "number of the block in it"),
    hints=("while block >= end[k]: k += 1. The blocks of array k begin where those of array k - 1 end; those of array 0 "
           "begin at 0.",),
    wrong=[
        Wrong(Changed(("block >= end[k]", "block > end[k]")),
              "end[k] is the number of blocks up to array k. They are numbered from 0, so block end[k] is the first of the "
              "next array."),
        Wrong(Changed(("return k, block - first", "return k, block")),
              "The array is right. The second number must begin at 0 again in each array: subtract the blocks before it."),
        Wrong(Changed(("return k, block - first", "return k, block - end[k]")),
              "end[k] is where array k *ends*. It begins where the one before ends."),
        Wrong(Changed((" if k > 0 else 0", "")),
              "For array 0, end[k - 1] is end[-1], which is the last entry in Python. Array 0 begins at block 0."),
    ],
)  # fmt: skip
