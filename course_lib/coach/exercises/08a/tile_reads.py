"""What a product reads from global memory, by the shape of its tiles."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    yield Case("a tile for each number", 2, 3, 4, 1, 1)
    yield Case("one tile", 8, 4, 5, 8, 4)
    yield Case("tiles of 32 x 32", 64, 64, 64, 32, 32)
    yield Case("wide tiles", 64, 128, 16, 8, 32)
    yield Case("high tiles", 96, 64, 7, 48, 16)


exercise = Exercise(
    title="What tiles read",
    minutes=3,
    core=False,
    defines="tile_reads",
    cases=cases,
    reference=lambda M, N, K, TM, TN: (M // TM) * (N // TN) * (TM + TN) * K,
    hints=("How many tiles has C? And one tile needs TM rows of A and TN columns of B, of K numbers each.",),
    wrong=[
        Wrong(Changed(("(TM + TN) * K", "(TM * K + K * TN) // K")),
              "A tile needs whole rows of A and whole columns of B: each of them has K numbers."),
        Wrong(Changed(("(TM + TN) * K", "TM * TN * K")),
              "TM * TN * K is the number of multiplications of a tile. It reads TM rows and TN columns."),
        Wrong("def tile_reads(M, N, K, TM, TN):\n    return M * K * (M // TM) + K * N * (N // TN)",
              "A is read once for each tile in a row of tiles, which is N // TN times. Here M and N are exchanged."),
        Wrong("def tile_reads(M, N, K, TM, TN):\n    return M * K + K * N",
              "That would be each number once. But tiles in one row of C read the same rows of A."),
    ],
)  # fmt: skip
