"""Merges and encodings equal those of HuggingFace `tokenizers`, live, on real English and on hostile little texts."""

import json
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.peers
pytest.importorskip("tokenizers")

from course_lib import bpe, paths  # noqa: E402
from course_lib.benchmarks import tokenizer as bench  # noqa: E402
from course_lib.tokenizer import Tokenizer  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent / "fixtures"))
import bpe_peers  # noqa: E402

SHAKESPEARE = paths.ROOT.parent / "shared" / "data" / "tinyshakespeare.txt"
short = st.text(st.sampled_from("abc' \n1é"), max_size=12)
anything = st.text(st.characters(exclude_categories=["Cs", "Cn"]), min_size=1, max_size=30)


def same(texts: list[str], vocab_size: int, unseen: str) -> None:
    peer = bpe_peers.learn(texts, vocab_size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a vocabulary that stops early is meant here
        ours = Tokenizer.train(texts, vocab_size)
    assert json.loads(ours.to_json())["merges"] == bpe_peers.merges(peer)
    assert ours.vocab_size == peer.get_vocab_size()
    for text in [*texts, unseen]:
        shown = ["".join(bpe.VISIBLE[byte] for byte in ours.token_bytes(token)) for token in ours.encode(text)]
        assert shown == peer.encode(text).tokens


@given(st.lists(short, min_size=1, max_size=20).filter("".join), st.integers(257, 300), short)
def test_little_texts(texts, vocab_size, unseen):
    same(texts, vocab_size, unseen)


@given(st.lists(anything, min_size=1, max_size=5), anything)
def test_any_characters(texts, unseen):
    same(texts, 290, unseen)


@pytest.mark.skipif(not SHAKESPEARE.exists(), reason="the text for development is not beside the course")
def test_real_english_at_vocabulary_4096():
    text = SHAKESPEARE.read_text(encoding="utf-8")
    same([text[:1_000_000]], 4096, text[1_000_000:])


def test_the_benchmark_prints_a_table_and_writes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "_text", lambda: ("a little text", "the fox said the owl is in the den " * 20))
    rows = bench.run(tmp_path / "bench.json")
    assert [row["name"] for row in rows][-3:] == ["learn, plain Python", "encode, first time", "encode, once more"]
    assert all(row["ratio"] > 0 for row in rows)
    assert json.loads((tmp_path / "bench.json").read_text())["rows"] == rows
    assert "learn, plain Python" in capsys.readouterr().out
