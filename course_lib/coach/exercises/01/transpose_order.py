"""An open challenge: in which order should a transpose visit its elements, so that memory is fetched as rarely as possible?"""

from collections import OrderedDict

from course_lib.coach.exercise import Case, Exercise, Goal, Wrong

SIZE, LINE, KEPT = 32, 8, 6  # of the matrix; numbers fetched together; lines that the cache holds


def cases(random):
    return [Case(f"{n} x {n}", n) for n in (1, 2, 8, 11, SIZE)]


def as_list(answer, n):
    return list(answer(n))


def check(order, n):
    seen = set()
    for place, pair in enumerate(order):
        try:
            i, j = (int(number) for number in pair)
        except (TypeError, ValueError):
            return f"Entry {place} of your order is {pair!r}. Each entry is a pair (i, j)."
        if not (0 <= i < n and 0 <= j < n):
            return f"({i}, {j}) lies outside a {n} x {n} matrix: both numbers go from 0 to {n - 1}."
        if (i, j) in seen:
            return f"({i}, {j}) is visited twice."
        seen.add((i, j))
    missing = next(((i, j) for i in range(n) for j in range(n) if (i, j) not in seen), None)
    return f"{missing} is never visited, so y[{missing[1]}, {missing[0]}] stays empty." if missing else None


def fetches(answer):
    """How often a line is fetched in copying x[i, j] to y[j, i], if the cache drops what was not used for longest."""
    cache, count = OrderedDict(), 0
    for i, j in as_list(answer, SIZE):
        for line in ("x", (i * SIZE + j) // LINE), ("y", (j * SIZE + i) // LINE):
            count += line not in cache
            cache[line] = None
            cache.move_to_end(line)
            if len(cache) > KEPT:
                cache.popitem(last=False)
    return count


exercise = Exercise(
    title="Open challenge: a transpose that fetches little",
    minutes=20,
    core=False,
    defines="transpose_order",
    cases=cases,
    call=as_list,
    compared=False,
    check=check,
    goals=[Goal("fetches of a line, 32 x 32", fetches)],
    challenge=True,
    hints=(
        "Go row by row: a line of x serves 8 visits in a row. And how many lines of y are touched before one is touched again?",
        "Work in square blocks, so small that all lines of x and y that a block needs stay in the cache until it is done.",
        "for i0 in range(0, n, side): for j0 in range(0, n, side): then all pairs of that block with i < n and j < n. Try "
        "several sides, and blocks that are not square.",
    ),
    example='''def column_sums_order(n, width):
    """The same idea for sums of columns: take a strip of columns as wide as a line, and iterate over its rows."""
    return [(i, j) for j0 in range(0, n, width) for i in range(n) for j in range(j0, min(j0 + width, n))]
''',
    wrong=[
        Wrong("""def transpose_order(n):
    side = min(n, 8)
    return [(i0 + i, j0 + j) for i0 in range(0, n, side) for j0 in range(0, n, side)
            for i in range(side) for j in range(side)]
""", "n = 2 and 8 are right; for 11 a pair lies outside. Is 11 a multiple of your block's side? If not, the last block is "
              "shorter.",
              when=lambda seen: seen.label == "11 x 11" and "outside" in seen.complaint),
        Wrong("""def transpose_order(n):
    side = min(n, 8)
    return [(I * side + i, J * side + j) for I in range(n // side) for J in range(n // side)
            for i in range(side) for j in range(side)]
""", "n = 2 and 8 are right; for 11 some pairs are never visited. Is 11 a multiple of your block's side?",
              when=lambda seen: seen.label == "11 x 11" and "never visited" in seen.complaint),
        Wrong("def transpose_order(n):\n    return [(i, j) for i in range(n) for j in range(i)]", generic="is never visited"),
        Wrong("""def transpose_order(n):
    return [(i, j) for i in range(n) for j in range(i, n)] + [(j, i) for i in range(n) for j in range(i, n)]
""", generic="is visited twice"),
        Wrong("def transpose_order(n):\n    return [i * n + j for i in range(n) for j in range(n)]",
              generic="Each entry is a pair"),
    ],
)  # fmt: skip
