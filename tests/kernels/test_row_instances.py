"""The instances of the row kernels and reductions that a card would run, through NVIDIA's compiler: they compile, and fit."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from course_lib.cuda import nvrtc, source
from course_lib.devices.gpu import configuration
from course_lib.devices.gpu.launching import TYPES
from tests.nvrtc_here import needs_nvrtc

pytestmark = needs_nvrtc
REGISTERS = 65536  # of a multiprocessor, and so of a block: NVIDIA's programming guide, technical specifications


def compiled(file: str, *names: str) -> dict[str, int]:
    """Registers of a thread by the name of the instance, compiled for sm_75."""
    cubin, lowered = nvrtc.compile_text(source.find(source.KERNELS / file), names, "sm_75")
    found = registers(cubin)
    return {name: found[lowered[name]] for name in names}


def registers(cubin: bytes) -> dict[str, int]:
    """Registers of a thread by kernel: the upper byte of sh_info in the ELF section of its code."""
    (start,), (size, count, names) = struct.unpack_from("<Q", cubin, 0x28), struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + i * size) for i in range(count)]
    texts = sections[names][4]
    found = {}
    for section in sections:
        name = cubin[texts + section[0] :].split(b"\0", 1)[0].decode()
        if name.startswith(".text."):
            found[name.removeprefix(".text.")] = section[7] >> 24
    return found


@pytest.mark.parametrize("file", ["softmax.cu", "layernorm.cu", "residual_layernorm.cu", "rmsnorm.cu"])
def test_a_block_that_keeps_a_row_has_the_registers_for_it(file):
    """At the model's width, and for the longest rows of all, in fours and one by one."""
    layouts = [configuration.row_layout(False, C, N) for C, N in ((384, 4), (16384, 4), (16383, 1))]
    name = file.removesuffix(".cu")
    names = [f"{name}_{way}<{layout.template}>" for way in ("forward", "backward") for layout in layouts]
    used = compiled(file, *names)
    for instance, layout in zip(names, layouts * 2, strict=True):
        assert 0 < used[instance] * layout.THREADS <= REGISTERS, f"{instance} takes {used[instance]} registers a thread"


def test_reductions_compile_for_every_type():
    instances = []
    for dtype in map(np.dtype, ("float32", "int32", "int64", "bool")):
        own, total = TYPES[dtype.name], "float" if dtype.kind == "f" else "long long"
        for name, last in (("reduce_rows", ", 1, 32"), ("reduce_columns", "")):
            instances += [(f"{name}.cu", f"{name}<{op}, {own}, {result}{last}>")
                          for op, result in (("Sum", total), ("Max", own))]  # fmt: skip
    for file in {file for file, _ in instances}:
        assert all(compiled(file, *(name for f, name in instances if f == file)).values())


@pytest.mark.parametrize(
    "file, names",
    [
        ("sum.cu", ["sum_2_tree<256>", "sum_3_warps<256>", "sum_4_vectors<256>"]),
        ("softmax.cu", ["softmax_1_three_pass<256>", "softmax_2_online<1024>", "softmax_backward_1_two_pass<1024>"]),
        ("layernorm.cu", ["layernorm_1_three_pass<256>"]),
        ("row_max.cu", ["row_max<32, 4>", "row_max<1024, 1>"]),
        ("logsumexp.cu", ["row_logsumexp<32, 4>", "row_logsumexp<1024, 1>"]),
        ("global_norm.cu", [f"global_norm_{what}<{configuration.NORM_THREADS}>" for what in ("squares", "root")]),
        ("residual_add.cu", ["residual_add<4>", "residual_add<1>"]),
        ("scale.cu", ["scale<4>", "scale<1>"]),
    ],
)  # fmt: skip
def test_versions_compile(file, names):
    for name, used in compiled(file, *names).items():
        assert used * 1024 <= REGISTERS or "1024" not in name
