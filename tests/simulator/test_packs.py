"""A pack that is read or written whole is one access, though its parts are used one by one: under both compilers."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from course_lib import native
from course_lib.cuda import Kernel, debug_locations, sanitize, vector_access
from course_lib.cuda.vector_access import keep_vector_accesses

build_library = native.build

FILE = Path(__file__).parent / "packs.cu"
F = np.float32
# name: (space, read or write, bytes of a lane's access, requests, sectors of a request)
CASES = {
    name: (space or "global", op, int(size), int(requests or 1), int(sectors or size))
    for name, space, op, size, requests, sectors in re.findall(
        r"__global__ void (\w+)\(.*?\) \{  // (?:(shared) )?(read|write) (\d+)(?: (\d+))?(?: (\d+))?", FILE.read_text()
    )
}


@pytest.mark.parametrize("name", CASES)
def test_a_pack_that_is_used_in_parts_is_one_request_or_what_a_gpu_needs(name, compiler):
    space, op, size, requests, sectors = CASES[name]
    text = FILE.read_text().splitlines()
    report = sanitize(Kernel(FILE, name), (1,), (32,), (np.ones(256, F), np.zeros(128, F), 4), shared_mem=512)
    assert report.ok and not report.not_checked, str(report)
    lines = [line for line in report.lines if (line.space, line.op) == (space, op)]
    if marked := [line for line in lines if "// here" in text[line.line - 1]]:
        lines = marked
    (line,) = lines
    assert (line.requests, line.bytes_requested) == (requests, requests * 32 * size)
    if space == "global":
        assert line.sectors_per_request == sectors
    else:
        assert line.wavefronts_per_request == 4


def test_values_are_those_of_the_text(compiler):
    """The copies are rewritten only in the checked build, and there they must still copy."""
    x = np.arange(256, dtype=F)
    for name in (
        "parts_by_number",
        "three_floats",
        "not_aligned",
        "eight_floats",
        "as_bytes",
        "made_of_pairs",
        "straight_through",
    ):
        fast, checked = np.zeros(128, F), np.zeros(128, F)
        Kernel(FILE, name)((1,), (32,), (x, fast, 4))
        sanitize(Kernel(FILE, name), (1,), (32,), (x, checked, 4))
        assert fast.any()
        np.testing.assert_array_equal(checked, fast, err_msg=name)


MISALIGNED = """template <class T, int N> struct alignas(sizeof(T) * N) Pack { T v[N]; };
struct Row { float v[4]; };
extern __shared__ float dynamic[];
template <class T> __global__ void global(const float* x, float* y, int n) {
    T p = *reinterpret_cast<const T*>(x + 4 * threadIdx.x + n);
    y[threadIdx.x] = p.v[3];
}
template <class T> __global__ void shared(const float* x, float* y, int n) {
    __shared__ float s[140];
    for (int i = threadIdx.x; i < 140; i += 32) s[i] = i;
    __syncthreads();
    T p = *reinterpret_cast<const T*>(&s[4 * threadIdx.x + n]);
    y[threadIdx.x] = p.v[3];
}
template <class T> __global__ void dynamic_shared(const float* x, float* y, int n) {
    for (int i = threadIdx.x; i < 140; i += 32) dynamic[i] = i;
    __syncthreads();
    T p = *reinterpret_cast<const T*>(dynamic + 4 * threadIdx.x + n);
    y[threadIdx.x] = p.v[3];
}"""


@pytest.mark.parametrize("place", ["global", "shared", "dynamic_shared"])
def test_a_pack_must_be_aligned_as_its_type_asks(place, compiler):
    for kind, offset, kinds in (
        ("Pack<float, 4>", 0, []),
        ("Pack<float, 4>", 1, ["misaligned-access"]),
        ("Row", 1, []),
    ):
        kernel = Kernel(MISALIGNED, f"{place}<{kind}>")
        report = sanitize(kernel, (1,), (32,), (np.ones(140, F), np.zeros(32, F), offset), shared_mem=560)
        assert [issue.kind for issue in report.issues] == kinds, f"{kind} {offset}\n{report}"


OLDER = """@s = internal thread_local global [64 x float] undef, align 65536
@table = private unnamed_addr constant [4 x float] zeroinitializer, align 16
define hidden void @k(%struct.float4* noundef %0, i8* %1) #1 !dbg !5 {
  %3 = alloca %struct.float4, align 16
  %4 = alloca %struct.float4, align 16
  %5 = bitcast %struct.float4* %3 to i8*, !dbg !7
  %6 = bitcast %struct.float4* %0 to i8*, !dbg !7
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 16 %5, i8* align 16 %6, i64 16, i1 false), !dbg !7, !tbaa.struct !9
  %7 = bitcast %struct.float4* %4 to i8*
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 16 %7, i8* align 16 %5, i64 16, i1 false)
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 16 %5, i8* align 4 bitcast ([64 x float]* @s to i8*), i64 16, i1 false)
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 4 %6, i8* align 16 %5, i64 12, i1 false)
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 16 %5, i8* align 16 bitcast ([4 x float]* @table to i8*), i64 16, i1 false)
  ret void
}
define hidden void @ours(i8* %0, i8* %1) #2 {
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 16 %0, i8* align 16 %1, i64 16, i1 false)
  ret void
}
attributes #1 = { mustprogress sanitize_thread uwtable }
attributes #2 = { mustprogress uwtable }
"""


def newer(text):
    """The same without typed pointers, as LLVM writes it from 15 on."""
    text = re.sub(r"bitcast \([^()]* (@\S+) to i8\*\)", r"\1", text).replace(".p0i8.p0i8.", ".p0.p0.")
    text = re.sub(r"  (%\d) = bitcast \S+ (%\d) to i8\*", r"  \1 = getelementptr i8, ptr \2, i64 0", text)
    return re.sub(r"(?:i8|%struct\.float4)\*", "ptr", text)


@pytest.mark.parametrize("text", [OLDER, newer(OLDER)], ids=["typed", "opaque"])
def test_what_tells_of_too_little_room_is_said_to_change_nothing(text):
    declared = "declare void @__ubsan_handle_type_mismatch_v1(i8*, i64) #3\n"
    assert "i64) inaccessiblememonly #3" in keep_vector_accesses(text + declared)
    modern = text + declared + "attributes #3 = { nounwind memory(none) }\n"
    assert "i64) memory(inaccessiblemem: readwrite) #3" in keep_vector_accesses(modern)


@pytest.mark.parametrize("text", [OLDER, newer(OLDER)], ids=["typed", "opaque"])
def test_only_what_the_checker_watches_is_rewritten(text):
    lines = keep_vector_accesses(text).splitlines()
    left = [line for line in lines if "@llvm.memcpy" in line]
    assert len(left) == 3
    assert (
        sum("call void @sim_check_copy" in line and "i64 12)" in line for line in lines) == 1
    )  # no size of one access
    loads, stores = ([line for line in lines if re.search(word, line)] for word in (r"= load ", r"^  store "))
    assert len(loads) == len(stores) == 2  # from the argument and from shared memory, but not from one local to another
    assert all(" load volatile <4 x i32>, " in line and "align 16" in line for line in loads)
    assert not any("volatile" in line for line in stores)
    assert loads[0].endswith(", !dbg !7") and stores[0].endswith(", !dbg !7")


@pytest.mark.skipif(not shutil.which("clang++"), reason="clang++ is not installed")
def test_another_rewriting_builds_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_COMPILER", "clang")
    seen = []
    monkeypatch.setattr(
        native, "build", lambda *arguments, **ways: seen.append((arguments, ways)) or build_library(*arguments, **ways)
    )
    for checked in (False, True):
        Kernel("__global__ void another_rewriting(float* y) { y[0] = 1; }", "another_rewriting").compiled(
            checked=checked
        )
    (fast, plain), ((*_, depends, _), ways) = [one for one in seen if "header" in one[1]]  # not the runtime
    assert fast[-1].kind == "clang" and not {"rewrite", "finish"} & set(plain)
    rewrite, finish = ways["rewrite"], ways["finish"]
    assert rewrite(OLDER).startswith(keep_vector_accesses(OLDER).rstrip()) and finish is debug_locations.restore
    assert {Path(vector_access.__file__), Path(debug_locations.__file__)} <= set(depends)  # a part of the cache's key
