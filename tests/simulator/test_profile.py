"""Occupancy against NVIDIA's own calculator, registers against what was asked of its compiler, counters by Nsight's names."""

import ctypes
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from course_lib import native
from course_lib.cuda import Kernel, cards, nvrtc, registers, sanitize
from course_lib.cuda.occupancy import occupancy, reserved
from course_lib.cuda.programs import command
from tests.nvrtc_here import needs_nvrtc

LANES = {
    (7, 5): 64,
    (8, 0): 64,
}  # float32 units of a multiprocessor; 128 from 8.6 on (Programming Guide, arithmetic throughput)
HEADER = next((folder for folder in nvrtc.header_folders() if (folder / "cuda_occupancy.h").is_file()), None)


@pytest.mark.parametrize("card", cards.CARDS.values(), ids=list(cards.CARDS))
def test_the_peaks_of_a_card_follow_from_its_clocks(card):
    assert card.bandwidth == pytest.approx(2 * card.memory_clock * 1e3 * card.bus / 8, rel=0.002)
    lanes = LANES.get(card.capability, 128)
    assert card.float32 == pytest.approx(2 * card.clock * 1e3 * lanes * card.multiprocessors, rel=0.01)
    assert card.shared - card.shared_per_block == reserved(card)


@pytest.fixture(scope="module")
def nvidia(tmp_path_factory):
    """cuda_occupancy.h behind a C function: (card, threads, registers, shared) -> resident blocks."""
    folder = tmp_path_factory.mktemp("occupancy")
    (folder / "peer.cpp").write_text(
        '#include "cuda_occupancy.h"\n'
        'extern "C" int resident(const int* p, int threads, int registers, int shared) {\n'
        "    cudaOccDeviceProp card = {};\n"
        "    card.computeMajor = p[0], card.computeMinor = p[1], card.maxThreadsPerBlock = 1024, card.warpSize = 32;\n"
        "    card.maxThreadsPerMultiprocessor = p[2], card.regsPerBlock = card.regsPerMultiprocessor = p[3];\n"
        "    card.sharedMemPerBlock = 48 << 10, card.sharedMemPerMultiprocessor = p[4], card.sharedMemPerBlockOptin = p[5];\n"
        "    card.reservedSharedMemPerBlock = p[6], card.numSms = p[7];\n"
        "    cudaOccFuncAttributes kernel = {};\n"
        "    kernel.maxThreadsPerBlock = 1024, kernel.numRegs = registers, kernel.numBlockBarriers = 1;\n"
        "    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN, kernel.maxDynamicSharedSizeBytes = p[5];\n"
        "    cudaOccDeviceState state = {};\n"
        "    state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;\n"
        "    cudaOccResult found;\n"
        "    if (cudaOccMaxActiveBlocksPerMultiprocessor(&found, &card, &kernel, &state, threads, shared)) return -1;\n"
        "    return found.activeBlocksPerMultiprocessor;\n"
        "}\n"
    )
    compiler = native.find_compiler()
    library = folder / "peer.so"
    command = [
        *compiler.command,
        "-shared",
        "-fPIC",
        "-O1",
        f"-I{HEADER}",
        str(folder / "peer.cpp"),
        "-o",
        str(library),
    ]
    subprocess.run(command, check=True, capture_output=True)
    resident = ctypes.CDLL(str(library)).resident

    def ask(card, threads: int, regs: int, shared: int) -> int:
        numbers = (*card.capability, card.threads, card.registers, card.shared, card.shared_per_block, reserved(card),
                   card.multiprocessors)  # fmt: skip
        return resident((ctypes.c_int * len(numbers))(*numbers), threads, regs, shared)

    return ask


@pytest.mark.skipif(
    HEADER is None or native.find_compiler() is None, reason="there is no cuda_occupancy.h, or no compiler"
)
@given(
    card=st.sampled_from(list(cards.CARDS.values())),
    threads=st.integers(1, 1024),
    regs=st.integers(16, 255),
    shared=st.integers(0, 100 << 10),
)
def test_occupancy_is_that_of_nvidias_calculator(nvidia, card, threads, regs, shared):
    theirs = nvidia(card, threads, regs, shared)
    assert theirs >= 0
    if not theirs:
        with pytest.raises(ValueError, match="cannot run a block"):
            occupancy(card, threads, regs, shared)
        return
    assert occupancy(card, threads, regs, shared).blocks == theirs


def test_the_limit_is_named_and_unknown_registers_limit_nothing():
    card = cards.find("a100")
    assert occupancy(card, 256, 255, 0).limited_by == ("registers",)
    assert occupancy(card, 256, None, 80 << 10).limited_by == ("shared memory",)
    assert occupancy(card, 32, 16, 0).limited_by == ("blocks",) and occupancy(card, 32, 16, 0).theoretical == 0.5


