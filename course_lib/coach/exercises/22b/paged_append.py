"""The rows of new tokens, written to the pages of their texts."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates
from course_lib.coach.shared_cases import beyond, whole_numbers


def cases(random):
    def case(label, P, N, row, slots):
        rows, pages = (len(slots), row), (P, N, row)
        made = (random.normal(size=shape).astype(np.float32) for shape in (rows, rows, pages, pages))
        return Case(label, *made, np.array(slots, np.int32))

    k = np.arange(1, 5, dtype=np.float32).reshape(2, 2)
    yield Case("two tokens, pages of zeros", k, -k, *np.zeros((2, 2, 2, 2), np.float32), np.array([3, 0], np.int32))
    yield case("one token of one number", 1, 1, 1, [0])
    yield case("pages of one row", 5, 1, 3, [4, 1, 3])
    yield case("more than a block", 9, 4, 7, random.permutation(36)[:27])
    yield case("64 tokens of 64", 20, 8, 64, random.permutation(160)[:64])
    large = [whole_numbers(random, shape, np.uint32) for shape in ((3, 5), (3, 5), (2, 4, 5), (2, 4, 5))]
    yield Case("numbers that no float holds", *large, np.array([7, 2, 3], np.int32))


def appended(k, v, k_pages, v_pages, slots):
    made = []
    for new, pages in ((k, k_pages), (v, v_pages)):
        rows = pages.reshape(-1, new.shape[1]).copy()  # (P N, row)
        rows[slots] = new
        made.append(rows.reshape(pages.shape))
    return tuple(made)


def begins_at_the_slot(got, k, v, k_pages, v_pages, slots):
    """Whether row i begins at number slots[i], where the rows written so do not overlap."""
    row = k.shape[1]
    at = slots[:, None] + np.arange(row)  # (n, row)
    if row == 1 or len(np.unique(at)) < at.size:
        return None
    made = k_pages.flatten()
    made[at] = k
    return bool(np.array_equal(np.ravel(got[0]), made))


def launch(kernel, k, v, k_pages, v_pages, slots):
    pages = [cuda.asarray(x.copy()) for x in (k_pages, v_pages)]
    run = kernel.instance("unsigned int" if k.dtype == np.uint32 else "float")
    run((k.size + 63) // 64, 64, (cuda.asarray(k), cuda.asarray(v), *pages, cuda.asarray(slots), *k.shape))
    return tuple(pages)


exercise = Exercise(
    title="New rows into pages",
    minutes=8,
    core=False,
    language="cuda",
    defines="paged_append",
    instances=("float", "unsigned int"),
    target="kernel:paged_attention.cu",
    cases=cases,
    results=("k_pages", "v_pages"),
    reference=appended,
    call=launch,
    measured="64 tokens of 64",
    goals=rates(1.25 * 16 * 64 * 64, read=4.2, write=4.2),
    hints=(
        "Thread i owns number i of k and number i of v. Which token is that, and which number of its row?",
        "Token i / row, number i % row. Its slot begins at number slots[i / row] * row of the pages.",
        "long long at = (long long)slots[i / row] * row + i % row; k_pages[at] = k[i]; v_pages[at] = v[i]; if i < n * row.",
    ),
    example='''// The first number of each token's row, set to zero in its slot.
template <class X> __global__ void clear_first(X* pages, const int* slots, int n, int row) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) pages[(long long)slots[j] * row] = 0;
}
''',
    wrong=[
        Wrong(Changed(("    if (i >= n * row) return;", "")),
              "There are more threads than numbers in k: those with i >= n * row must do nothing.",
              when=lambda seen: beyond(seen, seen.inputs[0].size, 64)),
        Wrong(Changed(("    v_pages[at] = v[i];\n", "")),
              "k_pages is right, and v_pages is as it was: the values go to the same slots.",
              like=lambda k, v, k_pages, v_pages, slots: (appended(k, v, k_pages, v_pages, slots)[0], v_pages)),
        Wrong(Changed(("v_pages[at] = v[i]", "v_pages[at] = k[i]")),
              "The keys were written to v_pages: v goes there.",
              like=lambda k, v, k_pages, v_pages, slots: appended(k, k, k_pages, v_pages, slots)),
        Wrong(Changed(("(long long)slots[i / row] * row + i % row", "i")),
              "Token i was written to slot i; `slots` says where it belongs.",
              like=lambda k, v, k_pages, v_pages, slots: appended(k, v, k_pages, v_pages, np.arange(len(slots)))),
        Wrong(Changed(("(long long)slots[i / row] * row + i % row", "slots[i / row] + i % row")),
              "A slot counts rows, and a row has several numbers: slot s begins at number s * row, not at s.",
              when=lambda seen: begins_at_the_slot(seen.got, *seen.inputs), once="rows lie where only that would put them"),
        Wrong(Changed(("slots[i / row] * row + i % row", "slots[i / row] * row")), generic="same address"),
        Wrong(Changed(("k_pages[at] = k[i]", "k_pages[at] = (X)(float)k[i]")), generic="rounded to floats"),
    ],
)  # fmt: skip
