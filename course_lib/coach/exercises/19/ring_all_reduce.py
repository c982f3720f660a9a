"""An all-reduce of any shape, from a reduce-scatter and an all-gather of chunks."""

import re

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Mistake, Wrong
from course_lib.coach.shared_cases import on_ranks

GIVEN = """from course_lib.parallel import ring

ring_reduce_scatter = lambda communicator, chunks: ring.ring_reduce_scatter(communicator, chunks)
ring_all_gather = lambda communicator, chunk: ring.ring_all_gather(communicator, chunk)
"""


def cases(random):
    def case(label, ranks, *shape):
        return Case(label, [np.array(random.normal(size=shape).round(2)) for _ in range(ranks)])

    yield Case("two ranks, two numbers", [np.array([1.0, 2.0]), np.array([10.0, 20.0])])
    yield Case("two ranks, three numbers", [np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])])
    yield case("one rank", 1, 5)
    yield case("three ranks, a matrix", 3, 3, 4)
    yield case("four ranks, ten numbers", 4, 10)
    yield case("more ranks than numbers", 5, 3)
    yield case("one number, of the shape ()", 2)


def called(answer, x):
    return on_ranks(answer, x, given=("send", "recv"))


exercise = Exercise(
    title="All-reduce from both",
    minutes=10,
    defines="ring_all_reduce",
    target="course_lib.parallel.ring.ring_all_reduce",
    given=GIVEN,
    cases=cases,
    call=called,
    results=("what the ranks return", "the bytes that the ranks send"),
    hints=(
        "x may have any shape, and the ring needs a list of arrays: make x one row first, and give it its shape back at the "
        "end.",
        "np.array_split(x.reshape(-1), communicator.size) is the list. ring_reduce_scatter returns one chunk, which "
        "ring_all_gather takes.",
        "chunks = np.array_split(...); summed = ring_reduce_scatter(communicator, chunks); "
        "np.concatenate(ring_all_gather(communicator, summed)).reshape(x.shape).",
    ),
    example='''def doubled_in_pieces(x, n):
    """Any array, cut into n pieces, each doubled, and put together in the same shape."""
    pieces = np.array_split(x.reshape(-1), n)
    return np.concatenate([2 * piece for piece in pieces]).reshape(x.shape)
''',
    wrong=[
        Wrong(Changed(("np.array_split", "np.split")),
              "np.split cuts into equal pieces only, and raises a ValueError where they cannot be equal. np.array_split can.",
              when=lambda seen: "array split does not result in an equal division" in seen.error),
        Wrong(Changed(("array_split(x.reshape(-1)", "array_split(x")),
              "An x of the shape () has no axis along which it could be cut. Make one row of x first: x.reshape(-1).",
              when=lambda seen: seen.inputs[0][0].ndim == 0 and "IndexError" in seen.error),
        Wrong(Changed((".reshape(x.shape)", "")), "The numbers are right. Give them the shape of x back at the end.",
              when=lambda seen: seen.got[0][0].ndim == 1 != seen.expected[0][0].ndim
                  and np.array_equal(seen.got[0][0], seen.expected[0][0].ravel()),
              once="the same numbers in one row"),
        Wrong(Changed((".reshape(x.shape)", ".reshape(x.shape) / communicator.size")),
              "This is the mean. An all-reduce returns the sum; for the mean it is divided afterwards."),
        Mistake("x is cut into as many chunks as it has rows, or numbers. There must be one chunk for each rank: "
                "communicator.size of them.",
                when=lambda seen: seen.error and re.search(r"array_split\(.*, *(len\(\w+\)|x\.size|x\.shape\[0\])\)", seen.text)),
        Mistake("The numbers behind the last whole chunk are in none of them, so they are missing in the end: `//` leaves out "
                "what does not divide evenly. np.array_split leaves none out.",
                when=lambda seen: re.search(r"// *(communicator\.size|size)\b", seen.text)
                and int(re.search(r"cannot reshape array of size (\d+)", seen.error)[1]) < seen.inputs[0][0].size),
        Mistake("What you filled up x with is still in the result. Cut with np.array_split, which needs no padding.",
                when=lambda seen: re.search(r"np\.(zeros|pad)", seen.text)
                and int(re.search(r"cannot reshape array of size (\d+)", seen.error)[1]) > seen.inputs[0][0].size),
        Wrong("""def ring_all_reduce(communicator, x):
    n = x.size // communicator.size
    row = x.reshape(-1)
    chunks = [row[r * n : (r + 1) * n] for r in range(communicator.size)]
    summed = ring_reduce_scatter(communicator, chunks)
    row = row.copy()
    row[: n * communicator.size] = np.concatenate(ring_all_gather(communicator, summed))
    return row.reshape(x.shape)
""", "The numbers behind the last whole chunk are never added up: if the length is not a multiple of the number of ranks, "
              "some are left over. np.array_split gives them to the first chunks."),
        Wrong("""def ring_all_reduce(communicator, x):
    return sum(ring_all_gather(communicator, x))
""", "The sums are right, but more is sent than needed. Cut x with np.array_split, without padding, and let chunks go around, "
              "not whole arrays.",
              when=lambda seen: seen.got[1] > seen.expected[1] and all(
                  np.allclose(a, b) for a, b in zip(seen.got[0], seen.expected[0], strict=True)),
              once="the sums are right, and more bytes than needed were sent"),
    ],
)  # fmt: skip
