"""What the course says of an NVIDIA card that it cannot use: one sentence, with what to do. No card is needed here."""

import importlib.machinery
import sys
from types import ModuleType, SimpleNamespace

import pytest

from course_lib import nvidia, training
from course_lib.devices import available_devices
from course_lib.devices.gpu import card
from course_lib.devices.webgpu import adapter

GPU = nvidia.Gpu("Test 4090", (8, 9), (13, 0))


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A stand-in for CuPy whose card works."""
    module = ModuleType("cupy")
    module.__spec__ = importlib.machinery.ModuleSpec("cupy", None)
    module.empty = lambda shape, dtype=None: SimpleNamespace(fill=lambda value: None)
    module.cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDeviceCount=lambda: 1, memGetInfo=lambda: (2_000_000, 8_000_000_000)),
        memory=SimpleNamespace(OutOfMemoryError=type("OutOfMemoryError", (Exception,), {})),
    )
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_a_card_that_works_has_no_problem(cupy):
    assert card.diagnose(GPU) == ""


def test_no_card():
    assert "no NVIDIA GPU" in card.diagnose(None)


def test_an_old_driver_is_named_with_what_it_runs(cupy):
    said = card.diagnose(nvidia.Gpu("Test 3090", (8, 6), (11, 4)))
    assert "11.4" in said and "12.0" in said and "newer NVIDIA driver" in said


def test_an_old_card_is_named_with_its_capability(cupy):
    said = card.diagnose(nvidia.Gpu("Test 1080", (6, 1), (12, 4)))
    assert "6.1" in said and "7.5" in said


@pytest.mark.parametrize(("cuda", "extra"), [((13, 0), "cuda"), ((12, 4), "cuda12")])
def test_without_cupy_the_one_that_fits_is_named(monkeypatch, cuda, extra):
    monkeypatch.setattr(card, "find_spec", lambda name: None)
    said = card.diagnose(nvidia.Gpu("Test 4090", (8, 9), cuda))
    assert "not installed" in said and f".[{extra}]" in said


def test_a_cupy_that_does_not_fit_says_what_it_said(cupy):
    def fails():
        raise RuntimeError("CUDA driver version is insufficient for CUDA runtime version\nmore")

    cupy.cuda.runtime.getDeviceCount = fails
    said = card.diagnose(nvidia.Gpu("Test 4090", (8, 9), (12, 4)))
    assert "does not work" in said and "insufficient" in said and "more" not in said and "cuda12" in said


def test_a_card_that_is_hidden(cupy):
    cupy.cuda.runtime.getDeviceCount = lambda: 0
    assert "CUDA_VISIBLE_DEVICES" in card.diagnose(GPU)


def test_a_full_card_says_how_much_was_asked_for_and_what_helps(cupy):
    def fails(shape, dtype=None):
        raise cupy.cuda.memory.OutOfMemoryError

    cupy.empty = fails
    with pytest.raises(MemoryError) as raised:
        card.empty((1000, 1000), "float32")
    assert "4 MB" in str(raised.value) and "2 of its 8,000 MB" in str(raised.value) and "--batch" in str(raised.value)


@pytest.mark.skipif("cuda" in available_devices(), reason="this machine has a GPU that works")
def test_auto_says_why_it_does_not_take_the_card(monkeypatch):
    monkeypatch.setattr(nvidia, "gpu", lambda: GPU)
    monkeypatch.setattr(card, "problem", lambda: "The driver is too old.")
    monkeypatch.setattr(adapter, "problem_as_gpu", lambda: "No other GPU shows itself.")
    assert training.choose_device("auto") == ("cpu", "The driver is too old. No other GPU shows itself")
    with pytest.raises(training.TrainingError, match="too old"):
        training.choose_device("cuda")
    monkeypatch.setattr(card, "problem", lambda: card.diagnose(None))
    assert training.choose_device("auto")[0] == "cpu" and "no NVIDIA GPU" in training.choose_device("auto")[1]


def test_auto_takes_a_card_that_works(monkeypatch):
    monkeypatch.setattr(training, "available_devices", lambda: ["reference", "cpu", "cuda"])
    device, why = training.choose_device("auto")
    assert device == "cuda" and "NVIDIA" in why


@pytest.mark.skipif("cuda" in available_devices(), reason="this machine has a GPU that works")
def test_auto_takes_a_gpu_of_another_make_and_says_what_an_nvidia_card_lacks(monkeypatch):
    monkeypatch.setattr(adapter, "problem_as_gpu", lambda: "")
    monkeypatch.setattr(adapter, "adapter_name", lambda: "Test M2 (Metal)")
    monkeypatch.setattr(nvidia, "gpu", lambda: None)
    assert training.choose_device("auto") == ("webgpu", "the fastest device here is Test M2 (Metal)")
    monkeypatch.setattr(nvidia, "gpu", lambda: GPU)
    monkeypatch.setattr(card, "problem", lambda: "The driver is too old.")
    assert training.choose_device("auto")[1].endswith("Test M2 (Metal); The driver is too old.")
