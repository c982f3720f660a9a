"""The tokenizer: round trips, merges against a plain recount and against `tokenizers`' values, files, errors."""

import gzip
import json
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import bpe, native
from course_lib.tokenizer import END_OF_TEXT, Tokenizer, TokenizerError, split, split_special, split_stream

FIXTURES = Path(__file__).parent / "fixtures"
TEXT = (
    "Once upon a time there was a small fox. The fox's den was under a hill, and the fox'll be there still.\n\n"
    "\"Who's there?\" said the owl.  It was 3 o'clock in the morning — très tôt, 早い.\n\tThe fox didn't say.\n"
) * 3

words = st.text(st.sampled_from("ab' \nél"), max_size=12)
scraps = st.lists(st.sampled_from([b"\xc3", b"\xa9", b" the", b"\xff", b"\xed\xa0"])).map(b"".join)
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXT, 320)


def best_pair(words: list[list[int]], counts: list[int]) -> tuple[int, int] | None:
    """The next merge by counting everything again: the reference of the incremental counts."""
    totals: Counter = Counter()
    for word, count in zip(words, counts, strict=True):
        for pair in pairwise(word):
            totals[pair] += count
    order = [bpe.VISIBLE[symbol] if symbol < 256 else chr(1000 + symbol) for symbol in range(2000)]
    return min(totals, key=lambda pair: (-totals[pair], order[pair[0]], order[pair[1]]), default=None)


@given(st.dictionaries(words.filter(bool).map(str.encode), st.integers(1, 5), min_size=1, max_size=12))
def test_incremental_counts_find_the_merges_of_a_full_recount(pieces):
    symbols, counts = [list(piece) for piece in pieces], list(pieces.values())
    vocabulary, expected = bpe.Vocabulary(), []
    while len(vocabulary) < 256 + 40 and (pair := best_pair(symbols, counts)):
        expected.append(pair)
        symbol = vocabulary.add(pair)
        symbols = [bpe.merge(word, pair, symbol) for word in symbols]
    assert bpe.learn_merges(pieces, 40) == expected


def compiled(pieces: dict[bytes, int], entries: int) -> list[bpe.Pair]:
    try:
        return bpe.learn_merges_compiled(pieces, entries)
    except native.NoCompiler:
        pytest.skip("there is no C++ compiler here")


@given(st.dictionaries(words.filter(bool).map(str.encode), st.integers(1, 5), min_size=1, max_size=12))
def test_compiled_merges_equal_the_plain_ones(pieces):
    assert compiled(pieces, 40) == bpe.learn_merges(pieces, 40)


def test_compiled_merges_equal_the_plain_ones_on_text():
    pieces = {piece.encode(): count for piece, count in Counter(split(TEXT)).items()}
    assert compiled(pieces, 10**6) == bpe.learn_merges(pieces, 10**6)


def test_where_the_compiled_loop_has_no_room_the_plain_one_goes_on(monkeypatch):
    monkeypatch.setattr(native, "load", lambda *args, **kwargs: SimpleNamespace(learn_merges=lambda *arguments: -1))
    assert bpe.learn_merges_compiled({b"aab": 2}, 9) == bpe.learn_merges({b"aab": 2}, 9) == [(97, 97), (256, 98)]


def test_without_a_compiler_the_merges_are_the_same(tokenizer, monkeypatch):
    def none(*args, **kwargs):
        raise native.NoCompiler("none here")

    monkeypatch.setattr(native, "load", none)
    assert Tokenizer.train(TEXT, 320).merges == tokenizer.merges


@pytest.mark.parametrize("name", ["english", "signs", "repeats"])
def test_merges_equal_those_of_tokenizers_from_the_fixture(name):
    with gzip.open(FIXTURES / "bpe_peers.json.gz", "rt", encoding="utf-8") as file:
        case = json.load(file)[name]
    ours = Tokenizer.train(case["texts"], case["vocab_size"])
    assert json.loads(ours.to_json())["merges"] == case["merges"]
    for text, tokens in case["encoded"].items():
        shown = ["".join(bpe.VISIBLE[byte] for byte in ours.token_bytes(token)) for token in ours.encode(text)]
        assert shown == tokens


