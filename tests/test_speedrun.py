"""The speedrun: its arithmetic, what is refused and with which sentence, the process of an entry, the records."""

import ast
import math
import os
import re
import runpy
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import data, native, stories
from course_lib.speedrun import compete, judge, records, scoring
from course_lib.speedrun.scoring import EntryError, Score
from course_lib.stories.grammar import Grammar, Words, word
from course_lib.stories.telling import tell, tell_numbered

pytestmark = pytest.mark.slow

NAMES = Words([word("Mia", "name", she="she"), word("Tom", "name", she="he")])
TINY = Grammar({"name": NAMES, "food": Words.parse("food", "pie, plum cake, pea soup", 0.5)},
               {"story": ["{Hero=name} ate {Food=food}. [Yes, {Hero.she}|No, nobody] liked the {Food}!"]})  # fmt: skip
ENOUGH = {"stories": 300, "judged": 16}  # the process is tested, not the learning


def every_story() -> dict[bytes, float]:
    """All stories of the tiny grammar, with their probabilities."""
    digits = [(name, food, end) for name in range(2) for food in range(3) for end in range(2)]
    told = []
    for choices in digits:
        rest = iter((0, *choices))  # the rule has one template
        told.append(tell(TINY, lambda _, rest=rest: next(rest)))
    assert math.fsum(math.exp(log) for _, log in told) == pytest.approx(1)
    return {text.encode(): math.exp(log) for text, log in told}


class Perfect:
    """The odds of the tiny grammar itself, token by token, over tokens of some bytes each."""

    def __init__(self, size: int):
        self.size, self.stories = size, every_story()
        parts = {text[at : at + size] for text in self.stories for at in range(0, len(text), size)}
        self.spelling = [*sorted(parts), b"<end>"]
        self.end_id = len(parts)

    def encode(self, texts):
        number = {part: token for token, part in enumerate(self.spelling)}
        return [[number[text.encode()[at : at + self.size]] for at in range(0, len(text), self.size)] for text in texts]

    def log_probabilities(self, before: list[int]) -> np.ndarray:
        begun, odds = b"".join(self.spelling[token] for token in before), np.zeros(len(self.spelling))
        for text, probability in self.stories.items():
            if text.startswith(begun):
                following = text[len(begun) : len(begun) + self.size]
                odds[self.spelling.index(following) if following else self.end_id] += probability
        with np.errstate(divide="ignore"):
            return np.log(odds) if odds.any() else np.zeros(len(odds))  # what no story begins with may go on anyhow

    def scores(self, idx):
        return np.array(
            [[self.log_probabilities(row[1 : at + 1]) for at in range(len(row))] for row in idx]
        )  # (B, T, V)


def told(count: int = 20) -> list[tuple[str, float]]:
    return list(tell_numbered(TINY, 3, count))


# The arithmetic


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_odds_of_the_grammar_itself_score_1_however_the_text_is_cut(size):
    texts = told()
    nats = scoring.entry_nats(Perfect(size), [text for text, _ in texts])
    floor = -np.mean([log for _, log in texts])
    assert nats == pytest.approx(floor, abs=1e-9)
    assert Score(nats, floor, bigram=floor + 10).fraction == pytest.approx(1)


def test_the_share_is_of_the_way_from_the_bigram_model_to_the_floor():
    assert [Score(nats, floor=50, bigram=300).fraction for nats in (300, 50, 75, 325)] == [0, 1, 0.9, -0.1]


def test_scores_are_normalised_so_nothing_is_won_by_larger_ones():
    class Boastful(Perfect):
        def scores(self, idx):
            return super().scores(idx) + 100 * (1 + np.arange(idx.shape[1]))[:, None]

    texts = [text for text, _ in told()]
    assert scoring.entry_nats(Boastful(2), texts) == pytest.approx(scoring.entry_nats(Perfect(2), texts), abs=1e-9)


def test_stories_to_judge_by_are_of_the_seed_and_no_training_stories():
    one, other = ({text for text, _ in scoring.held_out(seed, 200)} for seed in (0, 1))
    assert len(one) == 200 and not one & other
    assert not (one | other) & set(stories.write(0, 2_000))
    text, log = scoring.held_out(0, 1)[0]
    assert stories.log_probability(text) == pytest.approx(log)


class Changed(Perfect):
    """Perfect, but for what `change` makes of its scores (B, T, V) for ids (B, T)."""

    def __init__(self, change, size=2):
        super().__init__(size)
        self.change, self.calls = change, 0

    def scores(self, idx):
        self.calls += 1
        return self.change(np.maximum(super().scores(idx), -50.0), idx, self)


def ahead(scores, idx, entry):
    scores[:, :-1][np.eye(scores.shape[2], dtype=bool)[idx[:, 1:]]] = 50.0  # the token that comes
    return scores


def other_rows(scores, idx, entry):
    return scores + np.sin(idx.sum() * np.arange(scores.shape[2]))  # another sum changes it, whatever the judge draws


def never_the_same(scores, idx, entry):
    return scores + 0.1 * np.random.default_rng(entry.calls).normal(size=scores.shape)


