"""What is said of a kernel's wrong results: for which inputs they are right, how and where they are wrong, and never a guess."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import cuda, lexer
from course_lib.coach import (
    compare,
    goal_causes,
    how_wrong,
    input_rules,
    kernel_causes,
    kernel_slips,
    kernel_sums,
    shared_cases,
    what_if,
    where_wrong,
)
from course_lib.coach.outcome import Outcome, Seen
from course_lib.coach.parts import parts
from course_lib.cuda.report import Line, Report

SHAPES = ((3, 5), (4, 70), (2, 131))
RANDOM = np.random.default_rng(3)


def outcome(inputs, expected, got, grid=2, block=32):
    """A case that was tried."""
    reports = [Report("k", (grid, 1, 1), (block, 1, 1), [], [])]
    return Outcome("case", inputs, expected, got, None, compare.difference(got, expected, 1e-5), reports=reports)


def matrices(change, shapes=SHAPES, *more):
    """Cases of one matrix; `change` makes what came of it."""
    made = [RANDOM.normal(1, 3, shape).astype(np.float32) for shape in shapes]
    return [outcome((x, *more), x, change(x.copy())) for x in made]


def spoiled(index):
    """The right numbers, and others at an index that is made from an array."""

    def change(x):
        x[index(x)] += 1 + np.abs(x[index(x)])
        return x

    return change


def rule(outcomes, names=("x",)):
    """The rule of the first part that is wrong."""
    (_, wrong, right), *_ = parts(outcomes, 1e-5)
    return where_wrong.rule(wrong, right, names)


def relation(outcomes, names=("x",)):
    """How the first part is wrong."""
    (_, wrong, right), *_ = parts(outcomes, 1e-5)
    return how_wrong.says(wrong, right, names)


@pytest.mark.parametrize(
    "index, says",
    [
        (lambda x: np.s_[:, 32:], "all columns from 32 on"),
        (lambda x: np.s_[:, -1], "the last column"),
        (lambda x: np.s_[-1], "the last row"),
        (lambda x: np.s_[:, 3::4], "the columns whose index modulo 4 is 3"),
        (lambda x: np.arange(x.shape[1])[None] % 32 + 0 * x.astype(int) > 0, "the columns whose index modulo 32 is not 0"),
        (lambda x: np.s_[1:, x.shape[1] // 4 * 4 :],
         "the elements in all rows from 1 on and in the columns behind the last whole group of 4 at once"),
        (lambda x: np.s_[:, x.shape[1] // 4 * 4 :], "the columns behind the last whole group of 4"),
        (lambda x: np.triu_indices(len(x), 1, x.shape[1]), "those above the diagonal"),
        (lambda x: x < 0, "those where `x` is negative"),
        (lambda x: RANDOM.random(x.shape) < 0.5, ""),
        (lambda x: np.s_[:], ""),
    ],
)  # fmt: skip
def test_wrong_elements_are_told_as_a_rule_that_holds_of_exactly_them(index, says):

    def change(x):
        mask = np.zeros(x.shape, bool)
        mask[index(x)] = True
        return np.where(mask, 2 * np.abs(x) + 1, x)

    assert rule(matrices(change)) == says


def test_what_is_seen_in_one_group_only_is_no_rule():
    once = np.arange(531) != 460
    twice = np.tile(once[:512], 2)
    told = [
        [
            words
            for words, holds in where_wrong.rules([line], [512], "element", "elements")
            if (holds(len(line)) == line).all()
        ]
        for line in (once, twice)
    ]
    assert told == [[], ["the elements whose index modulo 512 is not 460"]]


def test_a_rule_that_one_failing_case_breaks_is_not_said():
    outcomes = matrices(spoiled(lambda x: np.s_[:, 32:]))
    outcomes[-1].got[0, 3] += 5
    assert "from 32 on" not in rule(outcomes)


def test_where_a_function_overflows_is_told_by_its_input():
    def overflows(x):
        x[x > 2] = np.nan
        return x

    assert "those where `x` is at least" in rule(matrices(overflows))


@pytest.mark.parametrize(
    "change, says",
    [
        (lambda x: 0 * x - 1e9, "Every element is -1e+09."),
        (lambda x: -x, "Every element has the wrong sign; its magnitude is right."),
        (lambda x: 32 * x, "Every element is 32 times what it should be."),
        (lambda x: x * x.shape[1], "Every element is the number of columns of `x` times what it should be."),
        (lambda x: x * ((x.shape[1] - 1) / x.shape[1]),
         "Every element is (n - 1) / n, with n for the number of columns of `x`, times what it should be."),
        (lambda x: x + 0.75, "Every element is 0.75 too large."),
        (lambda x: x * (1 + np.arange(len(x)))[:, None], "Each row is right, times a factor that is the same in the whole row"),
        (lambda x: x + 3 * x.mean(1, keepdims=True), "Each row is too large by 3 times the mean of its row of `x`."),
        (lambda x: np.repeat(x[:, :1], x.shape[1], 1), "Where column i is wrong, it has the right result of column 0."),
        (lambda x: np.roll(x, 1, 1), "Where column i is wrong, it has the right result of column i - 1."),
        (lambda x: x.cumsum(1), "Each column has the sum of the right results of all columns up to it"),
        (lambda x: x.astype(np.float16).astype(np.float32), "numbers of half precision"),
        (lambda x: x + RANDOM.normal(size=x.shape), ""),
    ],
)  # fmt: skip
def test_how_results_are_wrong_is_told_where_it_holds_of_all(change, says):
    said = relation(matrices(lambda x: change(x).astype(np.float32))).replace("wrong element", "element")
    assert says in said if says else said == ""


def with_bias(change):
    """Cases of a matrix to which a row is added; `change` makes what came of the two."""
    found = []
    for rows, columns in SHAPES:
        x, bias = (
            RANDOM.normal(size=(rows, columns)).astype(np.float32),
            RANDOM.normal(2, 1, columns).astype(np.float32),
        )
        found.append(outcome((x, bias), x + bias, change(x, bias)))
    return found


def test_an_input_that_is_missing_or_counted_again_is_named():
    names = ("x", "bias")
    assert relation(with_bias(lambda x, b: x + 4 * b), names) == (
        "Every element is too large by 3 times the number in `bias` of its column."
    )
    assert relation(with_bias(lambda x, b: x), names) == "Every element is the number in `x`."
    assert relation(with_bias(lambda x, b: (x + b) * b), names) == (
        "Every element is multiplied by the number in `bias` of its column once too often."
    )


def test_whole_numbers_that_overflowed_are_told_after_one_case():
    x = np.array([[2**40, 2**33 + 5, 7]])
    assert "multiple of 2^32" in relation([outcome((x,), x, x.astype(np.int32).astype(np.int64))])


def scaled(x, weight, scale, causal):
    """What is right in the trials below."""
    y = x * weight * scale
    return np.tril(y) if causal else y


def trials(wrong):
    """Four cases, and what a wrong kernel makes of them."""
    found = []
    for (rows, columns), causal in zip((*SHAPES, (6, 6)), (True, False, False, True), strict=True):
        x, weight = (RANDOM.normal(size=size).astype(np.float32) for size in ((rows, columns), columns))
        inputs = (x, weight, 0.5, causal)
        found.append(outcome(inputs, scaled(*inputs), wrong(*inputs)))
    return found


@pytest.mark.parametrize(
    "wrong, says",
    [
        (lambda x, w, s, c: scaled(x, w, s, False), "These are the results that are right for `causal` = False."),
        (lambda x, w, s, c: scaled(x, w, 1.0, c), "These are the results that are right where `1` stands for `scale`."),
        (lambda x, w, s, c: scaled(x, np.trunc(w), s, c), "where the elements of `weight` lose their fractional parts"),
        (lambda x, w, s, c: scaled(x, np.ones_like(w), s, c), "right without `weight` (with 1 for each of its elements)"),
        (lambda x, w, s, c: scaled(x * (np.arange(x.shape[1]) < 32), w, s, c),
         "if, of the columns of `x`, only the first 32 counted."),
        (lambda x, w, s, c: scaled(x, np.roll(w, 1), s, c), "where the elements of `weight` are read one too early."),
        (lambda x, w, s, c: scaled(x, w, s, c) + RANDOM.normal(size=x.shape), ""),
    ],
)  # fmt: skip
def test_results_that_are_right_for_other_inputs_are_told_so(wrong, says):
    said = what_if.says(trials(wrong), scaled, ("x", "weight", "scale", "causal"), 1e-5)
    assert says in said if says else said == ""


def test_what_explains_all_but_one_case_is_not_said():
    outcomes = trials(lambda x, w, s, c: scaled(x, w, 1.0, c))
    outcomes[0].got = outcomes[0].got + 1
    assert what_if.says(outcomes, scaled, ("x", "weight", "scale", "causal"), 1e-5) == ""


def test_one_failing_case_of_few_numbers_proves_no_other_inputs():
    x = np.array([3.0], np.float32)
    assert what_if.says([outcome((x,), x, -x)], lambda x: x, ("x",), 1e-5) == ""


def test_a_part_that_is_right_for_other_inputs_is_told_by_its_name():
    def right(x):
        return x, x.sum(0)

    outcomes = [
        outcome((x,), right(x), (x, x[-1])) for x in (RANDOM.normal(size=(n, 9)).astype(np.float32) for n in (3, 4, 6))
    ]
    assert what_if.says(outcomes, right, ("x",), 1e-5, ("y", "sums")) == (
        "sums: In all failing cases these are the results that are right if, of the rows of `x`, only the last counted."
    )


def test_a_guard_that_asks_about_another_size_is_told():
    outcomes = []
    for rows, columns in ((7, 3), (9, 5), (40, 8), (4, 6)):
        x = RANDOM.normal(size=(rows, columns)).astype(np.float32)
        came = np.where(np.arange(rows)[:, None] < columns, x, x + 1 + abs(x))
        outcomes.append(outcome((x,), x, came))
    assert rule(outcomes) == "all rows from the number of columns of `x` on"


def test_what_tells_failing_cases_from_right_ones():
    def cases(fails):
        return [
            outcome((x, causal), x, x + fails(x, causal))
            for n in (5, 8, 40, 96)
            for causal in (True, False)
            for x in [np.ones(n, np.float32)]
        ]

    tell = input_rules.rule
    assert tell(cases(lambda x, causal: causal), ("x", "causal")) == "`causal` is True"
    assert "`x` has at least 40 elements (with at most 8 all are right)" in tell(
        cases(lambda x, causal: len(x) > 32), ("x", "causal")
    )
    short = "`x` has at most 5 elements (with at least 8 all are right)"
    assert tell(cases(lambda x, causal: len(x) % 2), ("x", "causal")) == short
    assert tell(cases(lambda x, causal: len(x) in (5, 96)), ("x", "causal")) == ""


KERNEL = "__global__ void k(const float* x, float* y, float scale, int rows, int C) {\n%s\n}\n"
WHOLE = """    int i = threadIdx.x;
    int d = x[i] - scale;
    y[i] = d * scale + rows + C;"""
ADDED_UP = """    float sum = 0;
    for (int r = 0; r < rows; r++) {
        sum = 0.0f;
        for (int c = 0; c < C; c++) sum += scale * x[r * C + c];
        y[r] = sum;
    }"""
STORED = """    for (int r = 0; r < rows; r++) {
        float v = scale * x[r * C];
        y[threadIdx.x] = v;
    }"""


@pytest.mark.parametrize(
    "body, says",
    [
        (WHOLE, "Line 3: `d` is a whole number, and `x[i] - scale` is computed from floats"),
        (WHOLE.replace("x[i] -", "x[i] >"), ""),
        (
            ADDED_UP.replace("    y[r] = sum;\n    }", "}\n    y[0] = sum;"),
            "`sum` is set to 0.0f in each step of the loop of line 3",
        ),
        (ADDED_UP, ""),
        (
            ADDED_UP.replace("        sum = 0.0f;\n", ""),
            "Line 5 stores `sum` in each step of the loop of line 3, and nothing sets it",
        ),
        (STORED, "Line 4 stores to `y[threadIdx.x]` in each step of the loop of line 2: that is the same element"),
        (STORED.replace("threadIdx.x", "r"), ""),
        ("    float v = 0;\n" + STORED.replace("float v =", "v +="), ""),
        ("    y[0] = x[0] * rows * C;", "Your kernel never uses its parameter `scale`; ours does."),
    ],
)
def test_what_a_wrong_text_says_is_told(body, says):
    solution = KERNEL % "    y[0] = x[0] * scale * rows * C;"
    said = kernel_slips.says(KERNEL % body, "k", solution)
    assert says in said if says else said == ""


def test_a_reduction_that_ends_in_one_lane_is_told_where_all_need_it():
    text = "__global__ void k(float* y) { float v = y[0]; v += __shfl_down_sync(~0u, v, 1); y[0] = v; }"
    solution = text.replace("down", "xor")
    assert "the first lane alone has the whole result" in kernel_slips.says(text, "k", solution)
    assert kernel_slips.says(text, "k", text) == ""


def line(
    number, space="global", op="read", requests=32, sectors=4.0, wavefronts=1.0, active=32.0, asked=4096, moved=4096
):
    """What the simulator counted in a line."""
    return Line("k.cu", number, space, op, requests, sectors, wavefronts, active, asked, moved)


def missed(goal, *lines, ours=()):
    """What is said of a goal that these lines miss, where the inputs hold 4 KB and the results as many."""
    x = np.zeros(1024, np.float32)
    reports, our_reports = ([SimpleNamespace(lines=list(given))] for given in (lines, ours))
    return goal_causes.why(reports, our_reports, goal, (x,), x)


def test_why_a_goal_is_missed_is_told_by_the_line_that_proves_it():
    bytes_moved, sectors = "bytes of global memory moved", "sectors for each request, reading global memory"
    apart = line(7, sectors=32.0, wavefronts=32.0, moved=32768)
    assert "In line 7 a warp moves 8 times the bytes that it reads" in missed(sectors, apart)
    assert "In line 7 a warp moves 8 times" in missed(bytes_moved, apart)
    assert missed(sectors, apart, ours=[apart]) == ""  # what ours does too is no cause
    again = missed(bytes_moved, line(5), line(9), ours=[line(5)])
    assert "reads 8,192 bytes in lines 5 and 9" in again and "2 times as much" in again
    assert "to read 8,192 is enough" in missed(bytes_moved, line(5), line(6), line(9), ours=[line(5), line(6)])
    assert "a lane moves 4 bytes at a time" in missed("instructions that read global memory", line(4))
    wide = line(4, requests=8, sectors=16.0, wavefronts=4.0)
    assert missed("instructions that read global memory", wide, ours=[wide]) == ""
    conflicts = line(8, "shared", wavefronts=32.0)
    assert "32 different words" in missed("wavefronts for each request to shared memory", conflicts)
    assert "16 of 32 lanes take part" in missed(
        "idle lanes in a request to global memory", line(3, active=16.0, asked=2048)
    )


def test_floats_that_nobody_wrote_are_the_same_in_wgsl_and_in_cuda():
    assert shared_cases.unwritten(3).tobytes() == cuda.empty(3).tobytes()
    assert np.isnan(shared_cases.unwritten((2, 2))).all()


def test_a_part_that_is_right_in_some_failing_case_is_not_called_wrong_in_all():
    exercise = SimpleNamespace(
        language="wgsl", reference=None, tolerance=1e-5, results=("y", "z"), defines="k", name="k"
    )
    outcomes = []
    for n in (40, 50, 60):
        x, z = RANDOM.normal(size=n).astype(np.float32), RANDOM.normal(size=n).astype(np.float32)
        noise = (RANDOM.normal(2, 0.1, n) * (np.arange(n) >= 32)).astype(np.float32)
        outcomes.append(outcome((x,), (x, z), (x + noise * (n != 50), z + 1 + noise)))
    said = kernel_causes.of_values(exercise, Seen("", outcomes[0], outcomes), ("x",))
    assert "Where this part is wrong, exactly these elements are wrong: all elements from 32 on." in said


def test_a_part_of_a_result_is_told_by_its_name():
    exercise = SimpleNamespace(
        language="python", reference=None, tolerance=1e-5, results=("y", "mean"), defines="k", name="k"
    )
    outcomes = []
    for x in (RANDOM.normal(size=(4, n)).astype(np.float32) for n in (3, 7, 9)):
        outcomes.append(outcome((x,), (x, x.sum(1)), (x, x.sum(1) * np.float32(4))))
    said = kernel_causes.of_values(exercise, Seen("", outcomes[0], outcomes), ("x",))
    assert said == "mean: Every element is 4 times what it should be."


def test_elements_that_must_be_0_are_told_from_others():
    def unmasked(x):
        return np.where(np.tri(*x.shape) > 0, x, np.exp(x))

    def cases(expected):
        xs = [RANDOM.normal(1, 3, shape).astype(np.float32) for shape in SHAPES]
        return [outcome((x,), np.where(np.tri(*x.shape) > 0, x, expected).astype(np.float32), unmasked(x)) for x in xs]

    wrong, right = next(iter(parts(cases(0.0), 1e-5)))[1:]
    assert how_wrong.says(wrong, right, ["x"]).startswith("The wrong elements are all such that must be 0, as where")
    wrong, right = next(iter(parts(cases(-np.inf), 1e-5)))[1:]
    assert "all such that must be -inf" in how_wrong.says(wrong, right, ["x"])
    wrong, right = next(iter(parts(cases(7.0), 1e-5)))[1:]
    assert "must be" not in how_wrong.says(wrong, right, ["x"])


def test_a_factor_that_happens_to_be_an_index_is_none():
    def last(x):
        return (np.arange(x.shape[0]) >= x.shape[0] - 1)[:, None] & np.ones(x.shape, bool)

    cases = [
        outcome((x, float(x.shape[0] - 1)), x, spoiled(last)(x.copy()))
        for x in (np.ones((3, 2), np.float32), np.ones((5, 2), np.float32))
    ]
    wrong, right = next(iter(parts(cases, 1e-5)))[1:]
    assert "scale" not in where_wrong.rule(wrong, right, ["x", "scale"])


def test_a_sum_that_begins_anew_in_each_step_of_the_outer_loop():
    body = """__global__ void f(const float* x, float* y, int n, bool edge) {
    float l[2] = {};
    for (int i = 0; i < n; i++) {
        const float z = edge ? 0.0f : x[i];
        for (int r = 0; r < 2; r++) {
            %s
            l[r] += z;
        }
    }
    for (int r = 0; r < 2; r++) y[r] = l[r];
}
"""
    said = kernel_slips.says(body % "l[r] = 0.0f;", "f", body % "")
    assert said.startswith("Line 6: `l` is set to 0.0f in each step of the loop of line 3"), said
    assert kernel_slips.says(body % "", "f", body % "") == ""


SUMS = """\
template <int THREADS> __global__ void f(const float* x, float* y, int n) {
    float a = 0.0f, b = 0.0f;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        a += x[i];
        b += x[i] * x[i];
    }
    a = block_sum<THREADS>(a);
    y[0] = a + %s;
}
"""


def test_a_sum_of_one_thread_is_not_that_of_all():
    right = SUMS % "block_sum<THREADS>(b)"
    assert kernel_sums.says(lexer.read(SUMS % "b"), right) == (
        "Line 5: `b` is the sum of this thread's own elements, and never taken over all threads, as by block_sum."
    )
    assert kernel_sums.says(lexer.read(right), right) == ""
    assert kernel_sums.says(lexer.read(SUMS % "b"), SUMS % "b") == "", "ours does not reduce it either"
