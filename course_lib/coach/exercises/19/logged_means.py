"""Find the fault: a collective that only rank 0 calls."""

import numpy as np

from course_lib.coach.exercise import Case, Exercise, Wrong
from course_lib.coach.shared_cases import on_ranks


def cases(random):
    yield Case("one rank, one step", [[4.0]])
    yield Case("two ranks, one step", [[4.0], [2.0]])
    yield Case("two ranks, two steps", [[4.0, 3.0], [2.0, 1.0]])
    yield Case("three ranks, five steps", random.normal(3.0, 1.0, (3, 5)).tolist())
    yield Case("no step", [[], []])


def called(answer, losses):
    return on_ranks(answer, losses, given=("all_reduce", "barrier"))[0]


def means(communicator, losses):
    every = communicator.all_reduce(np.array(losses)) / communicator.size
    return every[::2].tolist() if communicator.rank == 0 else []


exercise = Exercise(
    title="Find the fault: a log that hangs",
    minutes=4,
    core=False,
    defines="logged_means",
    cases=cases,
    reference=means,
    call=called,
    hints=(
        "A collective must be called by all ranks. Only what is done with its result may depend on the rank.",
    ),
    wrong=[
        Wrong("""def logged_means(communicator, losses):
    log = []
    for step, loss in enumerate(losses):
        if step % 2 == 0 and communicator.rank == 0:
            mean = communicator.all_reduce(np.array([loss]))[0] / communicator.size
            log.append(float(mean))
        communicator.barrier()
    return log
""", "Rank 0 is in the all-reduce, and the others are already in the barrier: both wait for ever. A collective must be "
              "called by all ranks; only what is done with its result may depend on the rank.",
              when=lambda seen: "calls all_reduce" in seen.error and "calls barrier" in seen.error),
        Wrong("""def logged_means(communicator, losses):
    log = []
    for step, loss in enumerate(losses):
        if step % 2 == 0 and communicator.rank == 0:
            log.append(float(loss))
        communicator.barrier()
    return log
""", "Nothing hangs, and the log holds rank 0's own losses. The mean over all ranks was wanted, which takes an all-reduce "
              "by all."),
        Wrong("""def logged_means(communicator, losses):
    log = []
    for step, loss in enumerate(losses):
        if step % 2 == 0:
            mean = communicator.all_reduce(np.array([loss]))[0] / communicator.size
            log.append(float(mean))
        communicator.barrier()
    return log
""", "Nothing hangs, but every rank writes the log. Only rank 0 appends to it; the others return an empty list."),
        Wrong("""def logged_means(communicator, losses):
    log = []
    for step, loss in enumerate(losses):
        mean = communicator.all_reduce(np.array([loss]))[0] / communicator.size
        if communicator.rank == 0:
            log.append(float(mean))
        communicator.barrier()
    return log
""", "Nothing hangs, but every step is written down. Only those of even number are wanted."),
    ],
)  # fmt: skip
