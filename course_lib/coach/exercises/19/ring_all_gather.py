"""The second half of a ring all-reduce: what each rank has, all get."""

import numpy as np

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.shared_cases import on_ranks


def cases(random):
    yield Case("two ranks", [np.array([5.0]), np.array([6.0, 7.0])])
    yield Case("three ranks", [np.array([1.0]), np.array([2.0]), np.array([3.0])])
    yield Case("one rank", [np.array([4.0, 5.0])])
    yield Case("four ranks, matrices", [random.normal(size=(2, 3)).round(2) for _ in range(4)])
    yield Case("five ranks, of different lengths", [random.normal(size=n).round(2) for n in (3, 1, 0, 2, 4)])


def called(answer, chunk):
    return on_ranks(answer, chunk, given=("send", "recv"))


exercise = Exercise(
    title="Ring all-gather",
    minutes=10,
    defines="ring_all_gather",
    target="course_lib.parallel.ring.ring_all_gather",
    cases=cases,
    call=called,
    results=("what the ranks return", "the bytes that the ranks send"),
    hints=(
        "What arrives in the first step is the chunk of the rank before. Whose chunk arrives in the second?",
        "In step s the chunk of rank (rank - s - 1) % size arrives. Put it into the list at this index, and send it in the "
        "next step.",
        "rank, size = communicator.rank, communicator.size; chunks = [chunk] * size; for step in range(size - 1): "
        "chunks[(rank - step - 1) % size] = pass_on(communicator, chunks[(rank - step) % size]). At the end chunks.",
    ),
    example='''def counted(communicator):
    """How many ranks there are, found without `size`: each rank's number goes around until it is back where it began."""
    number, steps = pass_on(communicator, communicator.rank), 1
    while number != communicator.rank:
        number, steps = pass_on(communicator, number), steps + 1
    return steps
''',
    wrong=[
        Wrong("""def ring_all_gather(communicator, chunk):
    chunks = [chunk]
    for step in range(communicator.size - 1):
        chunk = pass_on(communicator, chunk)
        chunks.append(chunk)
    return chunks


def pass_on(communicator, x):
    communicator.send(x, (communicator.rank + 1) % communicator.size)
    return communicator.recv((communicator.rank - 1) % communicator.size)
""", "Every chunk is there, in the order in which they arrived, which differs from rank to rank. Put the chunk of rank i "
              "at index i."),
        Wrong(Changed(("return chunks", "return chunks[rank:] + chunks[:rank]")),
              "Every chunk is there, but the list begins with the rank's own. It must be the same list on all ranks: the "
              "chunk of rank i at index i."),
        Wrong(Changed(("chunks[(rank - step) % size])", "chunk)")),
              "You send your own chunk in every step, so only the rank before reaches you. Send on what has just arrived."),
        Wrong(Changed(("(rank - step - 1) % size] = ", "(rank + step + 1) % size] = "), ("(rank - step) % size", "(rank + "
                                                                                                                 "step) % size")),
              "Chunks arrive from the rank before, then from the one before that: the index of what arrives falls by one "
              "each step."),
        Wrong(Changed(("range(size - 1)", "range(size - 2)")),
              "One step is missing: N - 1 chunks must arrive."),
        Wrong(Changed(("range(size - 1)", "range(size)")),
              "More is sent than needed. There are size - 1 steps, with one call of pass_on in each; one step more would only "
              "bring back your own chunk.",
              when=lambda seen: seen.got[1] > seen.expected[1],
              once="the results are right and more bytes were sent, as the task allows nobody"),
        Wrong(Changed(("return chunks", "return np.concatenate(chunks)")),
              "Return the list of the chunks, one for each rank: yours is one array. (They are put together in the next "
              "exercise.)",
              when=lambda seen: isinstance(seen.got[0][0], np.ndarray),
              once="an array where a list was asked for"),
    ],
)  # fmt: skip
