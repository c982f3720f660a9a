"""Faults planted in copies of our kernels, one at a time: each is caught by the tests that guard the right ones."""

from __future__ import annotations

import shutil

import pytest

from course_lib import native
from course_lib.cuda import KernelError, source
from course_lib.devices.gpu import launching
from tests.kernels import test_fused, test_gemm, test_matmul_ladder, test_normalisation, test_reductions, test_softmax
from tests.kernels.test_matmul_ladder import MATMUL

CAUGHT = (AssertionError, KernelError)  # a wrong value or a report of the sanitizer; or the launch itself is stopped


@pytest.fixture
def plant(request, monkeypatch):
    """plant(file, right, wrong): until the test ends the kernels are a copy in which the text `right` is `wrong`.

    The copy lies where it lay the last time, so that what was compiled of it is found again.
    """
    copy = native.cache_folder() / "planted" / request.node.name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source.KERNELS, copy)
    for module in (source, launching):
        monkeypatch.setattr(module, "KERNELS", copy)
    launching.kernel.cache_clear()

    def change(file: str, right: str, wrong: str) -> None:
        text = (copy / file).read_text()
        assert text.count(right) == 1, f"{file} has changed: {right!r} stands there {text.count(right)} times"
        (copy / file).write_text(text.replace(right, wrong))

    yield change
    launching.kernel.cache_clear()


def test_a_copy_without_a_fault_passes(plant):
    test_gemm.test_residual_epilogue(False, (3, 5), 37, 29)
    test_matmul_ladder.test_clean_on_ragged_sizes(MATMUL["3 shared tiles"])


# Products


def test_a_transposed_epilogue(plant):
    plant(
        "include/epilogues.cuh",
        "store_four(first + (size_t)row * N, column, N, aligned, four)",
        "store_four(first + (size_t)column * N, row, N, aligned, four)",
    )
    with pytest.raises(CAUGHT):
        test_gemm.test_residual_epilogue(False, (3, 5), 37, 29)
    with pytest.raises(CAUGHT):  # also where both sides are equal, so that nothing is out of bounds
        test_gemm.test_clean_coalesced_and_without_bank_conflicts(False, (False, True))


def test_a_stale_tile_edge(plant):
    """The last slice keeps in its rows beyond K what the slice before left there."""
    plant("include/gemm_tile.cuh", "else four[i] = load_four(", "else if (k < K) four[i] = load_four(")
    with pytest.raises(CAUGHT):
        test_gemm.test_clean_on_ragged_sizes_at_any_offset(False, (True, False))


def test_a_stale_tile_edge_of_the_ladder(plant):
    plant(
        "matmul_3_shared_tiles.cu",
        "b[y][x] = k + y < K && column < N ? B[(size_t)(k + y) * N + column] : 0.0f;",
        "if (k + y < K && column < N) b[y][x] = B[(size_t)(k + y) * N + column];",
    )
    with pytest.raises(CAUGHT):
        test_matmul_ladder.test_clean_on_ragged_sizes(MATMUL["3 shared tiles"])


def test_a_missing_barrier_between_two_slices(plant):
    plant("matmul_6_vectorised.cu", "__syncthreads();  // the other half is complete", "// the other half is complete")
    with pytest.raises(AssertionError, match="race"):
        test_matmul_ladder.test_clean_on_ragged_sizes(MATMUL["6 vectorised"])


def test_a_copy_that_nobody_waited_for(plant):
    plant("matmul_8_mma.cu", "ptx::cp_async_wait<STAGES - 2>();", "ptx::cp_async_wait<STAGES>();")
    with pytest.raises(CAUGHT):
        test_matmul_ladder.test_clean_on_ragged_sizes(MATMUL["8 mma, bfloat16"])


def test_lanes_that_swap_the_wrong_pair(plant):
    """The two halves of a fragment of tensor cores: rows g and g + 8."""
    plant("include/gemm_bf16_tile.cuh", "lane / 4 + 8 * odd", "lane / 4 + 8 * !odd")
    with pytest.raises(CAUGHT):
        test_gemm.test_clean_coalesced_and_without_bank_conflicts(True, (False, False))


