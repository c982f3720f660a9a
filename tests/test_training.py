"""The run: what a step computes, what is logged, what stops it, what it refuses, and how it shows itself."""

import contextlib
import json
import math
import os
import signal
import threading
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest

from course_lib import checkpoint, data, metrics, optim, progress, recipes, run, run_folder
from course_lib.checkpoint import CheckpointError
from course_lib.model import GPT, GPTConfig
from course_lib.paths import ROOT
from course_lib.run import Diverged, Run
from course_lib.run_folder import FolderError
from course_lib.training import TrainingError, train
from tests.tiny_runs import StopAt

TINY = {"layers": 1, "heads": 2, "channels": 16, "context": 32, "vocab_size": 300}


@pytest.fixture
def tiny(text):
    """train(...) of a tiny model on a small text: a few milliseconds a step."""

    def call(**given):
        settings = {"text": text, "model": TINY, "steps": 12, "batch": 2, "peak": 1e-2, "lowest": 1e-3}
        settings |= {} if given.get("resume") else {"preset": "micro"}
        return train(**{**({} if given.get("resume") else settings), "display": progress.Quiet(), **given})

    return call


def make_run(text, **changes):
    settings = recipes.settings("micro", text=text, model=TINY, steps=100, **changes)
    corpus = data.prepare(text=text, vocab_size=300, context=32, seed=settings.seed)
    return Run(settings, corpus, GPT(GPTConfig.preset("micro", **TINY), seed=0))


def same_weights(a, b):
    return all(a[name].tobytes() == b[name].tobytes() for name in a) and a.keys() == b.keys()


# What a step computes


def test_a_model_learns_and_says_so(tiny, tmp_path):
    trained = tiny(steps=150, out=tmp_path / "run")
    first, last = trained.records[0], trained.records[-1]
    assert abs(first["loss"] - math.log(300)) < 0.3 and last["loss"] < first["loss"] - 2
    assert trained.best == min(r["val_loss"] for r in trained.records if "val_loss" in r)
    assert trained.step == 150 and trained.stopped is None


def test_the_same_settings_give_the_same_bits_and_another_seed_does_not(tiny):
    a, b, c = tiny(), tiny(), tiny(seed=1)
    losses = [[r["loss"] for r in trained.records] for trained in (a, b, c)]
    assert losses[0] == losses[1] != losses[2]
    assert same_weights(a.model.state(), b.model.state())


def test_accumulated_batches_count_as_one_large_batch_also_where_targets_are_ignored(text):
    small, large = make_run(text, batch=2, accumulate=3), make_run(text, batch=6)
    original = large.corpus.train.batch

    def uneven(step, size):  # the rows of six, or two of them at a time, with fewer scored targets from row to row
        idx, targets = original(0, 6)
        targets = targets.copy()
        for row in range(6):
            targets[row, : 5 * row] = data.IGNORE
        return (idx, targets) if size == 6 else (idx[2 * step : 2 * step + 2], targets[2 * step : 2 * step + 2])

    for one in (small, large):
        one.corpus.train.batch = uneven
    a, b = small.step(), large.step()
    assert a["loss"] == pytest.approx(b["loss"], rel=1e-5)
    assert a["grad_norm"] == pytest.approx(b["grad_norm"], rel=1e-4)


def test_validation_is_the_mean_over_all_scored_targets(text):
    one = make_run(text)
    idx, targets = one.validation.idx, one.validation.targets
    logits = one.model(idx).numpy().astype(np.float64)
    peak = logits.max(-1, keepdims=True)
    logsumexp = peak[..., 0] + np.log(np.exp(logits - peak).sum(-1))
    scored = targets != data.IGNORE
    picked = np.take_along_axis(logits, np.where(scored, targets, 0)[..., None], -1)[..., 0]
    assert one.validate() == pytest.approx((logsumexp - picked)[scored].mean(), rel=1e-5)
    assert one.model.training


def test_the_learning_rate_follows_the_recipe(tiny):
    rates = [record["lr"] for record in tiny(steps=60).records]
    assert rates[0] == pytest.approx(1e-2 / 6) and rates[5] == pytest.approx(1e-2) == max(rates)
    assert rates[-1] == pytest.approx(1e-3 + 9e-3 / 54) and rates[6:] == sorted(rates[6:], reverse=True), (
        "a step before 1e-3"
    )


