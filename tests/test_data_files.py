"""Token files and text files: what goes in comes out, and damage is seen."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib.data import DamagedFile, TextError, texts, token_file

one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
ids = st.lists(st.lists(st.integers(0, 65535), max_size=9), max_size=5)


@one_folder
@given(ids, st.sampled_from([65536, 65537]))
def test_token_files_keep_their_ids(tmp_path, chunks, vocab_size):
    path, flat = tmp_path / "tokens.bin", [token for chunk in chunks for token in chunk]
    assert token_file.write(path, iter(chunks), vocab_size) == len(flat)
    tokens = token_file.read(path)
    assert tokens.tolist() == flat
    assert path.stat().st_size == 64 + len(flat) * (2 if vocab_size == 65536 else 4)


def test_large_ids_take_four_bytes_and_too_large_ones_are_refused(tmp_path):
    path = tmp_path / "tokens.bin"
    token_file.write(path, [[70_000]], 100_000)
    assert token_file.read(path).tolist() == [70_000]
    with pytest.raises(OverflowError):
        token_file.write(path, [[70_000]], 4096)
    with pytest.raises(DamagedFile, match="header"):  # what was half written
        token_file.read(path)


@one_folder
@given(st.integers(0, 64 + 20 - 1))
def test_a_token_file_cut_off_anywhere_is_refused(tmp_path, length):
    path = tmp_path / "tokens.bin"
    token_file.write(path, [range(10)], 4096)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(DamagedFile, match=r"tokens\.bin is (cut off|damaged)"):
        token_file.read(path)


@one_folder
@given(st.integers(0, 56 - 1) | st.integers(64, 64 + 20 - 1), st.integers(1, 255))
def test_a_changed_byte_is_seen(tmp_path, place, change):
    path = tmp_path / "tokens.bin"
    token_file.write(path, [range(10)], 4096)
    data = bytearray(path.read_bytes())
    data[place] ^= change
    path.write_bytes(data)
    with pytest.raises(DamagedFile):
        token_file.read(path)


def test_positions_are_found_over_chunks(monkeypatch):
    monkeypatch.setattr(token_file, "CHUNK", 3)
    assert token_file.positions(np.array([7, 1, 7, 7, 2, 1, 7]), 7).tolist() == [0, 2, 3, 6]
    assert token_file.positions(np.empty(0, np.uint16), 7).tolist() == []


@one_folder
@given(st.text(st.sampled_from("aé漢🙂\r\n\ufeff"), max_size=30), st.integers(1, 9))
def test_text_is_read_in_chunks_as_in_one(tmp_path, text, size):
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "CHUNK", size)
        read = "".join(texts.chunks(path))
    assert read == text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@one_folder
@given(st.text(max_size=20), st.sampled_from([b"\xff", b"\xc3(", b"\xe6\xbc", b"\xed\xa0\x80"]), st.integers(1, 9))
def test_wrong_encoding_names_the_file_and_the_byte(tmp_path, text, bad, size):
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode() + bad)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(TextError) as raised:
        patch.setattr(texts, "CHUNK", size)
        list(texts.chunks(path))
    assert f"{path} is not UTF-8: byte {len(text.encode()):,} (0x{bad[0]:02x})" in str(raised.value)


def test_utf16_is_named(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("hello", encoding="utf-16")
    with pytest.raises(TextError, match=r"looks like UTF-16\): byte 0"):
        list(texts.chunks(path))


def test_a_folder_is_its_files_in_order_without_hidden_ones(tmp_path):
    for name in ("b.txt", "a/z.md", "a/.hidden", ".git/config"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    assert [path.relative_to(tmp_path).as_posix() for path in texts.files(tmp_path)] == ["a/z.md", "b.txt"]
    assert texts.files(str(tmp_path / "b.txt")) == [tmp_path / "b.txt"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(TextError, match="holds no files"):
        texts.files(tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        texts.files(tmp_path / "none")


@given(st.lists(st.sampled_from(["one", " two\n", "", "three three"]), max_size=6), st.data())
def test_documents_are_found_over_chunks(parts, data):
    text = "<|endoftext|>".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    found = list(texts.documents([text[a:b] for a, b in pairwise([0, *cuts, len(text)])], "<|endoftext|>"))
    assert found == [part.strip() for part in parts if part.strip()]


def test_the_beginning_of_files(tmp_path):
    first, second = tmp_path / "1", tmp_path / "2"
    first.write_text("abc", encoding="utf-8")
    second.write_text("dé漢", encoding="utf-8")
    assert texts.beginning([first, second], 2) == ["ab"]
    assert texts.beginning([first, second], 5) == ["abc", "d"]  # half of é is dropped
    assert texts.beginning([first, second], 99) == ["abc", "dé漢"]
