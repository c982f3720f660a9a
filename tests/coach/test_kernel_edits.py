"""One change of a kernel that makes every case right: which changes are tried, as one text, and what is said."""

import re
from types import SimpleNamespace

from course_lib.coach import kernel_repairs, mutation
from course_lib.coach.outcome import Outcome
from course_lib.coach.regions import Piece
from course_lib.coach.slips.kernel_edits import SWITCH, applied, edits, switched

TEXT = """\
template <int TM> __global__ void rows(const float* x, const float* w, float* y, int N, int n) {
    __shared__ float tile[32];
    const float* first = x + N * blockIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x, own = N;
    for (int k = 0; k < N; k++) {
        if (i <= n) y[i + k] = (w[k] + 1e-6f) / tile[k];
    }
}
"""


def changes(line):
    return {f"{edit.before} -> {edit.after}" for edit in edits(TEXT, {line})}


def test_a_name_a_bound_a_sign_and_a_factor_are_changed_where_they_stand():
    assert {
        "i <= n -> i < n", "i <= n -> i <= own", "y[i + k] -> y[i * TM + k]", "y[i + k] -> y[(i - 1) + k]",
        "(w[k] + 1e-6f) / tile[k] -> (w[k] + 1e-6f / tile[k])", "w[k] + 1e-6f -> x[k] + 1e-6f",
    } <= changes(6)  # fmt: skip
    assert not changes(2), "an array's length is no expression"
    assert not any(edit.before.startswith("x + N *") and "first" in edit.after for edit in edits(TEXT, {3}))
    assert "k < N -> k <= N" in changes(5)
    assert not any(re.match(r"k < N -> (i|own|n) ", change) for change in changes(5)), (
        "the loop's own counter is no slip"
    )


MEAN = """\
__global__ void mean(const float* x, const float* bias, float* y, int C, int own) {
    __shared__ float tile[16][16];
    float sum = 0.0f;
    for (int j = 0; j < 384; j++) sum += (tile[j][own] - x[j]) * (tile[j][own] - bias[j]);
    float m = block_sum<128>(sum);
    float r = m / 128, s = rsqrtf(block_sum<128>(m) / C);
    m /= C;
    y[own] = m + r + s;
    tile[own][0] = y[own];
}
"""


def test_a_root_a_mean_another_length_and_exchanged_indices_are_tried():
    found = {(MEAN[edit.start : edit.end], edit.instead) for edit in edits(MEAN, set(range(1, 11)))}
    whole = "tile[j][own] - x[j]) * (tile[j][own]"
    assert {
        (whole, whole.replace("[j][own]", "[own][j]")), ("C", "sqrtf(C)"), ("128", "384"), ("j", "own + j"),
        ("block_sum<128>(sum)", "(block_sum<128>(sum) / C)"),
    } <= found  # fmt: skip
    assert not any(before.startswith("block_sum<128>(m)") for before, _ in found), "it is divided already"
    assert not any(before.startswith("tile[own][0]") and "tile[0]" in after for before, after in found)


def test_all_changes_are_one_text_and_each_is_a_text_of_its_own():
    found = edits(TEXT, set(range(1, 9)))
    whole = switched(TEXT, found)
    assert whole.startswith(f"__constant__ int {SWITCH};")
    assert all(f"{SWITCH} == {number} ?" in whole for number in range(1, len(found) + 1))
    assert whole.count("(") == whole.count(")") and len({applied(TEXT, edit) for edit in found}) == len(found) > 40
    without = re.sub(rf"{SWITCH} == \d+ \?", "", whole)
    assert SWITCH not in without.split("\n", 1)[1]
    assert [edit.rank for edit in found] == sorted(edit.rank for edit in found)


def test_own_lines_are_those_that_the_blank_does_not_have():
    assert mutation.own_lines("a\nb\nc\n", "a\nx\nb\nc\ny\n") == {2, 5}


def test_the_change_that_makes_all_cases_right_is_said(ask):
    text = """\
__global__ void warp_prefix_sums(const float* x, float* y) {
    int lane = threadIdx.x % 32;
    float v = x[threadIdx.x];
    for (int step = 1; step < 32; step *= 2) {
        float below = __shfl_up_sync(0xffffffff, v, step);
        if (lane > step) v += below;
    }
    y[threadIdx.x] = v;
}
"""
    assert ask(text, "warp_prefix_sums").why == (
        "Line 6: `lane > step` must be `lane >= step`. With that changed, all cases are right."
    )


def test_where_several_changes_of_one_place_are_right_no_one_of_them_is_said():
    text = (
        "__global__ void f(float* y, int n, int m, int k) {\n    int i = threadIdx.x;\n    if (i < k) y[i] = 1.0f;\n}\n"
    )
    tried = edits(text, {3})
    fits = {number for number, edit in enumerate(tried, 1) if edit.after in ("i < n", "i < m")}

    class Sandbox:
        def switched(self, whole, numbers, inputs, seconds):
            return [((number in fits), []) for number in numbers], 0.0

    def says(language="cuda", all_right=True):
        exercise = SimpleNamespace(language=language)
        outcomes, cases = [Outcome("a case", ())], [SimpleNamespace(inputs=(2.0,))]
        blank = Piece(text, text.replace("    if (i < k) y[i] = 1.0f;\n", ""), False)
        return kernel_repairs.cause(
            exercise, text, blank, Sandbox(), outcomes, cases, lambda got, *_: got, lambda changed: all_right
        )

    assert len(fits) == 2
    assert says() == "Line 3: `k` in `i < k` is the mistake. With that alone changed, all cases are right."
    fits.pop()
    assert re.fullmatch(r"Line 3: `i < k` must be `i < [nm]`\. With that changed, all cases are right\.", says())
    assert says(all_right=False) == "" == says("python"), "what a whole run does not confirm is not said"


def test_what_stands_twice_and_not_alike_is_made_alike():
    def after(line, text):
        return {edit.after for edit in edits("struct A { float m, l; };\n" + text, {line})}

    merge = "__device__ float f(A a, A b, float m) {\n    return a.l * expf(a.m - m) + b.l;\n}\n"
    assert "a.l * expf(a.m - m) + b.l * expf(b.m - m)" in after(3, merge)
    four = "__device__ float4 g(float4 v, float s) {\n    return make_float4(v.x * s, v.y * s, v.z, v.w * s);\n}\n"
    assert "v.z * s" in after(3, four)
    index = "__global__ void h(float* y, int N, int row, int k) {\n    y[k * N + row] = 0.0f;\n}\n"
    assert "y[(row) * N + k]" in after(3, index)


def test_a_template_argument_is_known_in_its_own_function_alone():
    text = (
        "template <int LANES> __device__ int half() { return LANES / 2; }\n"
        "template <int N> __global__ void f(float* y) {\n    y[threadIdx.x] = N;\n}\n"
    )
    found = {edit.instead for edit in edits(text, {3})}
    assert "(N / 2)" in found and not any("LANES" in one for one in found)
    arrays = "__global__ void f(float* y) {\n    float4 row[4], s[2];\n    static_assert(2 > 1);\n    y[0] = 2;\n}\n"
    assert {edit.line for edit in edits(arrays, {2, 3, 4})} == {4}


def test_a_size_of_the_kernel_is_a_factor_of_an_index():
    text = (
        "__global__ void f(const float* x, float* y, int T, int C) {\n    int t = threadIdx.x;\n    y[t] = x[t];\n}\n"
    )
    assert "x[t * C]" in {edit.after for edit in edits(text, {3})}
