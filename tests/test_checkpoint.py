"""Checkpoints: what goes in comes out; what was damaged is refused; what was there survives a write that fails."""

import errno
import os
import resource

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import checkpoint
from course_lib.checkpoint import CheckpointError

WEIGHTS = {"a.weight": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.array([1e-30, np.inf, -0.0], np.float32)}
MOMENTS = {"first.a.weight": np.ones((3, 4), np.float32), "steps": np.array(7)}
FACTS = {"step": 7, "best": 1 / 3, "best_step": None, "tokenizer": "Ġ\n\x00ü"}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "last.safetensors"
    checkpoint.save(path, WEIGHTS, MOMENTS, FACTS)
    return path


def same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].dtype == b[name].dtype and a[name].shape == b[name].shape
        assert a[name].tobytes() == b[name].tobytes()


def test_every_bit_comes_back(saved):
    back = checkpoint.load(saved)
    same(back.weights, WEIGHTS)
    same(back.optimiser, MOMENTS)
    assert back.facts == FACTS
    assert os.listdir(saved.parent) == [saved.name]


def test_weights_alone(saved):
    back = checkpoint.load(saved, optimiser=False)
    same(back.weights, WEIGHTS)
    assert back.optimiser == {} and back.facts == FACTS


def test_transposed_and_sliced_arrays_are_stored_as_they_look(tmp_path):
    odd = {"t": WEIGHTS["a.weight"].T, "s": WEIGHTS["a.weight"][:, ::2]}
    checkpoint.save(tmp_path / "x", odd, {}, {})
    back = checkpoint.load(tmp_path / "x").weights
    assert all(np.array_equal(back[name], odd[name]) for name in odd)


@given(st.data())
def test_a_changed_byte_is_noticed_or_changes_nothing(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "changed.safetensors"
    checkpoint.save(path, WEIGHTS, MOMENTS, FACTS)
    content = bytearray(path.read_bytes())
    for _ in range(20):
        at = data.draw(st.integers(0, len(content) - 1))
        bit = 1 << data.draw(st.integers(0, 7))
        content[at] ^= bit
        path.write_bytes(content)
        try:
            back = checkpoint.load(path)
        except CheckpointError as error:
            assert str(path) in str(error)
        else:
            same(back.weights | back.optimiser, WEIGHTS | MOMENTS)
            assert back.facts == FACTS
        content[at] ^= bit


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.9, 0.9999])
def test_a_file_cut_off_is_refused(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(CheckpointError, match="damaged, cut off or changed"):
        checkpoint.load(saved)


def test_a_missing_file_and_a_file_of_someone_else(tmp_path):
    from safetensors.numpy import save_file

    with pytest.raises(CheckpointError, match="There is no checkpoint"):
        checkpoint.load(tmp_path / "none")
    save_file(WEIGHTS, tmp_path / "other")
    with pytest.raises(CheckpointError, match="not given"):
        checkpoint.load(tmp_path / "other")


def child(function) -> int:
    """Run `function` in a forked process; its exit status."""
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_killed_at_any_point_of_a_save_one_whole_checkpoint_is_there(saved, monkeypatch):
    """Die before and after each call that touches the disk: the old file or the new one is there, and it is whole."""
    newer = {**FACTS, "step": 8}
    found = []
    for moment in range(30):
        left = [moment]

        def count_down(left=left):
            if left[0] == 0:
                os._exit(42)
            left[0] -= 1

        def dying(call, count_down=count_down):
            def wrapped(*args, **kwargs):
                count_down()
                result = call(*args, **kwargs)
                count_down()
                return result

            return wrapped

        def save(dying=dying):
            with monkeypatch.context() as patch:
                for module, name in ((checkpoint, "save_file"), (checkpoint.os, "fsync"), (checkpoint.os, "replace"),
                                     (checkpoint.shutil, "rmtree"), (checkpoint.Path, "mkdir")):  # fmt: skip
                    patch.setattr(module, name, dying(getattr(module, name)))
                checkpoint.save(saved, WEIGHTS, MOMENTS, newer)

        status = child(save)
        found.append(checkpoint.load(saved).facts["step"])
        if status == 0:
            break
        assert status == 42
    assert status == 0 and set(found) == {7, 8} and found == sorted(found)
    assert os.listdir(saved.parent) == [saved.name]


def test_a_full_disk_leaves_the_old_checkpoint(saved):
    """The limit on file sizes stands for a full disk: writing fails half way, as it does there."""
    before = saved.read_bytes()
    large = {"w": np.zeros(100_000, np.float32)}

    def save():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        with pytest.raises(CheckpointError, match=r"could not be written: File too large.*untouched.*needs 0\.4 MB"):
            checkpoint.save(saved, large, {}, FACTS)

    assert child(save) == 0
    assert saved.read_bytes() == before and os.listdir(saved.parent) == [saved.name]


def test_errors_of_the_system_become_sentences(saved, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(checkpoint.os, name, full)
            with pytest.raises(CheckpointError, match="No space left on device"):
                checkpoint.save(saved, {}, {}, {})
    assert checkpoint.load(saved).facts == FACTS
    with pytest.raises(CheckpointError, match="No such file or directory"):
        checkpoint.save(saved.parent / "nowhere" / "x", {}, {}, {})


@pytest.mark.parametrize("links", [True, False])
def test_what_is_kept_stays_when_the_source_moves_on(saved, monkeypatch, links):
    if not links:
        monkeypatch.setattr(checkpoint.os, "link", lambda *args: (_ for _ in ()).throw(OSError("no links here")))
    best = saved.with_name("best.safetensors")
    checkpoint.keep(saved, best)
    checkpoint.save(saved, {}, {}, {"step": 8})
    assert checkpoint.load(best).facts["step"] == 7 and checkpoint.load(saved).facts["step"] == 8
    checkpoint.keep(saved, best)
    assert checkpoint.load(best).facts["step"] == 8
    assert sorted(os.listdir(saved.parent)) == ["best.safetensors", "last.safetensors"]


def test_a_checkpoint_that_is_kept_twice_leaves_nothing_beside_it(tmp_path):
    (tmp_path / "last").write_text("one")
    for _ in range(2):
        checkpoint.keep(tmp_path / "last", tmp_path / "best")
        assert sorted(os.listdir(tmp_path)) == ["best", "last"]
    assert (tmp_path / "best").read_text() == "one"
