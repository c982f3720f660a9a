"""The roofline as a time: the slower of the memory and the arithmetic decides."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("one addition", 1, 12, 3, 60)
    yield Case("much arithmetic", 900, 12, 3, 60)
    yield Case("at the ridge", 240, 12, 3, 60)
    yield Case("a copy", 0, 40, 5, 50)
    yield Case("a card with little arithmetic", 70, 16, 8, 2)


exercise = Exercise(
    title="The least time",
    minutes=2,
    core=False,
    defines="least_seconds",
    cases=cases,
    reference=lambda operations, moved, bandwidth, peak: max(moved / bandwidth, operations / peak),
    hints=("Memory needs moved / bandwidth seconds, arithmetic operations / peak. Both work at once: which one is waited for?",),
    wrong=[
        Wrong(Changed(("max(moved / bandwidth, operations / peak)", "moved / bandwidth + operations / peak")),
              "The times are added. Memory and arithmetic work at once: some warps compute while others wait."),
        Wrong(Changed(("max(", "min(")), "This is the time of the faster one. The kernel ends when both are done."),
        Wrong(Changed(("max(moved / bandwidth, operations / peak)", "moved / bandwidth")),
              "This is right where memory is the limit. With enough operations, arithmetic needs longer."),
        Wrong(Changed(("max(moved / bandwidth, operations / peak)", "operations / peak")),
              "This is right where arithmetic is the limit. With few operations, memory needs longer."),
        Wrong("""def least_seconds(operations, moved, bandwidth, peak):
    return operations / min(peak, bandwidth * operations / moved) if operations else 0
""", "A copy does no operation, and yet it takes time: its bytes must move."),
        Wrong(Changed(("moved / bandwidth", "bandwidth / moved"), ("operations / peak", "peak / max(operations, 1)")),
              generic="are exchanged"),
    ],
)  # fmt: skip