def test_a_last_wave_lowers_the_achieved_occupancy():
    """On 4 multiprocessors with room for 2 blocks: 8 fill them, 10 leave two with one block each."""
    card = replace(cards.find("a100"), multiprocessors=4)
    limits = occupancy(card, 1024, 32, 0)
    assert limits.blocks == 2 and limits.theoretical == 1
    assert limits.achieved_at_most(8, 4) == 1
    assert limits.achieved_at_most(10, 4) == 10 / 12
    assert limits.achieved_at_most(1, 4) == 0.5


TILE = r"""
__global__ void transpose(const float* x, float* y, int n) {
    __shared__ float tile[32][32];
    int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = x[i * n + j];
    __syncthreads();
    y[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void every_second(const float* x, float* y) {
    if (threadIdx.x < 16) y[threadIdx.x] = x[2 * threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def report():
    x = np.arange(64 * 64, dtype=np.float32)
    return sanitize(Kernel(TILE, "transpose"), (2, 2), (32, 32), (x, np.zeros_like(x), 64))


def test_counters_under_nsights_names(report):
    """4 blocks of 32 warps: each reads 4 sectors, and reads one bank 32 times."""
    found = report.profile("t4")
    assert found["launch__grid_size"] == 4 and found["launch__block_size"] == 1024
    assert found["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 128
    assert found["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 512
    assert found["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] == 128 * 32
    assert found["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] == 128 * 31
    assert found["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] == 0
    assert found["launch__shared_mem_per_block_static"] == 4096
    with pytest.raises(KeyError, match="launch__grid_size"):
        found["launch__grid"]
    assert "occupancy at most 100%" in str(found) and "<code>launch__grid_size</code>" in found._repr_html_()
    with pytest.raises(ValueError, match="a100, h100"):
        report.profile("8800")


def test_half_of_the_lanes_and_half_of_the_bytes():
    x = np.zeros(64, np.float32)
    found = sanitize(Kernel(TILE, "every_second"), 1, 32, (x, np.zeros_like(x))).profile()
    assert found["smsp__thread_inst_executed_per_inst_executed.ratio"] == 16
    assert found["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"] == 50


def test_without_nvrtc_the_registers_are_said_to_be_unknown(report, monkeypatch):
    monkeypatch.setattr(nvrtc, "available", lambda: False)
    found = report.profile()
    assert "registers are not known" in str(found) and "launch__registers_per_thread" not in str(found)


@needs_nvrtc
def test_registers_and_spills_are_those_of_the_cubin():
    """Sixty-four sums that all live at once, in a kernel that may have 32 registers: the rest goes to local memory."""
    text = (
        "__global__ void %s f(const float* x, float* y) {\n    float s[64];\n    for (int i = 0; i < 64; i++) s[i] = x[i * 7];\n"
        "    for (int k = 0; k < 9; k++) {\n        __syncthreads();\n"
        "        for (int i = 0; i < 64; i++) s[i] = s[i] * s[(i + 5) %% 64] + x[k];\n    }\n"
        "    for (int i = 0; i < 64; i++) y[i * 3] = s[i];\n}\n"
    )
    free, bound = (
        registers.resources(Kernel(text % bounds, "f"), "sm_80") for bounds in ("", "__launch_bounds__(1024, 2)")
    )
    assert free.registers > 64 and free.stack == 0
    assert bound.registers <= 32 and bound.stack > 0
    report = sanitize(
        Kernel(text % "__launch_bounds__(1024, 2)", "f"), 1, 1, (np.zeros(448, np.float32), np.zeros(192, np.float32))
    )
    assert "bytes of local memory for each thread" in str(report.profile("a100"))


PROGRAM = r"""
template <int T> __global__ void turn(const float* x, float* y) {
    __shared__ float tile[T][T];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * T + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * T + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 4 * N * N), cudaMalloc(&y, 4 * N * N), cudaMemset(x, 0, 4 * N * N);
    for (int i = 0; i < 3; i++) turn<N><<<1, dim3(N, N)>>>(x, y);
    return cudaDeviceSynchronize() || cudaFree(x) || cudaFree(y);
}
"""


def test_a_whole_program(tmp_path):
    """`course cuda profile`: three launches of one kind are one profile, and what is not known is said."""
    (tmp_path / "turn.cu").write_text(PROGRAM)
    done = CliRunner().invoke(command.app, ["profile", str(tmp_path / "turn.cu"), "-D", "N=16", "--gpu", "T4"])
    assert done.exit_code == 0, done.output
    assert "turn.cu, line 11, 3 times: turn<16> on Tesla T4" in done.output
    row = {line.split()[0]: line.split()[1] for line in done.output.splitlines() if "__" in line.partition(" ")[0]}
    assert row["launch__shared_mem_per_block_static"] == "1,024"
    assert row["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] == "56"  # 8 warps, each 8 wavefronts for 1
    assert "Note: registers are not known" in done.output


def test_a_roofline_for_a_named_card(report):
    named = report.roofline(gpu="h100", flops=1e6)
    assert named == report.roofline(3352e9, 66.9e12, flops=1e6)
    assert report.roofline(1e9, gpu="h100", flops=1e6).ridge == 66.9e12 / 1e9
    with pytest.raises(ValueError, match="gpu='a100'"):
        report.roofline(flops=1.0)
