"""Two codes of 4 bits in a byte."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("two codes", np.array([[1, 2]], np.uint8))
    yield Case("the largest", np.array([[15, 15, 0, 15]], np.uint8))
    yield Case("two rows", random.integers(0, 16, (2, 6), dtype=np.uint8))
    yield Case("a group of 32", random.integers(0, 16, (3, 32), dtype=np.uint8))


def right(codes):
    return (codes[:, 0::2] + 16 * codes[:, 1::2]).astype(np.uint8)


def check(result, codes):
    if np.asarray(result).dtype != np.uint8:
        return f"The bytes are {np.asarray(result).dtype}, and must be uint8, as the codes are."
    return None


exercise = Exercise(
    title="Pack two in a byte",
    minutes=4,
    core=False,
    defines="pack_nibbles",
    given="import numpy as np",
    cases=cases,
    reference=right,
    check=check,
    hints=("codes[:, 0::2] are the even ones, codes[:, 1::2] the odd ones. odd << 4 moves four bits up; | joins the two.",),
    wrong=[
        Wrong(Changed(("codes[:, 0::2] | codes[:, 1::2] << 4", "codes[:, 1::2] | codes[:, 0::2] << 4")),
              "The halves are exchanged: the even code belongs in the lower four bits."),
        Wrong(Changed(("1::2] << 4", "1::2].astype(int) << 4")), generic="must be uint8"),
        Wrong(Changed(("<< 4", "<< 8")),
              "A shift by 8 moves the odd code out of the byte. Four bits up is << 4."),
        Wrong(Changed(("codes[:, 0::2] | codes[:, 1::2] << 4",
                       "codes[:, : codes.shape[1] // 2] | codes[:, codes.shape[1] // 2 :] << 4")),
              "You pair the first half of a row with the second. Here neighbours share a byte: codes 0 and 1, codes 2 and 3."),
        Wrong(Changed(("codes[:, 0::2] | codes[:, 1::2] << 4", "codes[:, 0::2] & codes[:, 1::2] << 4")),
              "& keeps the bits that both have, and these two share none. | puts them together."),
    ],
)  # fmt: skip