def test_the_reference_recipe_is_adamw_alone_and_the_best_one_gives_matrices_to_muon(text):
    best, reference = make_run(text), make_run(text, recipe="reference")
    assert isinstance(reference.optimiser, optim.AdamW) and reference.settings.schedule == "cosine"
    taken = {name for name, _ in best.optimiser.named_parameters}
    parts = ("attention.qkv", "attention.out", "mlp.up", "mlp.down")
    assert taken == {f"blocks.0.{part}.weight" for part in parts}
    everything = {name for name, _ in best.model.named_parameters()}
    assert everything - taken == {name for name, _ in best.optimiser.rest.named_parameters}
    for _ in range(10):
        best.step()
    assert best.optimiser.rate * best.settings.peak == pytest.approx(best.settings.matrix_peak)


def test_a_text_that_is_read_again_and_again_gets_dropout_unless_told_otherwise():
    assert recipes.settings("small").model == {}
    assert recipes.settings("small", corpus="shakespeare").model == {"dropout": 0.1}
    assert recipes.settings("small", text="a.txt", model={"channels": 48}).model == {"dropout": 0.1, "channels": 48}
    assert recipes.settings("small", text="a.txt", model={"dropout": 0.0}).model == {"dropout": 0.0}
    assert recipes.settings("small", text="a.txt", recipe="reference").model == {}


def test_a_recipe_that_does_not_exist_gets_a_sentence():
    with pytest.raises(ValueError, match="no recipe 'fast': choose one of best, reference"):
        recipes.settings("micro", recipe="fast")
    with pytest.raises(ValueError, match="no optimiser 'sgd': choose one of adamw, muon"):
        recipes.settings("micro", optimiser="sgd")
    with pytest.raises(ValueError, match="no schedule 'square'"):
        recipes.settings("micro", schedule="square")
    with pytest.raises(ValueError, match=r"momentum is 1\.0: of earlier gradients"):
        recipes.settings("micro", momentum=1.0)


# What a folder holds


def test_the_folder_of_a_run(tiny, tmp_path):
    out = tmp_path / "new" / "run"
    trained = tiny(steps=60, out=out)
    assert sorted(os.listdir(out)) == ["best.safetensors", "last.safetensors", "metrics.jsonl"]
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert lines == trained.records == metrics.read(out)
    assert [line["step"] for line in lines] == list(range(1, 61))
    assert all({"step", "loss", "tokens_per_s", "lr", "grad_norm"} <= line.keys() for line in lines)
    assert [line["step"] for line in lines if "val_loss" in line] == [50, 60]
    last, best = (checkpoint.load(out / name) for name in ("last.safetensors", "best.safetensors"))
    assert last.facts["step"] == 60 and best.facts["step"] == last.facts["best_step"]
    assert same_weights(last.weights, trained.model.state())
    model, tokenizer, facts = run.load(out)
    assert same_weights(model.state(), best.weights) and facts["best"] == trained.best
    assert tokenizer.encode("the cat") == trained.tokenizer.encode("the cat")


