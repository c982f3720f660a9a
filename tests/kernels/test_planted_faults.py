"""Faults planted in copies of our kernels, one at a time: each is caught by the tests that guard the right ones."""

from __future__ import annotations

import shutil

import pytest

from course_lib import native
from course_lib.cuda import KernelError, source
from course_lib.devices import replacing
from course_lib.devices.gpu import launching
from tests.kernels import (
    test_adamw,
    test_attention,
    test_attention_tensor_cores,
    test_cross_entropy,
    test_decode,
    test_fused,
    test_gemm,
    test_matmul_versions,
    test_normalisation,
    test_reductions,
    test_rope_and_embedding,
    test_softmax,
)
from tests.kernels.test_matmul_versions import MATMUL

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
    replacing.ours.cache_clear()

    def change(file: str, right: str, wrong: str) -> None:
        text = (copy / file).read_text()
        assert text.count(right) == 1, f"{file} has changed: {right!r} stands there {text.count(right)} times"
        (copy / file).write_text(text.replace(right, wrong))

    yield change
    replacing.ours.cache_clear()


def test_a_copy_without_a_fault_passes(plant):
    test_gemm.test_residual_epilogue(False, (3, 5), 37, 29)
    test_matmul_versions.test_clean_on_ragged_sizes(MATMUL["3 shared tiles"])


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


def test_a_stale_tile_edge_of_the_matmul_versions(plant):
    plant(
        "matmul_3_shared_tiles.cu",
        "b[y][x] = k + y < K && column < N ? B[(size_t)(k + y) * N + column] : 0.0f;",
        "if (k + y < K && column < N) b[y][x] = B[(size_t)(k + y) * N + column];",
    )
    with pytest.raises(CAUGHT):
        test_matmul_versions.test_clean_on_ragged_sizes(MATMUL["3 shared tiles"])


def test_a_missing_barrier_between_two_slices(plant):
    plant(
        "matmul_6_vectorised.cu", "__syncthreads();  // the other buffer is complete", "// the other buffer is complete"
    )
    with pytest.raises(AssertionError, match="race"):
        test_matmul_versions.test_clean_on_ragged_sizes(MATMUL["6 vectorised"])


def test_a_copy_without_a_wait(plant):
    plant("matmul_8_mma.cu", "ptx::cp_async_wait<STAGES - 2>();", "ptx::cp_async_wait<STAGES>();")
    with pytest.raises(CAUGHT):
        test_matmul_versions.test_clean_on_ragged_sizes(MATMUL["8 mma, bfloat16"])


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
    plant("sum.cu", "__syncthreads();  // all threads see the writes of the step before", "")
    with pytest.raises(AssertionError, match="race"):
        test_reductions.test_what_each_version_gained()


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("a.l * expf(a.m - m)", "a.l * expf(m - a.m)"),
        ("a.l * expf(a.m - m)", "a.l"),
        ("part.l * expf(part.m - x) + 1.0f", "part.l + 1.0f"),
    ],
    ids=["upside-down", "forgotten", "forgotten-within-a-thread"],
)
def test_a_wrong_rescale_in_online_softmax(plant, right, wrong):
    plant("include/online_softmax.cuh", right, wrong)
    with pytest.raises(AssertionError):
        test_softmax.test_versions_that_take_any_length("softmax_2_online", 5, 65)
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
    test_softmax.test_versions_that_take_any_length("softmax_2_online", 5, 65)
    test_reductions.test_a_row_becomes_one_number("row_logsumexp", 32)


# Attention, embedding, loss, optimiser

FORWARD, BACKWARD = "flash_attention_forward.cu", "flash_attention_backward.cu"
GROUPED = (1, 65, 65, 4, 2, 64, True)


def test_a_copy_of_attention_without_a_fault_passes(plant):
    test_attention.test_flash_attention_agrees_with_float64(GROUPED)


