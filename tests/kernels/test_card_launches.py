"""What would be launched on a card, found out without one: stand-ins for CuPy arrays drive the launch code, and nothing runs.

The launch code chooses other tiles and other instances of the templates for a card than for the simulator. Here each of them is
seen, checked against the limits of a card, and handed to NVIDIA's compiler.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import data, devices, optim, recipes
from course_lib.cuda import launch as launches
from course_lib.cuda import nvrtc
from course_lib.devices.gpu import card, launching
from course_lib.model import GPT, GPTConfig
from course_lib.run import Run
from tests.nvrtc_here import needs_nvrtc

BATCH = {"micro": 2, "12m": 8, "modern-12m": 8}
# Bytes of shared memory that a block may ask for: NVIDIA's programming guide, technical specifications per capability.
SHARED = {"float32": 64 << 10, "bfloat16": 99 << 10}  # from sm_75 on; from sm_80 on (sm_86 and sm_89 have least)


class CardArray:
    """Looks to the launch code as a CuPy array does; its memory is the host's, for no kernel runs."""

    def __init__(self, array: np.ndarray):
        self.array = array

    def __getattr__(self, name: str):
        return getattr(self.array, name)

    @property
    def data(self):
        return SimpleNamespace(ptr=self.array.__array_interface__["data"][0])

    def __getitem__(self, key):
        return CardArray(self.array[key])

    def reshape(self, *shape):
        return CardArray(self.array.reshape(*shape))

    def view(self, dtype):
        return CardArray(self.array.view(dtype))

    def get(self) -> np.ndarray:
        assert not CardArray.captured, "a value is taken from the card"
        return self.array

    def set(self, values: np.ndarray) -> None:
        assert not CardArray.captured, "a value is given to the card"
        self.array[...] = values

    captured = False  # whether launches become a graph, in which nothing may go between host and card


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """(kernel, grid, block, args, shared_mem) of each launch, in place of the launch."""
    seen: list[tuple] = []

    def aligned(shape, dtype):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory = np.zeros(size + 256, np.uint8)
        start = -memory.__array_interface__["data"][0] % 256
        return CardArray(memory[start : start + size].view(dtype).reshape(shape))

    monkeypatch.setattr(card, "empty", aligned)
    monkeypatch.setattr(
        launching.Counted, "__call__",
        lambda kernel, grid, block, args, shared_mem=0: seen.append((kernel, grid, block, args, shared_mem)),
    )  # fmt: skip
    return seen


def train_one_step(launched: list, text, preset: str, compute: str, **changed) -> None:
    """Fills `launched` with what a step launches; what the making of the model launched is left out."""
    config = GPTConfig.preset(preset, **({"dropout": 0.1} if preset == "micro" else {}), **changed)
    settings = recipes.settings(preset, "simulator", text=text, batch=BATCH.get(preset, 2), compute=compute)
    corpus = data.prepare(text=text, vocab_size=300, context=config.context)
    model = GPT(config, device="cuda")
    run = Run.__new__(Run)  # without the stream that a card would have
    run.settings, run.corpus, run.model = settings, corpus, model
    run.optimiser = optim.AdamW(model.named_parameters())
    ops = model.random.ops
    idx, targets = corpus.train.batch(0, BATCH.get(preset, 2))
    given = (idx[None], targets[None], np.ones(1, np.float32), np.zeros((1, 3), np.uint32), np.zeros(3, np.float32))
    given = [ops.from_numpy(x) for x in given]
    launched.clear()
    CardArray.captured = True
    try:
        with devices.computing("cuda", compute), launching.captured():
            total, norm = run._device_step(*given)
    finally:
        CardArray.captured = False
    assert total.shape == () and norm.shape == (1,)


@pytest.mark.parametrize("compute", ["float32", "bfloat16"])
@pytest.mark.parametrize("preset", BATCH)
def test_launches_of_a_step_stay_within_the_limits_of_a_card(launched, text, preset, compute):
    train_one_step(launched, text, preset, compute)
    assert len(launched) > 60
    for kernel, grid, block, args, shared_mem in launched:
        launches.extent(kernel.name, "grid", grid, launches.GRID_LIMITS)
        threads = np.prod(launches.extent(kernel.name, "block", block, launches.BLOCK_LIMITS))
        assert threads <= 1024 and threads % 32 == 0, f"{kernel.name}: {threads} threads"
        assert shared_mem <= SHARED[compute], f"{kernel.name}: {shared_mem} bytes of shared memory"
        assert len(args) == len(kernel.parameter_names), kernel.name
        assert not [x for x in args if isinstance(x, np.ndarray)], f"{kernel.name} got an array of the host"
    files = {kernel.source.name for kernel, *_ in launched}
    assert ("gemm_bf16.cu" in files) == (compute == "bfloat16")


@pytest.mark.parametrize(("preset", "mixers"), [("latent-12m", "attention"), ("hybrid-12m", "delta delta delta attention"),
                                                ("linear-12m", "linear"), ("linear-12m", "state_space")])  # fmt: skip
def test_a_step_of_other_layers_becomes_a_graph(launched, text, preset, mixers):
    """On a card a step of `hybrid-12m` once ran launch by launch, since a layer took its zeros from the host."""
    train_one_step(launched, text, preset, "bfloat16", mixers=mixers)
    assert len(launched) > 60


def test_a_step_of_12m_leaves_little_to_launch(launched, text):
    """A hundred-odd kernels a step are what a graph is for; a careless op would show here as hundreds more."""
    train_one_step(launched, text, "12m", "float32")
    assert len(launched) < 320


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize(("compute", "architecture"), [("float32", "sm_75"), ("bfloat16", "sm_80")])
def test_nvidias_compiler_takes_every_instance_that_a_card_would_run(launched, text, compute, architecture):
    wanted: dict[str, tuple] = {}
    for preset in BATCH:
        train_one_step(launched, text, preset, compute)
        for kernel, *_ in launched:
            wanted.setdefault(kernel.source.digest, (kernel.source, set()))[1].add(kernel.name)
    for source, names in wanted.values():
        cubin, lowered = nvrtc.compile_text(source, tuple(sorted(names)), architecture)
        assert cubin[:4] == b"\x7fELF" and set(lowered) == names, source.name