def broken(scores, idx, entry):
    scores[0, 3, 1] = math.nan
    return scores


def infinite(scores, idx, entry):
    scores[0, 3, 1] = math.inf
    return scores


def impossible(scores, idx, entry):
    scores[..., entry.end_id] = -math.inf
    return scores


def short(scores, idx, entry):
    return scores[:, :, :-1]


REFUSED = [(ahead, "looks ahead"), (other_rows, "looks ahead"), (never_the_same, "does not answer the same twice"),
           (broken, "not all numbers"), (infinite, "not all numbers"), (impossible, "the probability 0"),
           (short, r"shape \(8, 25, 52\) .* which is \(8, 25, 53\)")]  # fmt: skip


@pytest.mark.parametrize(("change", "says"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_no_probability_of_the_next_token_is_refused(change, says):
    texts = [text for text, _ in told()]
    scoring.entry_nats(Changed(lambda scores, idx, entry: scores), texts)
    with pytest.raises(EntryError, match=says):
        scoring.entry_nats(Changed(change), texts)


def test_a_tokenizer_must_spell_the_text_by_tokens_that_all_cost_something():
    texts, perfect = [text for text, _ in told()], Perfect(2)
    for change, says in [(lambda ids: [], "does not keep the text"), (lambda ids: ids[1:], "does not keep the text"),
                         (lambda ids: [*ids, 10**6], "puts 1000000 into a story"), (lambda ids: [-1, *ids], "puts -1 into"),
                         (lambda ids: [*ids, perfect.end_id, *ids], f"puts {perfect.end_id} into")]:  # fmt: skip
        entry = Perfect(2)
        entry.encode = lambda texts, change=change: [change(ids) for ids in perfect.encode(texts)]
        with pytest.raises(EntryError, match=says):
            scoring.entry_nats(entry, texts)
    perfect.end_id = len(perfect.spelling)
    with pytest.raises(EntryError, match="Its end_id is"):
        scoring.entry_nats(perfect, texts)


# The process of an entry

BIGRAM = '''"""Pairs are counted (Witten and Bell 1991)."""
import numpy as np

def train(corpus, seconds, seed):
    tokens, size = np.asarray(corpus.train.tokens, np.int64), corpus.tokenizer.vocab_size
    count = np.zeros((size, size))
    np.add.at(count, (tokens[:-1], tokens[1:]), 1)
    followers = (count > 0).sum(axis=1, keepdims=True)
    single = (np.bincount(tokens, minlength=size) + 1) / (len(tokens) + size)
    weight = count.sum(axis=1, keepdims=True) + followers
    odds = np.where(weight > 0, (count + followers * single) / np.maximum(weight, 1), single)
    return np.log(odds).__getitem__, corpus.tokenizer
'''
WORDS = '''VOCAB_SIZE = 400

class Letters:
    """A tokenizer of one's own: the letters, and an end."""
    vocab_size, end_id = 257, 256
    def encode(self, text): return list(text.encode())
    def token_bytes(self, token): return bytes([token]) if token < 256 else b""

def train(corpus, seconds, seed):
    import numpy as np
    print("vocabulary", corpus.tokenizer.vocab_size, "seed", seed, "seconds", seconds)
    assert corpus.tokenizer.decode(corpus.train.tokens).count("<|endoftext|>") > 250
    return (lambda idx: np.zeros((*idx.shape, 257))), Letters()
'''
OURS = records.best_entry().read_text(encoding="utf-8")


@pytest.fixture
def entry(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "my_entry.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_bigram_model_made_by_hand_scores_0(entry):
    score = judge.judge(entry(BIGRAM), 60, seed=0, **ENOUGH)
    assert score.fraction == pytest.approx(0, abs=1e-6) and score.bigram > score.floor + 100


def test_any_tokenizer_and_any_seed_will_do(entry, capfd):
    score = judge.judge(entry(WORDS), 60, seed=5, **ENOUGH)
    texts = [text for text, _ in scoring.held_out(5, ENOUGH["judged"])]
    assert score.nats == pytest.approx(np.mean([len(text.encode()) + 1 for text in texts]) * math.log(257), rel=1e-6)
    assert "vocabulary 400 seed 5 seconds 60" in capfd.readouterr().out


def test_our_entry_ends_in_time_and_learns(entry):
    assert judge.judge(records.best_entry(), 6, seed=1, **ENOUGH).nats < 1100  # guessing: 150 tokens of log 2048


def test_our_entry_chooses_its_number_of_threads_as_a_run_does(monkeypatch):
    train, steps = runpy.run_path(records.best_entry())["train"], []
    monkeypatch.setattr(native, "step", lambda: steps.append(1) or nullcontext())
    now = iter([0.0, 0.0, 0.5, 1.0])  # it starts, two steps, and a second is over
    monkeypatch.setitem(train.__globals__, "time", SimpleNamespace(perf_counter=now.__next__))
    train(data.prepare("stories", vocab_size=2048, context=192, stories=ENOUGH["stories"]), seconds=2, seed=0)
    assert len(steps) == 2


TRAIN = "def train(corpus, seconds, seed):\n    "
FAILING = {
    "from course_lib import stories\n": "line 1: course_lib.stories, which knows the probability",
    TRAIN + "import course_lib.stories.judging": "line 2: course_lib.stories, which knows",
    TRAIN + "from course_lib import stories_report": "line 2: course_lib.stories, which knows",
    TRAIN + "from course_lib import training; training.train('micro')": "line 2: data.prepare is closed",
    TRAIN + "return 1 / 0": "ZeroDivisionError in line 2",
    TRAIN + "exit(3)": "SystemExit in line 2",
    TRAIN + "import os; os._exit(3)": "ended by itself, with exit status 3",
    TRAIN + "import os; os.kill(os.getpid(), 9)": "ended by the signal SIGKILL",
    TRAIN + "import time; time.sleep(60)": "still training .* after 1 seconds",
    TRAIN + "return corpus.tokenizer": "expected two things: return model, tokenizer",
    TRAIN + "return (lambda idx: None), corpus.tokenizer": r"shape \(\) for ids",
    "def trian(corpus):\n  pass": "defines no function train",
    "def train(:\n": "SyntaxError in line 1",
}


@pytest.mark.parametrize("text", FAILING, ids=lambda text: text.split("\n")[1][4:40].strip() or text[:30])
def test_what_does_not_count_is_told_in_a_sentence(entry, text):
    seconds = 1 if "sleep" in text else 60  # on a busy machine an import alone can take seconds
    with pytest.raises(EntryError, match=FAILING[text]) as told:
        judge.judge(entry(text), seconds, seed=0, **ENOUGH)
    assert str(told.value).startswith("my_entry.py does not count. ")


def test_ctrl_c_ends_the_entry_as_well(entry, tmp_path):
    pid = tmp_path / "pid"
    text = f"import os, time\n{TRAIN}open({str(pid)!r}, 'w').write(str(os.getpid()))\n    time.sleep(300)\n"
    program = f"from pathlib import Path\nfrom course_lib.speedrun.compete import compete\ncompete(Path({str(entry(text))!r}))"
    environment = os.environ | {"COURSE_MINE": str(tmp_path)}
    running = subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    while not pid.exists() or not pid.read_text():
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=30)
    assert "Stopped: nothing is counted." in out
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


# What counts


@pytest.fixture
def judged(monkeypatch, tmp_path):
    """compete() with scores given in advance, in a folder of its own; the seeds that it asked for."""
    monkeypatch.setenv("COURSE_MINE", str(tmp_path))
    seeds = []

    def given(*shares: float) -> list[int]:
        coming = iter(shares)
        monkeypatch.setattr(
            judge, "judge", lambda path, seconds, seed: seeds.append(seed) or Score(1 - next(coming), 0, 1)
        )
        seeds.clear()
        compete.compete()
        return list(seeds)

    return given


def test_a_score_counts_when_it_holds_with_another_seed(judged, capsys):
    assert judged(0.8, 0.7) == [0, 1] and records.best_here()["score"] == pytest.approx(0.7)
    best, said = records.read()[-1], capsys.readouterr().out
    assert f"It counts here. The record is {best['entry']}: {best['score']:.2%}" in said and "records.json" not in said
    assert judged(0.69) == [0]
    assert judged(0.75, 0.65) == [0, 1] and records.best_here()["score"] == pytest.approx(0.7)
    assert "does not hold" in capsys.readouterr().out
    assert judged(0.75, 0.74) == [0, 1] and records.best_here()["score"] == pytest.approx(0.74)
    assert judged(0.998, 0.997) == [0, 1] and records.best_here()["score"] == pytest.approx(0.997)
    said = capsys.readouterr().out
    assert "Its line, for course_lib/speedrun/records.json" in said and '"score": 0.997' in said
    assert judged(0.996) == [0] and "The best on this machine is still" in capsys.readouterr().out


def test_a_copy_of_our_entry_is_written_once(tmp_path):
    path = compete.write_copy(tmp_path / "mine.py")
    copy, best = (ast.parse(text) for text in (path.read_text(encoding="utf-8"), OURS))
    assert ast.get_docstring(copy).startswith("What did you change?")  # ours says what ours changed
    assert [ast.dump(part) for part in copy.body[1:]] == [ast.dump(part) for part in best.body[1:]]
    with pytest.raises(FileExistsError, match="exists already"):
        compete.write_copy(path)
    with pytest.raises(FileNotFoundError, match="--new"):
        compete.compete(tmp_path / "other.py")
    with pytest.raises(FileNotFoundError, match="is a folder"):
        compete.compete(tmp_path)


def test_the_records_of_the_readme_are_those_of_the_file():
    found = records.PLACE.search(records.README.read_text(encoding="utf-8"))
    assert found, "README.md has lost the lines around its records"
    assert found[0] == records.table(), "write the table anew: python -m course_lib.speedrun.records"
    scores = [one["score"] for one in records.read()]
    assert scores == sorted(scores), "a record is better than those before it"
    assert all(re.fullmatch(r"\w+\.py", one["entry"]) and one["machine"] not in ("", "?") for one in records.read())