@pytest.mark.parametrize(
    "file, call",
    [
        (FORWARD, "load_rows<TILE_S, D>(v_tile, v + (long long)start * G * d, G * d, S - start, d"),
        (FORWARD, "store_rows<TILE_T, D>(y, H * d, T - first, d"),
        (BACKWARD, "store_rows<TILE_S, D>(dk + own, G * d, S - first, d"),
    ],
    ids=["v", "y", "dk"],
)
def test_half_of_each_64_wide_head_is_left_out(plant, file, call):
    plant(file, call, f"{call} / 2")
    with pytest.raises(AssertionError):
        test_attention.test_flash_attention_agrees_with_float64(GROUPED)


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("out[r][c] *= rescale;", "out[r][c] *= 1.0f;"),
        ("l[r] = l[r] * rescale + sum;", "l[r] += sum;"),
        ("__expf(m[r] - new_m)", "__expf(new_m - m[r])"),
    ],
    ids=["output-forgotten", "sum-forgotten", "upside-down"],
)
def test_a_wrong_rescale_in_flash_attention(plant, right, wrong):
    plant(FORWARD, right, wrong)
    with pytest.raises(AssertionError):
        test_attention.test_a_row_whose_largest_score_comes_last_is_rescaled()


@pytest.mark.parametrize(
    "file, right, wrong",
    [
        (FORWARD, "past + first + row + 1) : S)", "past + first + row + 2) : S)"),
        (FORWARD, "start + TILE_S > past + first + 1);", "start + TILE_S > past + first + TILE_T);"),
        (BACKWARD, "causal && key > past + query + c", "causal && key >= past + query + c"),
        (BACKWARD, "max(0, first - past) / TILE_T * TILE_T", "max(0, first - past + TILE_T) / TILE_T * TILE_T"),
    ],
    ids=["one-key-too-many", "edge-not-masked", "one-key-too-few", "a-tile-too-few"],
)
def test_a_wrong_mask_in_flash_attention(plant, file, right, wrong):
    plant(file, right, wrong)
    with pytest.raises(AssertionError):
        test_attention.test_flash_attention_agrees_with_float64(GROUPED)


def test_gradients_of_one_head_of_a_group_only(plant):
    plant(BACKWARD, "h < (g + 1) * (H / G)", "h < g * (H / G) + 1")
    with pytest.raises(AssertionError, match="dk"):
        test_attention.test_flash_attention_agrees_with_float64(GROUPED)


def test_a_missing_barrier_after_the_weights(plant):
    """In the backward all groups read the rows of all others."""
    plant(BACKWARD, "        __syncthreads();\n        multiply_transposed", "        multiply_transposed")
    with pytest.raises(AssertionError, match="race"):
        test_attention.test_flash_attention_is_clean((1, 40, 40, 2, 1, 64, True))


def test_rows_of_a_fragment_taken_for_others(plant):
    plant("flash_attention_bf16_backward.cu", "lane / 4 + e / 2 * 8", "lane / 4 + e / 2 * 4")
    with pytest.raises(AssertionError):
        test_attention_tensor_cores.test_attention_agrees_with_float64(GROUPED)


def test_a_group_of_keys_that_is_not_brought_to_the_common_scale(plant):
    plant(
        "include/one_query.cuh",
        "outs[group][lane + i * READER_LANES] = out[i] * rescale;",
        "outs[group][lane + i * READER_LANES] = out[i];",
    )
    with pytest.raises(AssertionError):
        test_decode.test_one_query_agrees_with_float64(3, 70, 4, 1, 64)


def test_places_of_a_row_that_change_their_order(plant):
    plant("embedding.cu", "j < threadIdx.x;", "j > threadIdx.x;")
    with pytest.raises(AssertionError):
        test_rope_and_embedding.test_embedding_agrees_with_float64_and_sums_in_order(7, 130, 600, "int32")


def test_ignored_targets_that_count(plant):
    plant("cross_entropy.cu", "count += targets[i] != ignore;", "count += 1;")
    with pytest.raises(AssertionError):
        test_cross_entropy.test_cross_entropy_agrees_with_float64(33, 1025, "int32")


def test_an_unclipped_gradient(plant):
    plant("adamw.cu", "gi = g[i] * clip", "gi = g[i]")
    with pytest.raises(AssertionError):
        test_adamw.test_adamw_agrees_with_float64(1.0)
