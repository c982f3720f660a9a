"""The first half of a ring all-reduce: each rank ends with the sum of one chunk."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import on_ranks


def cases(random):
    def case(label, ranks, *shapes):
        return Case(label, [[random.normal(size=shape).round(2) for shape in shapes] for _ in range(ranks)])

    yield Case(
        "two ranks, chunks of one number", [[np.array([1.0]), np.array([2.0])], [np.array([10.0]), np.array([20.0])]]
    )
    yield Case("three ranks, chunks of one number", [[np.array([10.0**r * c]) for c in (1, 2, 3)] for r in range(3)])
    yield Case("one rank: nothing to send", [[np.array([3.0, 4.0])]])
    yield case("four ranks", 4, 3, 3, 3, 3)
    yield case("three ranks, chunks of different lengths", 3, 4, 3, 0)
    yield case("five ranks, chunks that are matrices", 5, *[(2, 2)] * 5)


def called(answer, chunks):
    return on_ranks(answer, chunks, given=("send", "recv"))


exercise = Exercise(
    title="Ring reduce-scatter",
    minutes=15,
    defines="ring_reduce_scatter",
    target="course_lib.parallel.ring.ring_reduce_scatter",
    cases=cases,
    call=called,
    results=("what the ranks return", "the bytes that the ranks send"),
    hints=(
        "Follow one chunk, not one rank: chunk 0 starts at rank 1, goes to rank 2, ... and comes to rank 0 last. Each rank "
        "adds its own.",
        "In step s a rank sends chunk (rank - s - 1) % size. What arrives is the chunk that the rank before it has sent: "
        "one less, (rank - s - 2) % size. Add it to your own chunk of that number.",
        "rank, size = communicator.rank, communicator.size; chunks = list(chunks); for step in range(size - 1): received = "
        "pass_on(communicator, chunks[(rank - step - 1) % size]); index = (rank - step - 2) % size; chunks[index] = "
        "chunks[index] + received. At the end chunks[rank].",
    ),
    example='''def whispered(communicator, word):
    """A word goes once around the ring, and each rank adds its own number: what rank 0 said, as the last rank hears it."""
    for step in range(communicator.size - 1):
        word = f"{pass_on(communicator, word)}, {communicator.rank}"
    return word
''',
    wrong=[
        Wrong(Changed(("chunks[index] + received", "received")),
              "What arrives takes the place of your own chunk. It must be added to it."),
        Wrong(Changed(("rank - step - 1", "rank - step"), ("rank - step - 2", "rank - step - 1")),
              "The chunks are one too far: at the end each rank has the whole sum of the next rank's chunk, and returns "
              "its own, which lacks some. In step 0 rank r sends chunk r - 1."),
        Wrong(Changed(("    chunks = list(chunks)\n", "    chunks, own = list(chunks), chunks\n"),
                      ("pass_on(communicator, chunks[(", "pass_on(communicator, own[(")),
              "You send your own chunk as it was. Send the sum so far, with what has arrived in it, or the numbers of "
              "ranks further away never come through."),
        Wrong(Changed(("range(size - 1)", "range(size - 2)")),
              "One step is missing: with N ranks the sum of a chunk needs N - 1 of them."),
        Wrong(Changed(("range(size - 1)", "range(1)")),
              "There is one step, however many ranks there are. With N ranks the sum of a chunk needs N - 1 of them."),
        Wrong(Changed(("rank - step - 2", "rank - step - 1")),
              "You add what arrives to the chunk that you have just sent. The rank before you has sent the chunk before "
              "that one."),
        Wrong("""def ring_reduce_scatter(communicator, chunks):
    rank, size = communicator.rank, communicator.size
    total, moving = list(chunks), list(chunks)
    for _ in range(size - 1):
        moving = [pass_on(communicator, chunk) for chunk in moving]
        total = [a + b for a, b in zip(total, moving)]
    return total[rank]


def pass_on(communicator, x):
    communicator.send(x, (communicator.rank + 1) % communicator.size)
    return communicator.recv((communicator.rank - 1) % communicator.size)
""", "The sums are right, but more is sent than needed. There are size - 1 steps, and in each a rank sends one chunk only.",
              when=lambda seen: seen.got[1] > seen.expected[1] and all(
                  np.allclose(a, b) for a, b in zip(seen.got[0], seen.expected[0], strict=True)),
              once="the results are right and more bytes were sent: that is what the sentence says"),
        Wrong(Changed(("chunks[index] = chunks[index] + received", "chunks[index] += received")), generic="change"),
        Wrong(Changed(("return chunks[rank]", "return chunks")),
              "Return one chunk, chunks[rank]. The others of your list are unfinished sums."),
    ],
)  # fmt: skip
