"""The rows of one text, gathered from its pages."""

import numpy as np

from course_lib import cuda
from course_lib.coach.exercise import Case, Changed, Exercise, Wrong
from course_lib.coach.kernels import rates
from course_lib.coach.shared_cases import beyond, whole_numbers


def cases(random):
    def case(label, P, N, row, table, count):
        return Case(label, random.normal(size=(P, N, row)).astype(np.float32), np.array(table, np.int32), count)

    yield Case("two pages of two rows", np.arange(12, dtype=np.float32).reshape(3, 2, 2), np.array([2, 0], np.int32), 3)
    yield case("one page of one number", 1, 1, 1, [0], 1)
    yield case("pages of one row", 5, 1, 3, [4, 1, 3], 3)
    yield case("a page in two texts", 4, 3, 5, [3, 0, 3], 8)
    yield case("more than a block", 9, 8, 7, [5, 2, 8, 0], 27)
    yield case("64 rows of 64", 20, 8, 64, random.permutation(20)[:8], 64)
    yield Case(
        "numbers that no float holds", whole_numbers(random, (4, 2, 3), np.uint32), np.array([3, 1], np.int32), 4
    )


def gathered(pages, table, count):
    return pages[table].reshape(-1, pages.shape[2])[:count]


def launch(kernel, pages, table, count):
    _, N, row = pages.shape
    y = cuda.empty((count, row), pages.dtype)
    run = kernel.instance("unsigned int" if pages.dtype == np.uint32 else "float")
    run((count * row + 63) // 64, 64, (cuda.asarray(pages), cuda.asarray(table), y, count, N, row))
    return y


exercise = Exercise(
    title="The rows of a text, from their pages",
    minutes=12,
    language="cuda",
    defines="paged_gather",
    instances=("float", "unsigned int"),
    target="kernel:paged_attention.cu",
    cases=cases,
    reference=gathered,
    call=launch,
    measured="64 rows of 64",
    goals=rates(1.25 * 8 * 64 * 64, read=4.2),
    hints=(
        "Thread i owns y[i]. Which row of the text is that, and which number of the row?",
        "Row j = i / row, number i % row. The page is table[j / N], and page p begins at number p * N * row.",
        "int j = i / row; y[i] = pages[((long long)table[j / N] * N + j % N) * row + i % row]; if i < count * row.",
    ),
    example='''// The first number of each row of a text.
template <class X> __global__ void first_numbers(const X* pages, const int* table, X* y, int count, int N, int row) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < count) {
        long long page = table[j / N];
        y[j] = pages[(page * N + j % N) * row];
    }
}
''',
    wrong=[
        Wrong(Changed(("    if (i >= count * row) return;\n", "")),
              "There are more threads than numbers in y: those with i >= count * row must do nothing.",
              when=lambda seen: beyond(seen, seen.expected.size, 64)),
        Wrong("""template <class X>
__global__ void paged_gather(const X* pages, const int* table, X* y, int count, int N, int row) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count * row) y[i] = pages[i];
}
""", "The table is not used, and it alone says which page holds your row.",
              when=lambda seen: "table" not in seen.text.split("{", 1)[1]),
        Wrong(Changed(("table[j / N] * N + j % N", "table[j / N] + j % N")),
              "Page p does not begin at row p: each page before it has N rows.",
              like=lambda pages, table, count: pages.reshape(-1, pages.shape[2])[
                  [int(table[j // pages.shape[1]]) + j % pages.shape[1] for j in range(count)]]),
        Wrong(Changed(("table[j / N] * N + j % N", "table[j / N] * N")),
              "Every row of a page is its first row here: add j % N.",
              like=lambda pages, table, count: pages[table][:, :1].repeat(pages.shape[1], 1).reshape(-1, pages.shape[2])[:count]),
        Wrong(Changed(("int j = i / row;", "int j = i % count, c = i / count;"), ("+ i % row]", "+ c]")),
              "The right numbers are written to the wrong positions: thread i writes y[i], so its row is i / row.",
              when=lambda seen: seen.failing.difference is not None and not seen.issues
                  and sorted(np.ravel(seen.got)) == sorted(np.ravel(seen.expected))),
        Wrong(Changed(("int j = i / row;", "int j = i % count, c = i / count;"), ("+ i % row]", "+ c]"),
                      ("y[i] =", "y[j * row + c] =")), generic="the goal is not reached"),
        Wrong(Changed(("y[i] = pages[", "y[i] = (X)(float)pages[")), generic="rounded to floats"),
    ],
)  # fmt: skip