def test_a_row_whose_parts_are_not_brought_together(plant):
    """Each lane's logsumexp counts its own columns only."""
    plant("include/epilogues.cuh", "step >= narrowest; step /= 2", "step > narrowest; step /= 2")
    with pytest.raises(CAUGHT):
        test_gemm.test_logsumexp_epilogue(False, (3, 5), 37, 29)


# Reductions, softmax, norms


@pytest.mark.parametrize(
    "barrier",
    ["__syncthreads();\n    v = warp_reduce<WARPS", "__syncthreads();  // the next call writes to parts again"],
    ids=["before-reading", "before-the-next"],
)
def test_a_missing_barrier_in_a_block_reduction(plant, barrier):
    plant("include/reduce.cuh", barrier, barrier.removeprefix("__syncthreads();"))
    with pytest.raises(AssertionError, match="race"):
        test_normalisation.test_values("layernorm", (64, 1, 4, (130,)))


def test_a_missing_barrier_in_a_tree(plant):
    plant("sum.cu", "__syncthreads();  // what the step before wrote is there for all", "")
    with pytest.raises(AssertionError, match="race"):
        test_reductions.test_what_each_rung_gained()


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("a.total * expf(a.top - top)", "a.total * expf(top - a.top)"),
        ("a.total * expf(a.top - top)", "a.total"),
        ("part.total * expf(part.top - x) + 1.0f", "part.total + 1.0f"),
    ],
    ids=["upside-down", "forgotten", "forgotten-within-a-thread"],
)
def test_a_wrong_rescale_in_online_softmax(plant, right, wrong):
    plant("include/online_softmax.cuh", right, wrong)
    with pytest.raises(AssertionError):
        test_softmax.test_rungs_that_take_any_length("softmax_2_online", 5, 65)
    with pytest.raises(AssertionError):
        test_reductions.test_a_row_becomes_one_number("row_logsumexp", 32)


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("if (column(e) < C) *(Pack<float, N>*)(row", "if (column(e) < C / 2) *(Pack<float, N>*)(row"),
        ("own[e + j] = column(e) < C ?", "own[e + j] = column(e) < C / 2 ?"),
    ],
    ids=["not-written", "not-read"],
)
def test_half_of_a_64_wide_row_is_left_out(plant, right, wrong):
    plant("include/row.cuh", right, wrong)
    with pytest.raises(AssertionError):
        test_normalisation.test_values("rmsnorm", (32, 1, 2, (64,)))
    with pytest.raises(AssertionError):
        test_softmax.test_rows_in_registers((32, 1, 2, (64,)))


def test_a_mask_that_shows_one_column_too_many(plant):
    plant("softmax.cu", "S - T + row % T + 1", "S - T + row % T + 2")
    with pytest.raises(CAUGHT):
        test_softmax.test_what_a_causal_mask_hides_is_never_looked_at("softmax_forward")


def test_a_gradient_of_the_weights_that_forgets_all_rows_but_one(plant):
    plant("include/layernorm_row.cuh", "dweight[e] += dy[e] * x[e];", "dweight[e] = dy[e] * x[e];")
    with pytest.raises(AssertionError, match="dweight"):
        test_normalisation.test_values("layernorm", (32, 1, 2, (64,)))


def test_a_bias_gradient_without_its_last_row(plant):
    plant("bias_gelu.cu", "sum.item[j] += d.item[j];", "if (row + 1 < rows) sum.item[j] += d.item[j];")
    with pytest.raises(AssertionError):
        test_fused.test_bias_gelu((7, 33), "backward")


def test_copies_of_the_rows_without_a_fault_pass(plant):
    test_normalisation.test_values("layernorm", (64, 1, 4, (130,)))
    test_softmax.test_rungs_that_take_any_length("softmax_2_online", 5, 65)
    test_reductions.test_a_row_becomes_one_number("row_logsumexp", 32)
