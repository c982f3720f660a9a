"""How many tiles of keys all blocks together load, if each stops where the causal mask lets it."""

from course_lib.coach.exercise import Case, Changed, Exercise, Wrong


def cases(random):
    for label, T, block, tile in (
        ("one block, one tile", 32, 32, 32), ("four blocks of 32", 128, 32, 32), ("blocks of 64", 128, 64, 32),
        ("a last block that is too long", 77, 64, 32), ("tiles larger than blocks", 100, 16, 64),
        ("one token", 1, 32, 32), ("blocks and tiles that do not fit", 50, 20, 15),
    ):  # fmt: skip
        yield Case(label, T, block, tile)


def loads(T, block, tile):
    """For each block, the tile of the last key that its last query attends to."""
    return sum((min(first + block, T) - 1) // tile + 1 for first in range(0, T, block))


exercise = Exercise(
    title="Tiles that are loaded",
    minutes=4,
    core=False,
    defines="tile_loads",
    cases=cases,
    reference=loads,
    hints=("The block that begins at query `first` needs the keys 0 to end - 1, with end = min(first + block, T). That is "
           "end / tile tiles, rounded up: (end + tile - 1) // tile, or -(-end // tile).",),
    wrong=[
        Wrong(Changed(("-(-end // tile)", "end // tile")),
              "A tile of which only some keys are needed must be loaded too: round up, not down."),
        Wrong(Changed(("min(first + block, T)", "first + block")),
              "The last block may be longer than what is left of the text: its last query is T - 1, and no key comes "
              "after."),
        Wrong(Changed(("min(first + block, T)", "T")),
              "No tile is skipped here: a block stops at the last key that its last query attends to."),
        Wrong(Changed(("min(first + block, T)", "first")),
              "The queries of a block attend to the block's own keys too, not only to those before."),
        Wrong(Changed(("end = min(first + block, T)", "end = min(first + tile, T)")),
              "The last query of a block is found with the size of the *block*; `tile` counts keys."),
    ],
)  # fmt: skip