@given(anything)
def test_any_text_comes_back(text):
    tokenizer = Tokenizer.train(TEXT, 300)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert all(0 <= token < tokenizer.end_id for token in tokenizer.encode(text))


@given(
    st.binary(max_size=60) | st.lists(st.sampled_from([b"\xc3", b"\xa9", b" the", b"\xff", b"\xed\xa0"])).map(b"".join)
)
def test_any_bytes_come_back(data):
    tokenizer = Tokenizer.train(TEXT, 300)
    assert tokenizer.decode_bytes(tokenizer.encode_bytes(data)) == data


@given(st.text(st.sampled_from("'lsve \n\tx1!é"), max_size=40), st.data())
def test_a_stream_is_encoded_as_the_whole(text, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    chunks = [text[a:b] for a, b in pairwise([0, *cuts, len(text)])]
    assert [piece for pieces in split_stream(chunks) for piece in pieces] == split(text)
    tokenizer = Tokenizer.train(TEXT, 300)
    assert [token for ids in tokenizer.encode_iter(chunks) for token in ids] == tokenizer.encode(text)


def test_long_pieces_merge_by_the_heap_as_by_the_plain_loop(monkeypatch):
    draw = random.Random(1)
    genes = ["".join(draw.choices("acgt", k=size)) for size in (1, 2, 300, 700)]
    tokenizer = Tokenizer.train(genes, 400)
    by_heap = [bpe._apply_merges_with_heap(gene.encode(), tokenizer._ranks) for gene in genes]
    monkeypatch.setattr(bpe, "LONG_PIECE", 10**9)
    assert by_heap == [bpe.apply_merges(gene.encode(), tokenizer._ranks) for gene in genes]
    assert Tokenizer.train("a" * 50, 262).decode(range(256, 261)) == "a" * (2 + 4 + 8 + 16 + 32)


def test_ids_are_the_bytes_then_the_merges_then_the_special_tokens(tokenizer):
    assert [tokenizer.token_bytes(byte) for byte in range(256)] == bpe.BYTES
    left, right = tokenizer.merges[0]
    assert tokenizer.token_bytes(256) == bytes([left, right])
    assert (tokenizer.vocab_size, tokenizer.end_id, tokenizer.token_bytes(319)) == (320, 319, END_OF_TEXT.encode())
    two = Tokenizer.train(TEXT, 321, special_tokens=("<pad>", END_OF_TEXT))
    assert two.merges == tokenizer.merges
    assert (two.end_id, two.decode([319, 320])) == (320, "<pad>" + END_OF_TEXT)


def test_special_tokens_are_text_unless_asked_for(tokenizer):
    text = f"a fox{END_OF_TEXT}the owl"
    plain, special = tokenizer.encode(text), tokenizer.encode(text, allow_special=True)
    assert tokenizer.end_id not in plain
    assert special == [*tokenizer.encode("a fox"), tokenizer.end_id, *tokenizer.encode("the owl")]
    assert tokenizer.decode(plain) == tokenizer.decode(special) == text
    nested = Tokenizer([], ("<a>", "<a><b>"))
    assert nested.encode("<a><b><a>", allow_special=True) == [257, 256]  # the longest that fits


def test_without_special_tokens_a_text_is_one_part():
    assert (split_special("ab", ()), split_special("", ())) == (["ab"], [])


def test_texts_of_an_iterable_are_not_joined():
    with pytest.warns(UserWarning, match="stops at 257 of 300 entries"):
        apart = Tokenizer.train(["a", "b", "a", "b"], 300)
    assert apart.merges == []
    assert apart.requested_vocab_size == 300
    with pytest.warns(UserWarning, match="stops at 258"):
        assert Tokenizer.train(iter(["ab"]), 300).decode([256]) == "ab"


def test_the_cache_of_pieces_changes_nothing(monkeypatch):
    monkeypatch.setattr("course_lib.tokenizer.CACHED_PIECES", 3)
    tokenizer = Tokenizer.train(TEXT, 300)
    first = tokenizer.encode(TEXT)
    assert len(tokenizer._cache) <= 3
    first_again = tokenizer.encode(TEXT)
    assert first == first_again == Tokenizer(tokenizer.merges).encode(TEXT)


def test_a_saved_tokenizer_is_the_same_and_readable(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert (loaded.merges, loaded.special_tokens) == (tokenizer.merges, tokenizer.special_tokens)
    assert loaded.encode(TEXT) == tokenizer.encode(TEXT)
    assert loaded.checksum == tokenizer.checksum != Tokenizer.train(TEXT, 319).checksum
    assert '"Ġ hill"' in path.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [path]  # nothing left aside


def test_a_damaged_file_is_refused(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    text = path.read_text(encoding="utf-8")
    damages = {
        "not valid JSON": text[: len(text) // 2],
        "checksum does not fit": text.replace('"Ġ hill"', '"Ġ hall"'),
        "format version 7": text.replace('"version": 1', '"version": 7'),
        "not a tokenizer": '{"merges": []}',
    }
    for reason, damaged in damages.items():
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(TokenizerError, match=reason) as raised:
            Tokenizer.load(path)
        assert str(path) in str(raised.value)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TokenizerError, match="not UTF-8"):
        Tokenizer.load(path)
    with pytest.raises(FileNotFoundError, match="no tokenizer file"):
        Tokenizer.load(tmp_path / "none.json")


@given(st.integers(0, 10**6), st.integers(0, 255))
def test_no_changed_byte_goes_unseen(place, value):
    data = bytearray(Tokenizer.train(TEXT, 270).to_json().encode())
    place %= len(data)
    before, data[place] = data[place], value
    try:
        loaded = Tokenizer.from_json(data.decode("utf-8", "replace"))
    except TokenizerError:
        return
    assert value == before or loaded.checksum == Tokenizer.train(TEXT, 270).checksum  # white space between the values


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (lambda t: t.decode([320]), TokenizerError, "unknown id 320: this vocabulary has ids 0 to 319"),
        (lambda t: t.decode([-1]), TokenizerError, "unknown id -1"),
        (lambda t: t.decode([[1, 2]]), TypeError, "flat list of ids"),
        (lambda t: t.decode(65), TypeError, r"decode\(\[65\]\)"),
        (lambda t: t.encode(b"abc"), TypeError, "encode_bytes"),
        (lambda t: t.encode("a\ud800"), ValueError, "lone surrogate"),
        (lambda t: Tokenizer.train("", 300), ValueError, "corpus is empty"),
        (lambda t: Tokenizer.train([], 300), ValueError, "corpus is empty"),
        (lambda t: Tokenizer.train("abc", 256), ValueError, "from 257 on"),
        (lambda t: Tokenizer.train("abc", 300.0), ValueError, "whole number"),
        (lambda t: Tokenizer.train("abc", 258, ("<a>", "<b>", "<c>")), ValueError, "from 259 on"),
        (lambda t: Tokenizer.train(b"abc", 300), TypeError, "not bytes"),
        (lambda t: Tokenizer.train(7, 300), TypeError, "not int"),
        (lambda t: Tokenizer.train(["a", 7], 300), TypeError, "text number 1 is int"),
        (lambda t: Tokenizer.train("abc", 300, special_tokens="<a>"), ValueError, "tuple of different"),
        (lambda t: Tokenizer.train("abc", 300, special_tokens=("a", "a")), ValueError, "tuple of different"),
        (lambda t: Tokenizer([], ()).end_id, TokenizerError, "no special tokens"),
    ],
)
def test_mistakes_get_a_sentence(tokenizer, act, error, words):
    with pytest.raises(error, match=words):
        act(tokenizer)