def test_without_a_folder_nothing_is_written(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert tiny().records
    assert os.listdir(tmp_path) == []


def test_a_run_is_not_overwritten(tiny, tmp_path):
    tiny(out=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(FolderError, match=r"already holds a run.*course train --out .* --resume"):
        tiny(out=tmp_path)
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_a_folder_belongs_to_one_process(tiny, tmp_path):
    with run_folder.RunFolder(tmp_path, resume=False):
        with pytest.raises(FolderError, match="Another training is writing"):
            tiny(out=tmp_path)
    tiny(out=tmp_path)


# Going on


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_finishes_the_step_saves_and_the_run_goes_on_to_the_same_bits(tiny, tmp_path, number):
    whole = tiny(steps=70)
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    stopped = tiny(steps=70, out=tmp_path, display=StopAt(23, number))
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert stopped.stopped == number and 23 <= stopped.step <= 24
    assert checkpoint.load(tmp_path / "last.safetensors").facts["step"] == stopped.step
    resumed = tiny(resume=True, out=tmp_path, display=progress.Quiet())
    assert same_weights(resumed.model.state(), whole.model.state())

    def facts(record):
        return {name: record[name] for name in ("step", "loss", "lr", "grad_norm")} | {"val": record.get("val_loss")}

    assert [facts(r) for r in metrics.read(tmp_path)] == [facts(r) for r in whole.records]


def test_an_impatient_second_ctrl_c_interrupts_at_once(tiny, tmp_path):
    class Impatient(progress.Quiet):
        def update(self, step, record, left):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        tiny(out=tmp_path, display=Impatient())
    assert tiny(resume=True, out=tmp_path).step == 12


def test_a_log_is_read_while_its_run_makes_the_folder(tmp_path, monkeypatch):
    folder = tmp_path / "run"

    def late(path, *how):
        folder.mkdir()
        return open(path, *how)

    monkeypatch.setattr(metrics, "open", late, raising=False)
    with pytest.raises(FileNotFoundError, match=metrics.NAME):
        metrics.read(folder)


def test_a_log_that_ran_ahead_is_cut_back(tiny, tmp_path):
    """As after a kill: the log has steps that the checkpoint has not seen, and half a line."""
    whole = tiny(steps=40)
    tiny(steps=40, out=tmp_path, display=StopAt(10))
    step = checkpoint.load(tmp_path / "last.safetensors").facts["step"]
    with open(tmp_path / "metrics.jsonl", "a") as log:
        log.write(json.dumps({"step": step + 1, "loss": 0.0}) + '\n{"step": 99, "lo')
    tiny(resume=True, out=tmp_path)
    assert [r["loss"] for r in metrics.read(tmp_path)] == [r["loss"] for r in whole.records]


def test_a_finished_run_has_nothing_left_to_do(tiny, tmp_path):
    first = tiny(out=tmp_path)
    again = tiny(out=tmp_path, resume=True)
    assert again.step == first.step and again.records == first.records


def test_training_in_another_thread_leaves_signals_alone(tiny):
    found = []
    thread = threading.Thread(target=lambda: found.append(tiny(steps=2).step))
    thread.start()
    thread.join()
    assert found == [2]


# What is refused, with a sentence


def test_resuming_what_is_not_there(tiny, tmp_path):
    with pytest.raises(FolderError, match="no folder"):
        tiny(resume=True, out=tmp_path / "none")
    with pytest.raises(FolderError, match="Start it without --resume"):
        tiny(resume=True, out=tmp_path)
    with pytest.raises(TrainingError, match="--out DIR"):
        tiny(resume=True)


@pytest.mark.parametrize(
    "change", [{"steps": 13}, {"seed": 5}, {"preset": "small"}, {"model": {"layers": 2}}, {"batch": 3}, {"text": "x"}]
)
def test_another_configuration_is_refused(tiny, tmp_path, change):
    tiny(out=tmp_path)
    before = (tmp_path / "last.safetensors").read_bytes()
    with pytest.raises(TrainingError, match=f"was started with {next(iter(change))} "):
        tiny(resume=True, out=tmp_path, **change)
    assert (tmp_path / "last.safetensors").read_bytes() == before


def test_the_same_configuration_may_be_repeated(tiny, tmp_path, text, monkeypatch):
    tiny(out=tmp_path / "run")
    monkeypatch.chdir(os.path.dirname(text))
    assert tiny(resume=True, out=tmp_path / "run", preset="micro", text="words.txt", steps=12, batch=2).step == 12


def test_a_run_keeps_its_shape_when_the_preset_changes(tiny, tmp_path, monkeypatch):
    from course_lib.model_config import PRESETS

    tiny(out=tmp_path, display=StopAt(5))
    monkeypatch.setitem(PRESETS, "micro", {**PRESETS["micro"], "positions": "learned", "norm": "rmsnorm"})
    assert tiny(out=tmp_path, resume=True).model.config.norm == "layernorm"


def test_another_text_is_refused(tiny, tmp_path, text):
    own = tmp_path / "own.txt"
    own.write_text(open(text).read())
    tiny(out=tmp_path / "run", text=str(own))
    own.write_text("something else entirely " * 500)
    with pytest.raises(TrainingError, match="is not the one"):
        tiny(out=tmp_path / "run", resume=True)


@pytest.mark.parametrize("name", ["last.safetensors", "both"])
def test_a_damaged_checkpoint_is_refused_and_the_other_one_is_named(tiny, tmp_path, name):
    tiny(out=tmp_path)
    for one in ["last.safetensors"] if name != "both" else ["last.safetensors", "best.safetensors"]:
        content = (tmp_path / one).read_bytes()
        (tmp_path / one).unlink()  # the best may be the same file
        (tmp_path / one).write_bytes(content[:-7])
    expected = "cp .*best.safetensors .*last.safetensors" if name != "both" else "start again in a new folder"
    with pytest.raises(CheckpointError, match=expected):
        tiny(out=tmp_path, resume=True)


@pytest.mark.parametrize(
    ("change", "word"),
    [({"steps": 0}, "steps is 0"), ({"batch": -1}, "batch is -1"), ({"preset": "huge"}, "no preset named 'huge'"),
     ({"corpus": "news"}, "no corpus 'news'"), ({"peak": 0.0}, "learning rate"), ({"hats": 3}, "no setting named 'hats'"),
     ({"device": "abacus"}, "no device 'abacus'"), ({"text": "nowhere.txt"}, "nowhere.txt")],
)  # fmt: skip
def test_bad_settings_are_refused_before_anything_is_written(tiny, tmp_path, change, word):
    with pytest.raises((ValueError, RuntimeError, OSError), match=word):
        tiny(out=tmp_path / "run", **change)
    assert not (tmp_path / "run").exists() or (change == {"text": "nowhere.txt"} and os.listdir(tmp_path / "run") == [])


def test_a_folder_that_is_a_file(tiny, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="cannot be the folder of a run"):
        tiny(out=tmp_path / "file")


def test_a_folder_that_may_not_be_written_to(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(run_folder.os, "access", lambda *args: False)  # a superuser may write anywhere
    with pytest.raises(FolderError, match="may not be written to"):
        tiny(out=tmp_path)


# Runs that go wrong


def test_a_loss_that_is_not_a_number_stops_the_run_and_spares_the_checkpoint(tiny, tmp_path, monkeypatch):
    original = GPT.loss

    def poisoned(self, idx, targets):
        loss = original(self, idx, targets)
        poisoned.calls += 1
        return loss * float("nan") if poisoned.calls == 9 else loss

    poisoned.calls = 0
    monkeypatch.setattr(GPT, "loss", poisoned)
    with pytest.raises(Diverged, match=r"loss is nan at step 9\. .*learning rate.*last.safetensors of step 0"):
        tiny(out=tmp_path)
    saved = checkpoint.load(tmp_path / "last.safetensors")
    assert all(np.isfinite(values).all() for values in saved.weights.values())
    monkeypatch.setattr(GPT, "loss", original)
    assert tiny(out=tmp_path, resume=True).step == 12


def test_a_run_that_diverges_is_stopped(tiny):
    with pytest.raises(Diverged, match=r"(went up|is (nan|inf)).*peaks at 50"):
        tiny(steps=300, peak=50.0, lowest=50.0)


def test_a_broken_backward_is_noticed(text, monkeypatch):
    one = make_run(text)
    one.optimiser.step = lambda rate: float("inf")
    with pytest.raises(Diverged, match="gradient's norm is inf at step 1"):
        one.step()


def test_weights_that_are_not_numbers_are_never_saved(text, tmp_path):
    one = make_run(text)
    weights = one.model.state()
    weights["tokens.weight"][0, 0] = np.nan
    one.model.load_state(weights)
    with pytest.raises(Diverged, match=r"tokens\.weight are not all finite"):
        one.save(tmp_path / "last.safetensors")
    assert os.listdir(tmp_path) == []


def test_a_noisy_but_sound_run_is_left_alone(text):
    one = make_run(text)
    for loss in [6.0] * 30 + [2.0, 5.5] * 30 + [9.0] + [2.0] * 30:
        one._check(loss)


# How it shows itself


def test_what_a_terminal_shows(tiny, tmp_path, capfd):
    tiny(steps=60, out=tmp_path, display=progress.Terminal())
    out, bar = capfd.readouterr()
    count = GPTConfig.preset("micro", **TINY)
    assert f"micro: {sum(n for _, n in count.parameter_table()):,} parameters" in out
    for words in ("device: cpu", "words.txt", "60 steps of 2 x 32 tokens", "after 10 steps: these 60 steps will take about",
                  "best validation loss", "course sample --run"):  # fmt: skip
        assert words in out
    assert "100%" in bar and "60/60" in bar and "tokens/s" in bar


def test_a_model_that_is_watched_writes_and_learns_the_same(tiny):
    class Heard(progress.Quiet):
        def __init__(self):
            self.lines = []

        def say(self, line):
            self.lines.append(line)

    display, settings = Heard(), {"model": TINY | {"dropout": 0.1}, "steps": 60}
    watched, unwatched = tiny(watch=(1, 60), display=display, **settings), tiny(**settings)
    before, after = (line.partition(" it writes: ") for line in display.lines if "it writes" in line)
    assert before[0] == "after 1 steps" and after[0] == "after 60 steps" and before[2] != after[2]
    assert "\n" not in after[2] and len(after[2]) >= 20  # some of it bytes that are no letters: the text has no start
    assert same_weights(watched.model.state(), unwatched.model.state())


def test_after_an_interrupt_the_command_to_go_on_is_shown(tiny, tmp_path, capfd):
    class Both(progress.Terminal):
        def update(self, step, record, left):
            super().update(step, record, left)
            if step == 5:
                os.kill(os.getpid(), signal.SIGINT)

    tiny(out=tmp_path / "a run", display=Both())
    out = capfd.readouterr().out
    assert "Stopped after step" in out and f"course train --out '{tmp_path}/a run' --resume" in out


def test_the_loop_of_chapter_15_keeps_what_it_has_learned_when_it_is_interrupted():
    cells = nbformat.read(ROOT / "notebooks/15_data_and_training.ipynb", as_version=4).cells
    (loop,) = (cell.source for cell in cells if cell.source.startswith("def train("))

    def read(step, size):
        if step == 3:
            raise KeyboardInterrupt
        return np.ones((size, 4), np.int32), np.zeros((size, 4), np.int32)

    names = {"GPT": GPT, "TINY": GPTConfig(1, 1, 8, 4, 9), "optim": optim, "suppress": contextlib.suppress}
    exec(loop, names | {"corpus": SimpleNamespace(train=SimpleNamespace(batch=read))}, made := {})
    model, log = made["train"](steps=10)
    assert [record["step"] for record in log] == [1, 2, 3]
    assert log[-1]["loss"] != model.loss(*read(0, 2)).item() < log[0]["loss"]


def test_a_notebook_keeps_one_compact_text(tiny, monkeypatch):
    ipython = pytest.importorskip("IPython.display")
    shown = []

    class Handle:
        def update(self, content, raw):
            shown.append(content["text/plain"])

    monkeypatch.setattr(ipython, "display", lambda content, raw, display_id: Handle())
    tiny(display=progress.Notebook())
    assert shown[-1].count("\n") < 10 and "12/12" in shown[-1] and "best validation loss" in shown[-1]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "0 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (3599.8, "1 h 0 min")],
)
def test_durations(seconds, said):
    assert progress.duration(seconds) == said


# The command


def test_the_command_says_a_sentence_and_exits_with_an_error(tmp_path, monkeypatch):
    from course_lib import cli

    for arguments, word in (
        (["train", "--out", str(tmp_path / "none"), "--resume"], "no folder"),
        (["train", "--preset", "huge", "--out", str(tmp_path)], "no preset named"),
        (["sample", "--run", str(tmp_path / "none")], "no run in"),
    ):
        monkeypatch.setattr("sys.argv", ["course", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        assert word in exit_.value.code  # a text: Python shows it and exits with status 1


def test_the_command_trains_and_samples(text, tmp_path, capsys, monkeypatch):
    from course_lib import cli

    for arguments in (
        ["train", "--preset", "micro", "--text", text, "--steps", "3", "--batch", "2", "--out", str(tmp_path)],
        ["sample", "--run", str(tmp_path), "--prompt", "the cat", "--tokens", "5", "--top-k", "3", "--seed", "1"],
    ):
        monkeypatch.setattr("sys.argv", ["course", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        assert exit_.value.code == 0
    assert "the cat" in capsys.readouterr().out


def test_the_command_hands_on_how_much_lookups_count(monkeypatch):
    from typer.testing import CliRunner

    from course_lib import cli, tuning

    asked = []
    monkeypatch.setattr(
        tuning, "train", lambda _, **given: asked.append(given["lookups"]) or SimpleNamespace(stopped=0)
    )
    for line in (["train"], ["train", "--lookups", "60"]):
        assert CliRunner().invoke(cli.app, line).exit_code == 0
    assert asked == [None, 60.0]
