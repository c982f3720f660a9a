"""`data.prepare`: from a name or a path to batches, once, whatever happens meanwhile."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib import data, native, paths, stories
from course_lib.data import IGNORE, corpus, downloads, story_tokens, writers

TEXT = "".join(f"The {n}th fox said: “{'so ' * (n % 5)}be it.”\n" for n in range(400))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "cache" / "data"
    folder.mkdir(parents=True)
    cache = paths.cache  # not $COURSE_CACHE, or each test would compile again
    monkeypatch.setattr(paths, "cache", lambda name: folder if name == "data" else cache(name))
    monkeypatch.setattr(writers, "TOKENIZER_STORIES", 300)
    monkeypatch.setattr(writers, "VALIDATION_STORIES", 12)
    return folder


@pytest.fixture
def text(tmp_path) -> Path:
    path = tmp_path / "fox.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_text_becomes_tokens_and_its_last_tenth_is_held_out(text):
    prepared = data.prepare(text=text, vocab_size=300, context=16)
    held_out = prepared.validation.idx[:, 0].tolist()
    tokens = prepared.train.tokens
    assert tokens[0] == prepared.tokenizer.end_id
    start = prepared.tokenizer.decode(tokens[1:])
    assert TEXT.startswith(start)
    assert 0.85 < len(start) / len(TEXT) < 0.95
    assert TEXT[len(start) :].startswith(prepared.tokenizer.decode(prepared.validation.idx[0]))
    assert len(held_out) == (len(tokens) / 9) // 16
    assert prepared.floor is None
    assert "fox.txt: " in prepared.describe()
    assert data.bigram_loss(prepared) < np.log(prepared.tokenizer.vocab_size)


def test_the_vocabulary_is_learned_from_the_training_part_alone(text):
    text.write_text(TEXT + "zqzqzq" * 30, encoding="utf-8")
    tokenizer = data.prepare(text=text, vocab_size=400, context=16).tokenizer
    assert all(b"zq" not in tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size))


def test_a_folder_is_one_corpus_with_an_end_after_each_file(tmp_path):
    folder = tmp_path / "my writing"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.txt").write_text(TEXT, encoding="utf-8")
    prepared = data.prepare(text=folder, vocab_size=300, context=16)
    ends = np.flatnonzero(prepared.train.tokens == prepared.tokenizer.end_id)
    assert prepared.tokenizer.decode(prepared.train.tokens[1 : ends[1]]) == TEXT
    assert len(ends) == 4


def test_prepared_once_for_all_contexts_and_seeds(text, own_cache, monkeypatch):
    first = data.prepare(text=text, vocab_size=300, context=16)
    monkeypatch.setattr(writers, "write_text", lambda *args, **kwargs: pytest.fail("prepared twice"))
    again = data.prepare(text=str(text), vocab_size=300, context=20, seed=3)
    assert again.train.batch(0, 2)[0].shape == (2, 20)
    assert again.tokenizer.checksum == first.tokenizer.checksum
    assert len(list(own_cache.iterdir())) == 1


def test_a_changed_text_is_prepared_again(text):
    before = data.prepare(text=text, vocab_size=300, context=16)
    text.write_text(TEXT.upper(), encoding="utf-8")
    assert data.prepare(text=text, vocab_size=300, context=16).tokenizer.checksum != before.tokenizer.checksum


@pytest.mark.parametrize("damage", ["cut", "changed", "missing", "tokenizer"])
def test_a_damaged_preparation_is_made_again(text, own_cache, damage):
    expected = data.prepare(text=text, vocab_size=300, context=16).train.batch(0, 4)[0]
    folder = next(own_cache.iterdir())
    path = folder / ("tokenizer.json" if damage == "tokenizer" else "tokens.bin")
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if damage == "cut" else content[:-50] + b"?" + content[-49:])
    with pytest.warns(UserWarning, match="damaged and is made again"):
        repaired = data.prepare(text=text, vocab_size=300, context=16)
    np.testing.assert_array_equal(repaired.train.batch(0, 4)[0], expected)
    assert list(own_cache.iterdir()) == [folder]
    assert path.read_bytes() == content


def test_two_processes_may_prepare_at_once(text, own_cache, monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", str(own_cache.parent))
    monkeypatch.setenv("COURSE_COMPILER", "none")
    code = (
        f"from course_lib import data; print(data.prepare(text={str(text)!r}, vocab_size=300, context=16).describe())"
    )
    both = [subprocess.Popen([sys.executable, "-c", code], cwd=paths.ROOT, stdout=subprocess.PIPE) for _ in range(2)]
    answers = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert answers[0] == answers[1] != b""
    assert len(list(own_cache.iterdir())) == 1


def test_the_folder_of_a_quicker_process_is_used(text, own_cache, monkeypatch):
    write = writers.write_text

    def slow(folder, files, vocab_size, progress):
        write(folder, files, vocab_size, progress)
        monkeypatch.setattr(writers, "write_text", write)
        data.prepare(text=text, vocab_size=300, context=16)  # another process comes first

    monkeypatch.setattr(writers, "write_text", slow)
    assert data.prepare(text=text, vocab_size=300, context=16).train.batch(0, 2)[0].shape == (2, 16)
    assert len(list(own_cache.iterdir())) == 1


def test_a_preparation_that_breaks_off_leaves_nothing(text, own_cache, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("course_lib.data.token_file.write", full)
    with pytest.raises(OSError, match="No space"):
        data.prepare(text=text, vocab_size=300, context=16)
    assert list(own_cache.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "options", "error", "words"),
    [
        (b"", {}, data.TextError, "fox.txt is empty"),
        (b"\xef\xbb\xbf", {}, ValueError, "corpus is empty"),
        ("café".encode("latin-1"), {}, data.TextError, r"fox.txt is not UTF-8: byte 3 \(0xe9\)"),
        (b"a fox", {}, data.TextError, "too few for a window of 64"),
        (b"a fox", {"context": 0}, ValueError, "at least 1"),
        (b"a fox", {"vocab_size": 9}, ValueError, "from 257 on"),
        (None, {}, FileNotFoundError, "no file or folder"),
        (None, {"text": None, "corpus": "bible"}, ValueError, "no corpus 'bible': choose stories, tinystories, shake"),
    ],
)
def test_mistakes_get_a_sentence(text, content, options, error, words):
    if content is None:
        text.unlink()
    else:
        text.write_bytes(content)
    with pytest.raises(error, match=words):
        data.prepare(**{"text": text, "context": 64, "vocab_size": 300} | options)


def test_stories_have_whole_documents_a_floor_and_nothing_held_out_in_training():
    prepared = data.prepare(vocab_size=600, context=512, stories=40)
    tokenizer, validation = prepared.tokenizer, prepared.validation
    told = dict(stories.write_with_log_probability(story_tokens.SEED, 12))
    scored = validation.targets[validation.targets != IGNORE]
    held_out = tokenizer.decode(scored).split("<|endoftext|>")[:-1]
    assert held_out == list(told)
    assert prepared.floor == pytest.approx(-sum(told.values()) / len(scored))
    trained_on = tokenizer.decode(prepared.train.tokens).split("<|endoftext|>")[1:-1]
    assert trained_on == list(stories.write(story_tokens.SEED, 40, first=12))
    assert not set(trained_on) & set(held_out)
    assert (prepared.train.batch(0, 8)[0][:, 0] == tokenizer.end_id).all()
    assert data.bigram_loss(prepared) > prepared.floor
    assert "floor: " in prepared.describe()


def test_a_change_anywhere_in_the_grammar_is_another_corpus():
    digests = data.corpus._recipe("stories", None, 40, False)[0]
    assert len(digests) - 1 == len(list((paths.ROOT / "course_lib" / "stories").glob("**/*.py"))), "plots/ included"


def test_more_stories_keep_the_vocabulary_and_the_held_out_ones():
    few, many = (data.prepare(vocab_size=600, context=512, stories=count) for count in (10, 350))
    assert few.tokenizer.checksum == many.tokenizer.checksum
    np.testing.assert_array_equal(few.validation.targets, many.validation.targets)
    np.testing.assert_array_equal(few.train.tokens, many.train.tokens[: len(few.train.tokens)])


def test_stories_that_several_processes_tell_are_those_of_one(own_cache, monkeypatch):
    def prepared() -> dict[str, bytes]:
        data.prepare(vocab_size=600, context=512, stories=40)
        (folder,) = own_cache.iterdir()
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".bin"}
        folder.rename(own_cache.parent / f"kept {len(list(own_cache.parent.iterdir()))}")
        return files

    whole, asked, run = prepared(), [], subprocess.run
    monkeypatch.setattr(story_tokens, "EACH", 9)
    monkeypatch.setattr(native, "threads", lambda: 2)
    monkeypatch.setattr(subprocess, "run", lambda *words, **options: asked.append(1) or run(*words, **options))
    assert prepared() == whole and len(whole) == 2
    assert len(asked) == 5, "four processes of nine stories and one of four"


def test_a_process_that_fails_to_tell_stories_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(story_tokens, "EACH", 5)
    monkeypatch.setattr(native, "threads", lambda: 2)
    with pytest.raises(RuntimeError, match=r"stories from number 12 on failed:[^$]*no-tokenizer"):
        list(story_tokens.parts(tmp_path / "no-tokenizer.json", 12, 10))


def test_a_story_that_is_held_out_is_told_to_nobody_else(tmp_path, monkeypatch):
    """The grammar could tell the same story twice; then the second one is left out, wherever it stands."""
    tokenizer = data.prepare(vocab_size=600, context=512, stories=10).tokenizer
    tokenizer.save(tmp_path / "tokenizer.json")
    told = list(stories.write(story_tokens.SEED, 20))
    told[13] = told[2]
    monkeypatch.setattr(stories, "write", lambda seed, count, first=0: iter(told[first : first + count]))
    ids = story_tokens.encoded(tmp_path / "tokenizer.json", 5, 10, 6)
    assert tokenizer.decode(ids.tolist()).split("<|endoftext|>")[:-1] == [*told[10:13], *told[14:16]]


def test_stories_longer_than_the_window_cost_the_floor_and_say_so():
    prepared = data.prepare(vocab_size=600, context=32, stories=40)
    assert prepared.floor is None
    assert "longer than a window of 32 tokens" in prepared.describe()
    assert (prepared.validation.idx[:, 0] == prepared.tokenizer.end_id).all()


def test_damaged_entropies_are_made_again(own_cache):
    floor = data.prepare(vocab_size=600, context=512, stories=40).floor
    path = next(own_cache.iterdir()) / "nats.npz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="made again"):
        assert data.prepare(vocab_size=600, context=512, stories=40).floor == floor


def test_a_vocabulary_that_stops_early_is_noted(tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("fox " * 100, encoding="utf-8")
    prepared = data.prepare(text=path, vocab_size=4096, context=16)
    assert prepared.tokenizer.vocab_size < 270
    assert f"stops at {prepared.tokenizer.vocab_size} of 4,096" in prepared.describe()


def test_tinystories_are_documents_from_two_files(tmp_path, monkeypatch):
    documents = [f"Tim had {n} apples. He was happy.\n\nThe end." for n in range(60)]
    for name, part in (("tinystories", documents[:50]), ("tinystories-validation", documents[50:])):
        (tmp_path / name).write_text("\n<|endoftext|>\n".join(part), encoding="utf-8")
    monkeypatch.setattr(downloads, "fetch", lambda name, progress: tmp_path / name)
    prepared = data.prepare("tinystories", vocab_size=300, context=20)
    decoded = prepared.tokenizer.decode(prepared.train.tokens).split("<|endoftext|>")
    assert decoded == ["", *documents[:50], ""]
    assert corpus.NAMES == data.NAMES
    assert (prepared.validation.idx[:, 0] == prepared.tokenizer.end_id).all()
    assert prepared.floor is None
