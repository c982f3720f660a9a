"""Memory of the cpu device: blocks come back when the last view is gone, are used again, and are not hoarded."""

import gc
import threading

import numpy as np
import pytest

from course_lib.devices.cpu import memory
from course_lib.model import GPT, GPTConfig
from course_lib.optim import AdamW

pytestmark = pytest.mark.slow

MEGABYTE = 1 << 18  # float32 elements


@pytest.fixture(autouse=True)
def empty_shelves():
    gc.collect()
    memory.release()
    yield
    memory.release()


@pytest.fixture
def new_blocks(monkeypatch):
    """Sizes of the blocks that were asked of the system."""
    sizes, make = [], memory._new_block
    monkeypatch.setattr(memory, "_new_block", lambda size: sizes.append(size) or make(size))
    return sizes


def where(array: np.ndarray) -> int:
    return array.ctypes.data


def test_a_block_is_used_again(new_blocks):
    first = memory.empty((MEGABYTE,))
    place = where(first)
    del first
    assert where(memory.empty((512, 512))) == place
    assert len(new_blocks) == 1


def test_any_view_keeps_the_block(new_blocks):
    for view_of in (
        lambda x: x[3:].reshape(-1)[5:].T,
        lambda x: x.reshape(64, -1)[::2, 3:],
        lambda x: x.view(np.uint8),
        lambda x: np.lib.stride_tricks.as_strided(x, (4, 4), (8, 4)),
        lambda x: memoryview(x),
        lambda x: np.frombuffer(x, np.int32),
    ):
        array = memory.empty((512, 512))
        array.fill(1)
        view = view_of(array)
        del array
        gc.collect()
        other = memory.empty((512, 512))
        other.fill(2)
        assert not np.shares_memory(np.asarray(view), other)
        if np.asarray(view).dtype == np.float32:
            assert (np.asarray(view) == 1).all()
        del view, other
    assert len(new_blocks) == 2, "the two blocks should have done for all"


def test_two_live_arrays_never_share():
    random = np.random.default_rng(0)
    live: list[np.ndarray] = []
    for number in range(120):
        if live and random.random() < 0.5:
            live.pop(int(random.integers(len(live))))
        array = memory.empty((int(random.integers(1, 5)), int(random.integers(10_000, 40_000))))
        array.fill(number)
        live.append(array)
        assert all((other == other.flat[0]).all() for other in live)


def test_arrays_start_on_64_bytes():
    for size in (16_384, 16_385, 99_999, MEGABYTE + 1):
        assert where(memory.empty((size,))) % 64 == 0


def test_a_block_is_at_most_an_eighth_too_large():
    for size in [*range(memory.SMALL, memory.SMALL + 99), 10**6, 2**20, 2**20 + 1, 3 * 2**20 + 7, 10**9]:
        block = memory._block_size(size)
        assert size <= block <= size + max(size // 8, 4096)
        assert block % 4096 == 0


def test_dtypes_shapes_and_zeros():
    used = memory.empty((MEGABYTE,))
    used.fill(np.nan)
    del used
    array = memory.zeros((256, 512), "float64")
    assert array.dtype == np.float64 and array.flags.c_contiguous and array.flags.writeable and not array.any()
    assert memory.empty((), "int64").shape == () and memory.empty((0, 3)).shape == (0, 3)


def test_free_blocks_are_bounded_and_the_oldest_size_goes_first(monkeypatch):
    monkeypatch.setattr(memory, "FREE_LIMIT", 8 << 20)
    for count in (1, 2, 3, 4, 5):
        array = memory.empty((count * MEGABYTE,))
        place = where(array)
        del array
        assert 0 <= memory.free_bytes() <= memory.FREE_LIMIT
    assert memory.free_bytes() == 5 << 20
    assert where(memory.empty((5 * MEGABYTE,))) == place
    memory.release()
    assert memory.free_bytes() == 0


def test_what_was_lent_at_once_is_kept_until_release(monkeypatch, new_blocks):
    """A step that needs more than FREE_LIMIT asks the system for nothing either, once one like it was done."""
    monkeypatch.setattr(memory, "FREE_LIMIT", 1 << 20)
    before = memory._lent_bytes

    def step(size: int, count: int) -> int:
        arrays = [memory.empty((size,)) for _ in range(count)]
        assert memory._lent_bytes == before + 4 * size * count
        del arrays
        return len(new_blocks)

    assert step(MEGABYTE, 8) == step(MEGABYTE, 8) == 8
    assert memory.free_bytes() == 8 << 20
    step(2 * MEGABYTE, 4)  # of another size: a quarter more than the 8 MB is kept
    assert memory.free_bytes() <= (10 << 20) + before // 4
    memory.release()
    assert memory.free_bytes() == 0
    step(MEGABYTE, 2)  # what was lent before the release counts no more
    step(2 * MEGABYTE, 1)
    assert memory.free_bytes() <= (5 << 19) + before // 4


def test_threads_share_the_shelves():
    wrong = []

    def work(number: int) -> None:
        for _ in range(300):
            array = memory.empty((20_000,))
            array.fill(number)
            if not (array == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_training_step_asks_for_no_new_memory_after_the_first_two(new_blocks):
    model = GPT(GPTConfig(layers=2, heads=2, channels=128, context=128, vocab_size=512))
    optimiser = AdamW(model.named_parameters())
    tokens = np.random.default_rng(0).integers(0, 512, (2, 4, 128))
    for step in range(5):
        optimiser.zero_grad()
        loss = model.loss(*tokens)
        loss.backward()
        optimiser.step(1e-3)
        if step == 1:
            asked = len(new_blocks)
    assert asked and len(new_blocks) == asked
