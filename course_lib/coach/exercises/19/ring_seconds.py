"""The cost of a ring all-reduce, from latency and bandwidth."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("two ranks", 2, 1000, 1.0, 500.0)
    yield Case("no latency", 2, 1000, 0.0, 500.0)
    yield Case("four ranks, no latency", 4, 1000, 0.0, 500.0)
    yield Case("four ranks, an array of no bytes", 4, 0, 1.0, 500.0)
    yield Case("one rank sends nothing", 1, 1000, 1.0, 500.0)
    yield Case("the gradients of 12m on eight GPUs", 8, 49_291_264, 1e-5, 25e9)


def seconds(ranks, size, latency, bandwidth):
    each = latency + size / (ranks * bandwidth)
    return (ranks - 1) * each + (ranks - 1) * each


exercise = Exercise(
    title="What will it cost?",
    minutes=3,
    core=False,
    defines="ring_seconds",
    cases=cases,
    reference=seconds,
    tolerance=1e-9,
    hints=(
        "ranks - 1 steps of reduce-scatter, as many of all-gather. In each a rank sends one message, of size / ranks bytes.",
    ),
    wrong=[
        Wrong(Changed(("2 * (ranks - 1)", "(ranks - 1)")),
              "These are the steps of a reduce-scatter alone. The all-gather needs as many again."),
        Wrong(Changed(("size / ranks / bandwidth", "size / bandwidth")),
              "In each step a rank sends one chunk, not the whole array: size / ranks bytes."),
        Wrong("""def ring_seconds(ranks, size, latency, bandwidth):
    return latency + 2 * (ranks - 1) * size / ranks / bandwidth
""", "Each message has a latency of its own, and there are 2 (ranks - 1) of them, one after the other."),
        Wrong(Changed(("2 * (ranks - 1)", "2 * ranks")), "Each half has ranks - 1 steps, not ranks: then "
                                                         "each chunk has been everywhere."),
    ],
)  # fmt: skip
