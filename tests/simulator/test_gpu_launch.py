"""What a launch hands to CuPy and to the card's driver, with stand-ins for both ends: arrays, modules, functions, copies.

The compiler between is NVIDIA's own. That a card then does the right thing, only a card can show.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.cuda import Kernel, nvrtc
from course_lib.cuda.errors import ArgumentError, CompileError
from tests.nvrtc_here import needs_nvrtc

cupy = pytest.importorskip("cupy", reason="CuPy is not installed: pip install cupy-cuda13x")
pytestmark = needs_nvrtc

TEXT = """
struct Pair { int a; float b; };
__constant__ float weights[3];
namespace tool { namespace inner { __device__ float scales[3]; } }
template <int TILE> __global__ void scale(float* y, float factor, int n, unsigned char flag, double d, Pair pair) {
    extern __shared__ float space[];
    space[threadIdx.x] = weights[0] + tool::inner::scales[0] + TILE + flag + d + pair.a;
    if (threadIdx.x < n) y[threadIdx.x] *= factor * space[threadIdx.x];
}
extern "C" __global__ void plain(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = n; }
"""


class OnCard:
    """An array that says it is CuPy's."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.data, self.nbytes = SimpleNamespace(ptr=4096), self.values.nbytes


OnCard.__module__ = "cupy"


@pytest.fixture
def card(monkeypatch):
    """A driver that remembers what it was asked for."""
    seen = SimpleNamespace(loaded=[], names=[], launches=[], copies=[])

    class Function:
        ptr, allowed = 12288, 0  # the latter: bytes of shared memory beyond the 48 KB that need no permission

        def __call__(self, grid, block, args, shared_mem=0):
            seen.launches.append((grid, block, args, shared_mem, Function.allowed))

    def allow(pointer, attribute, value):
        assert (pointer, attribute) == (Function.ptr, 8)  # cuda.h: CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        Function.allowed = value

    class Module:
        def load(self, cubin):
            assert cubin[:4] == b"\x7fELF"
            seen.loaded.append(cubin)

        def get_function(self, name):
            assert name.encode() in seen.loaded[-1]
            seen.names.append(name)
            return Function()

        def get_global_var(self, name):
            assert name.encode() in seen.loaded[-1]
            return 8192

    real = cupy.cuda.function
    for stand_in, cupys in ((Function, real.Function), (Module, real.Module)):  # what a stand-in has, CuPy's must have
        assert not [
            name for name in vars(stand_in) if name[0] != "_" and name != "allowed" and not hasattr(cupys, name)
        ]
    monkeypatch.setattr(real, "Module", Module)
    monkeypatch.setattr(cupy.cuda.driver, "funcSetAttribute", allow)
    monkeypatch.setattr(cupy, "ascontiguousarray", lambda array: array)
    monkeypatch.setattr(cupy.cuda.runtime, "memcpy", lambda *args: seen.copies.append(args))
    monkeypatch.setattr(nvrtc, "architecture_of_device", lambda: "sm_80")
    return seen


def pair(a, b):
    return np.array([(a, b)], dtype=[("a", "i4"), ("b", "f4")])[0]


def test_numbers_become_the_types_of_the_parameters(card):
    y = OnCard(np.ones(4, np.float32))
    Kernel(TEXT, "scale<8>")((2, 3), 64, (y, 0.5, 4, 7, 2.5, pair(3, 1.5)), shared_mem=256)
    (grid, block, args, shared, _), *more = card.launches
    assert (grid, block, shared, more) == ((2, 3, 1), (64, 1, 1), 256, [])
    assert args[0] is y
    assert [type(arg) for arg in args[1:5]] == [np.float32, np.int32, np.uint8, np.float64]
    assert [arg.item() for arg in args[1:5]] == [0.5, 4, 7, 2.5]
    assert args[5].tobytes() == pair(3, 1.5).tobytes()
    assert "scale" in card.names[0] and card.names[0] != "scale<8>"  # C++'s mangled name of the instance


def test_a_kernel_is_loaded_once_per_architecture(card, monkeypatch):
    kernel, y = Kernel(TEXT, "plain"), OnCard(np.ones(4, np.float32))
    for _ in range(3):
        kernel((1,), (32,), (y, 4))
    assert (len(card.loaded), card.names, len(card.launches)) == (1, ["plain"], 3)
    monkeypatch.setattr(nvrtc, "architecture_of_device", lambda: "sm_90")
    kernel((1,), (32,), (y, 4))
    assert len(card.loaded) == 2 and card.loaded[0] != card.loaded[1]


def test_much_shared_memory_is_asked_for_first(card):
    arguments = (OnCard(np.ones(4, np.float32)), 0.5, 4, 7, 2.5, pair(3, 1.5))
    kernel = Kernel(TEXT, "scale<16>")
    kernel((1,), (32,), arguments, shared_mem=48 << 10)
    kernel((1,), (32,), arguments, shared_mem=100 << 10)
    assert [(launch[3], launch[4]) for launch in card.launches] == [(48 << 10, 0), (100 << 10, 100 << 10)]


def test_upload_copies_into_the_variable(card):
    for name in ("weights", "tool::inner::scales"):
        Kernel(TEXT, "scale<8>").upload(name, OnCard(np.ones(3, np.float32)))
    assert card.copies == [(8192, 4096, 12, cupy.cuda.runtime.memcpyDeviceToDevice)] * 2


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (lambda y: (y,), "plain takes 2 arguments; 1 were given"),
        (lambda y: (y, 1.5), "argument 2 is an integer .int.; 1.5 is a float"),
        (lambda y: (y, 2**40), "argument 2"),
        (lambda y: (np.ones(4, np.float32), y), "argument 1 is a NumPy array among CuPy arrays.*cupy.asarray"),
    ],
)
def test_wrong_arguments_are_a_sentence(card, args, words):
    with pytest.raises(ArgumentError, match=words):
        Kernel(TEXT, "plain")((1,), (32,), args(OnCard(np.ones(4, np.float32))))
    assert not card.launches


def test_wrong_extents_and_texts_are_a_sentence(card):
    y = OnCard(np.ones(4, np.float32))
    with pytest.raises(ArgumentError, match=r"block\.x is 2,048; a GPU takes at most 1,024"):
        Kernel(TEXT, "plain")((1,), (2048,), (y, 4))
    with pytest.raises(ArgumentError, match=r"64 x 32 x 1 = 2,048 threads per block"):
        Kernel(TEXT, "plain")((1,), (64, 32), (y, 4))
    with pytest.raises(ArgumentError, match="a GPU has at most 232,448"):
        Kernel(TEXT, "plain")((1,), (32,), (y, 4), shared_mem=300_000)
    wrong = TEXT.replace("= n;", "= m;")
    with pytest.raises(CompileError, match=r"(?s)kernel\.cu, line 10:.*The name m is not known here"):
        Kernel(wrong, "plain")((1,), (32,), (y, 4))
    assert not card.launches
