"""Inline PTX: each instruction's value against NumPy, under both compilers, in both builds; what is not known stops by name."""

import numpy as np
import pytest

from course_lib.cuda import CompileError, Kernel, sanitize
from course_lib.cuda.programs import inline_ptx
from tests.simulator.test_programs import FOLDER, expected, run

pytestmark = pytest.mark.slow

U, S, F = np.uint32, np.int32, np.float32


def permuted(v, w, selector):
    octets = np.concatenate([v[:, None].view(np.uint8), w[:, None].view(np.uint8)], 1)
    return np.stack([octets[:, selector >> 4 * i & 7] for i in range(4)], 1).copy().view(U)[:, 0]


def scalars() -> list[np.ndarray]:
    """The rows of `scalars` in inline_ptx.cu, in its order."""
    i = np.arange(64, dtype=np.uint64)
    x = ((2654435761 * (i + 1)) ^ (i << 7)).astype(U)  # ^ binds less than <<, and more loosely than *
    v, w, lane = x[:32], x[32:], np.arange(32)
    g = ((lane * 37 % 101 - 50) / 64).astype(F)
    a, b, c = v, w, v * U(3)
    wide = v.astype(np.uint64) * w
    bits = [int(n).bit_length() - 1 for n in v]
    f16 = g.astype(np.float16)
    return [
        permuted(v, w, 0x3715), (a & b) | (a & c) | (b & c), v >> U(5) & U(0x1FF),
        (w & U(~(0x7FF << 7) & 0xFFFFFFFF)) | (v << U(7) & U(0x7FF << 7)), np.array(bits, U), (wide >> 32).astype(U),
        (v.view(S).astype(np.int64) * -3 + 17).astype(np.uint64).astype(U),
        (v.view(S).astype(np.int64) * w.view(S) >> 32).astype(np.uint64).astype(U),
        np.where(v.view(S) < w.view(S), v, U(99)), np.where(v & U(1), 6, 7), v[lane ^ 3],
        v[np.where(lane % 8 < 7, lane + 1, lane)], np.full(32, sum(1 << k for k in lane if v[k] > 0x7FFFFFFF), U),
        (1 << lane) - 1 + lane, v[lane // 2 + 1], (g * g + F(1)).view(U), f16.astype(F).view(U),
        np.trunc(1000 * g).astype(S).view(U),
        (f16.view(np.uint16).astype(U) << 16) | (g + F(1)).astype(np.float16).view(np.uint16),
        w << U(9) | v >> U(23), np.maximum(g, F(0.25)).view(U),
    ]  # fmt: skip


@pytest.mark.parametrize("checked", [False, True])
def test_instructions_give_what_numpy_gives(compiler, checked):
    found, said = run("inline_ptx.cu", checked)
    assert found.ok, found.findings
    products, numbers, moved = said.splitlines()
    halves = (np.arange(384) * 29 % 41 - 20) / 16
    right = halves[:256].reshape(16, 16) @ halves[256:].reshape(16, 8)
    got = np.array(products.split(), float).reshape(16, 8, 2)
    assert np.array_equal(got[..., 0], right)
    assert np.array_equal(got[..., 1], right.astype(np.float16))
    rows = np.array(numbers.split(), np.uint64).reshape(-1, 32)
    for number, (row, values) in enumerate(zip(rows, scalars(), strict=True)):
        assert np.array_equal(row, values.astype(U)), (number, row, values)
    f = (np.arange(128) * 37 % 101 - 50) / 64
    *values, twos, ones = moved.split()
    assert np.array_equal(np.array(values, float), f.reshape(32, 4)[:, ::-1].ravel())
    assert (twos, ones) == ("64", "32")


def test_an_instruction_that_is_not_simulated_stops_the_kernel_by_its_name():
    found, _ = run("inline_ptx.cu", True, "all")
    assert {(one.kind, one.line) for one in found.findings} == expected("inline_ptx.cu")
    assert "the PTX instruction wgmma.fence.sync.aligned is not simulated" in found.findings[0].message


def test_a_kernel_of_a_file_with_inline_ptx_is_launched_from_python():
    x, y, count = np.arange(128, dtype=F), np.zeros(128, F), np.zeros(2, U)
    Kernel(FOLDER / "inline_ptx.cu", "vectors")((1,), (32,), (x, y, count))
    assert np.array_equal(y, x.reshape(32, 4)[:, ::-1].ravel()) and count.tolist() == [64, 32]


# In a text as in a file, through a macro, too: NVRTC takes both.
TEXT = """#include "ptx.cuh"
#define LANE(to) asm volatile("mov.u32 %0, %%laneid;" : "=r"(to))

extern "C" __global__ void lanes(unsigned* y, int n) {
    unsigned lane, sum;
    LANE(lane);
    asm("add.u32 %0, %1, 100;" : "=r"(sum) : "r"(lane));
    if (threadIdx.x <= n) y[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("folder", [False, True])
def test_ptx_in_a_text_runs_and_is_watched(compiler, folder, tmp_path):
    (tmp_path / "kernel.cu").write_text(TEXT)
    kernel = Kernel(tmp_path / "kernel.cu", "lanes", host=False) if folder else Kernel(TEXT, "lanes")
    y = np.zeros(40, U)
    kernel((1,), (40,), (y, 40))
    assert y.tolist() == [*range(100, 132), *range(100, 108)]
    report = sanitize(kernel, (1,), (40,), (y[:39].copy(), 39))
    assert [(one.kind, one.file, one.line) for one in report.issues] == [("out-of-bounds", "kernel.cu", 8)]


@pytest.mark.parametrize(
    ("line", "with_it", "words"),
    [
        (7, TEXT.replace("sum)", "sun)"), "sun"),
        (6, TEXT.replace("LANE(lane);", 'asm("movl $5, %0" : "=r"(lane));'), "is not PTX"),
        (8, TEXT.replace("y[threadIdx.x] = sum", 'system("ls")'), "is of the host"),
    ],
)
def test_a_mistake_in_a_text_with_ptx_gets_its_line(compiler, line, with_it, words):
    with pytest.raises(CompileError, match=words) as caught:
        Kernel(with_it, "lanes")((1,), (1,), (np.zeros(1, U), 1))
    assert caught.value.line == line, caught.value


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ('asm("nop");', None),
        ('__asm__ volatile("movl $5, %0" : "=r"(x));', None),
        ('asm("add.sat.s32 %0, %1, %2;" : "=r"(x) : "r"(y), "r"(z));', "add.sat.s32 is not simulated"),
        ('asm volatile("bar.sync 1, 64;");', "bar.sync is not simulated"),
        ('asm("mov.u32 %0, %%smid;" : "=r"(a::b[i]));', "auto&& sim_o0 = (a::b[i])"),
        ('asm("// a comment\\n"\n    "trap;"\n);', "__trap();"),
    ],
)
def test_what_a_statement_becomes(statement, said):
    text = f"void f() {{ if (q) {statement} else g(); }}"
    done = inline_ptx.rewrite(text)
    assert done.count("\n") == text.count("\n") and done.endswith("; else g(); }")
    assert done == text if said is None else said in done and "asm" not in done
