"""Fine-tuning: turns, examples of which answers alone are scored, LoRA, runs that begin from other runs."""

import numpy as np
import pytest

from course_lib import data, devices, generation, progress, recipes, run, stories, training, tuning
from course_lib.model import GPT, GPTConfig
from course_lib.stories import requests
from course_lib.tensor import no_grad
from course_lib.tokenizer import Tokenizer
from course_lib.tuning import chat, conversation, examples, lora
from tests.tiny_runs import StopAt

pytestmark = pytest.mark.slow

SMALL = {"layers": 2, "heads": 2, "channels": 32, "context": 320, "vocab_size": 700}


@pytest.fixture(scope="session")
def tokenizer():
    return Tokenizer.train(stories.write(4, 400), SMALL["vocab_size"])


def make_model(tokenizer, seed=0, **changes):
    return GPT(GPTConfig.preset("micro", **SMALL | {"vocab_size": tokenizer.vocab_size} | changes), seed=seed)


# Turns


def test_turns_come_behind_all_other_ids(tokenizer):
    turned = chat.with_turns(tokenizer)
    assert turned.vocab_size == tokenizer.vocab_size + 2 and turned.end_id == tokenizer.end_id
    text = next(stories.write(8, 1)) + " <|user|>"
    assert turned.encode(text) == tokenizer.encode(text)  # what is typed is no mark
    assert chat.with_turns(turned) is turned and not chat.has_turns(tokenizer)
    ids = chat.prompt_ids(turned, "Hello") + chat.answer_ids(turned, "Yes.")
    assert turned.decode(ids) == "<|endoftext|><|user|>Hello<|assistant|>Yes.<|endoftext|>"


@pytest.mark.parametrize("bias", [True, False])
def test_a_model_with_room_for_turns_says_the_same_of_all_else(tokenizer, bias):
    model, turned = make_model(tokenizer, bias=bias), chat.with_turns(tokenizer)
    grown, v = chat.with_room(model, turned), tokenizer.vocab_size
    idx = np.array([turned.encode("Once upon a time there was")])
    assert np.array_equal(grown(idx).numpy()[..., :v], model(idx).numpy())
    assert grown.config.vocab_size == v + 2 == len(grown.state()["tokens.weight"])
    assert chat.with_room(grown, turned) is grown
    new = grown.state()["tokens.weight"][v:]
    assert np.abs(new[0] - new[1]).max() > 0.01


def test_answers_do_not_depend_on_who_else_is_asked(tokenizer):
    turned = chat.with_turns(tokenizer)
    model = chat.with_room(make_model(tokenizer), turned)
    prompts = [one.prompt for one in requests.write(0, 7) if not one.is_question]
    together = chat.answer(model, turned, prompts, tokens=12, seed=3)
    alone = [chat.answer(model, turned, [prompt], tokens=12, seed=3 + i)[0] for i, prompt in enumerate(prompts)]
    assert together == alone
    written = generation.complete(
        model,
        turned,
        [chat.prompt_ids(turned, p)[1:] for p in prompts],
        12,
        generation.Choice(0.7),
        range(3, 3 + len(prompts)),
    )
    assert [len(ids) for ids, ended in written if not ended] == [12] * sum(a is None for a in together)


def test_a_conversation_answers_line_by_line(start, tmp_path, monkeypatch, capsys):
    tuning.train(start=start, out=tmp_path / "chat", **TUNE | {"steps": 1})
    lines = iter(["Once upon a time.\\", "Who sings?", "word " * 400, "Hello", ""])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    conversation.hold(str(tmp_path / "chat"), "cpu", 5, 0.7, None, seed=3)
    said = capsys.readouterr().out
    model, tokenizer, _ = run.load(tmp_path / "chat")
    expected = chat.prompt_ids(tokenizer, "Once upon a time.\nWho sings?")[1:]
    assert said.startswith("".join(generation.generate(model, tokenizer, expected, 5, 0.7, seed=3)))
    assert said.count("tokens, and this model reads 320 at most") == 1 and next(lines, None) is None


def test_a_model_that_was_never_taught_to_answer_says_so(start):
    with pytest.raises(ValueError, match="was never taught to answer"):
        conversation.hold(str(start), "cpu", 5, 0.7, None, seed=3)


# Examples


@pytest.fixture(scope="session")
def corpus(tokenizer):
    return examples.prepare(chat.with_turns(tokenizer), 320, count=300)


def test_answers_alone_are_scored_whole_and_in_order(corpus):
    turned = corpus.tokenizer
    idx, targets = corpus.train.batch(0, 40)
    mark = turned.special_id(chat.ASSISTANT)
    for row, wanted in zip(idx, targets, strict=True):
        start = int(np.flatnonzero(row == mark)[0])
        scored = np.flatnonzero(wanted != data.IGNORE)
        assert scored[0] == start and np.array_equal(scored, np.arange(start, start + len(scored)))
        assert wanted[scored[-1]] == turned.end_id and (wanted[scored[:-1]] == row[scored[1:]]).all()
        assert (row[scored[-1] + 1 :] == turned.end_id).all()
        assert row[0] == turned.end_id and row[1] == turned.special_id(chat.USER)


def test_the_floor_is_what_answers_cost(corpus, tokenizer):
    held_out = list(requests.write(examples.SEED, examples.VALIDATION))
    turned = chat.with_turns(tokenizer)
    fitting = [
        one for one in held_out if len(chat.prompt_ids(turned, one.prompt) + chat.answer_ids(turned, one.answer)) <= 321
    ]
    assert len(corpus.validation) == len(fitting)
    tokens = sum(len(chat.answer_ids(turned, one.answer)) for one in fitting)
    assert corpus.validation.scored == tokens
    assert corpus.floor == pytest.approx(sum(one.nats for one in fitting) / tokens, rel=1e-12)


def test_each_epoch_has_each_example_once(corpus):
    count = len(corpus.train.starts)
    for epoch in (0, 1):
        rows = [corpus.train.batch(epoch * count + i, 1)[0][0].tobytes() for i in range(count)]
        assert len(set(rows)) == count
    a, b = corpus.train.batch(0, 50), corpus.train.batch(1, 50)
    assert not np.array_equal(a[0], b[0]) and np.array_equal(corpus.train.batch(0, 50)[1], a[1])
    across = corpus.train.batch(0, count + 7)[0]  # a batch may end one epoch and begin the next
    assert np.array_equal(across[count:], np.concatenate([corpus.train.batch(count + i, 1)[0] for i in range(7)]))


def test_a_context_too_short_for_stories_is_refused(tokenizer):
    with pytest.raises(ValueError, match="fit into a window of 40 tokens"):
        examples.prepare(chat.with_turns(tokenizer), 40, count=100)


# LoRA


def test_lora_begins_as_the_model_was_and_trains_nothing_else(tokenizer):
    model, before = make_model(tokenizer), make_model(tokenizer).state()
    idx = np.arange(40)[None] + 300
    expected = model(idx).numpy()
    lora.add(model, rank=4)
    np.testing.assert_allclose(model(idx).numpy(), expected, atol=1e-6)
    names = [name for name, _ in model.named_parameters()]
    assert len(names) == 2 * 2 * 4 and all(name.endswith((".a", ".b")) for name in names)
    c, h = 32, 128
    assert model.parameter_count() == 2 * 4 * ((c + 3 * c) + (c + c) + (c + h) + (h + c))
    model.loss(idx, idx).backward()
    assert all(p.grad is not None for p in model.parameters())
    merged = lora.merged_state(model)
    assert merged.keys() == before.keys() and all(np.array_equal(merged[name], before[name]) for name in before)


@pytest.mark.parametrize("changes", [{}, {"bias": False, "norm": "rmsnorm", "activation": "swiglu", "kv_heads": 1}])
def test_merged_weights_compute_the_same(tokenizer, changes):
    model = lora.add(make_model(tokenizer, **changes), rank=3, seed=1)
    rng = np.random.default_rng(0)
    model.load_state({name: rng.normal(0, 0.1, values.shape) for name, values in model.state().items()})
    idx = np.arange(30)[None] + 256
    plain = make_model(tokenizer, seed=7, **changes)
    plain.load_state(lora.merged_state(model))
    with no_grad():
        np.testing.assert_allclose(plain(idx).numpy(), model(idx).numpy(), atol=2e-5)
    assert np.abs(plain(idx).numpy() - make_model(tokenizer, **changes)(idx).numpy()).max() > 0.01


def test_the_gradients_of_lora_are_those_of_the_weight_in_its_directions(tokenizer):
    """dL/dB = factor dL/dW A^T and dL/dA = factor B^T dL/dW, with dL/dW of the merged weight."""
    model = lora.add(make_model(tokenizer), rank=3)
    rng = np.random.default_rng(2)
    model.load_state({name: rng.normal(0, 0.05, values.shape) for name, values in model.state().items()})
    plain = make_model(tokenizer)
    plain.load_state(lora.merged_state(model))
    idx, targets = np.arange(24)[None] + 256, np.arange(24)[None] + 257
    model.loss(idx, targets).backward()
    plain.loss(idx, targets).backward()
    layer, weight = model.blocks[1].attention.out, plain.blocks[1].attention.out.weight.grad.numpy()
    np.testing.assert_allclose(layer.b.grad.numpy(), layer.factor * weight @ layer.a.numpy().T, atol=1e-5)
    np.testing.assert_allclose(layer.a.grad.numpy(), layer.factor * layer.b.numpy().T @ weight, atol=1e-5)


@pytest.mark.parametrize("changes", [{}, {"bias": False, "activation": "swiglu"}])
def test_lora_computes_no_gradient_of_a_frozen_matrix(tokenizer, changes):
    """Backward multiplies twice for each A and B, once for each frozen matrix, the head among them."""
    model = lora.add(make_model(tokenizer, **changes), rank=3)
    table, made = devices.ops("cpu"), []

    def counted(op, own):
        return devices.overlay(
            op, lambda dy, x, weight, *more: made.append((op, weight.shape)) or own(dy, x, weight, *more)
        )

    whole, part = table.linear_backward, table.linear_backward_input
    with counted("linear_backward", whole), counted("linear_backward_input", part):
        model.loss(np.arange(24)[None] + 256, np.arange(24)[None] + 257).backward()
    adapted = [layer for _, layer in model.named_modules() if isinstance(layer, lora.LoRALinear)]
    trained = [value.shape for layer in adapted for value in (layer.a, layer.b)]
    # Nothing before the first of them learns.
    frozen = [*(layer.weight.shape for layer in adapted[1:]), model.tokens.weight.shape]
    assert sorted(shape for op, shape in made if op == "linear_backward") == sorted(trained)
    assert sorted(shape for op, shape in made if op == "linear_backward_input") == sorted(frozen)


@pytest.mark.parametrize("rank", [0, -1])
def test_a_rank_below_one_is_refused(tokenizer, rank):
    with pytest.raises(ValueError, match="at least 1"):
        lora.add(make_model(tokenizer), rank)


# Runs that begin from other runs


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    """A run of a few steps on stories."""
    folder = tmp_path_factory.mktemp("start") / "run"
    training.train(
        "micro",
        out=folder,
        steps=30,
        batch=4,
        stories=300,
        validation_rows=16,
        model=SMALL,
        display=progress.Quiet(),
        device="cpu",
    )
    return folder


TUNE = {"steps": 12, "batch": 4, "stories": 300, "validation_rows": 16, "display": progress.Quiet(), "device": "cpu"}


@pytest.mark.parametrize("rank", [0, 4])
def test_fine_tuning_lowers_the_loss_on_answers_and_leaves_a_run(start, tmp_path, rank):
    tuned = tuning.train(start=start, out=tmp_path / "chat", lora=rank, **TUNE)
    losses = [record["loss"] for record in tuned.records]
    assert np.mean(losses[-3:]) < np.mean(losses[:3]) and tuned.floor is not None
    model, tokenizer, facts = run.load(tmp_path / "chat" / "last.safetensors")
    assert chat.has_turns(tokenizer) and facts["settings"]["preset"] == "micro"
    idx, targets = tuned.corpus.validation.idx[:4], tuned.corpus.validation.targets[:4]
    assert model.loss(idx, targets).item() == pytest.approx(tuned.model.loss(idx, targets).item(), abs=1e-5)
    before, _, _ = run.load(start)
    same = np.array_equal(
        model.state()["positions.weight" if before.positions else "norm.weight"], before.state()["norm.weight"]
    )
    assert same == bool(rank)  # frozen, or not


@pytest.mark.parametrize("rank", [0, 4])
def test_a_stopped_fine_tuning_goes_on_to_the_same_bits(start, tmp_path, rank):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    tuning.train(start=start, out=whole, lora=rank, **TUNE)
    stopped = tuning.train(start=start, out=parts, lora=rank, **TUNE | {"display": StopAt(5)})
    assert 5 <= stopped.step < 12
    tuning.train(out=parts, resume=True, display=progress.Quiet(), device="cpu")
    a, b = (run.load(folder / "last.safetensors")[0].state() for folder in (whole, parts))
    assert all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("kind", [{}, {"reward": "stories", "batch": 2}])
def test_what_knows_nothing_of_fine_tuning_does_not_go_on_with_it(start, tmp_path, kind):
    tuning.train(start=start, out=tmp_path / "chat", **TUNE | {"steps": 1} | kind)
    with pytest.raises(training.TrainingError, match="it is fine-tuning"):
        training.train(out=tmp_path / "chat", resume=True, display=progress.Quiet(), device="cpu")


def test_changes_go_on_with_the_weights_that_they_belong_to(start, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "last.safetensors").write_bytes((start / "last.safetensors").read_bytes())
    tuning.train(start=other, out=tmp_path / "chat", lora=2, **TUNE | {"steps": 2})
    training.train("micro", out=tmp_path / "third", steps=2, batch=2, stories=300, model=SMALL, seed=9,
                   display=progress.Quiet(), device="cpu")  # fmt: skip
    (other / "last.safetensors").write_bytes((tmp_path / "third" / "last.safetensors").read_bytes())
    with pytest.raises(training.TrainingError, match="not those that this run began from"):
        tuning.train(out=tmp_path / "chat", resume=True, display=progress.Quiet(), device="cpu")


def test_fine_tuning_on_a_text(start, tmp_path):
    text = tmp_path / "mine.txt"
    text.write_text("The sea is wide and the ship is small. " * 400)
    tuned = tuning.train(start=start, text=str(text), lora=2, window=100, **TUNE)
    assert tuned.corpus.train.batch(0, 2)[0].shape == (2, 100)
    assert tuned.floor is None and not chat.has_turns(tuned.tokenizer)
    assert tuned.records[-1]["loss"] < tuned.records[0]["loss"]


@pytest.mark.parametrize(
    "changes, says",
    [
        ({"lora": 4}, "needs the run"),
        ({"start": "nowhere"}, "no run in"),
        ({"corpus": "requests"}, "no corpus 'requests'"),
    ],
)
def test_what_cannot_begin_says_why(changes, says):
    with pytest.raises((ValueError, RuntimeError), match=says):
        tuning.train(**TUNE | changes)


def test_without_a_start_it_is_training(tmp_path):
    settings = {"steps": 3, "batch": 2, "stories": 300, "model": SMALL, "device": "cpu", "display": progress.Quiet()}
    ours, plain = tuning.train("micro", **settings), training.train("micro", **settings)
    assert ours.settings == plain.settings and recipes.settings("micro").start is None
    assert all(
        np.array_equal(a, b) for a, b in zip(ours.model.state().values(), plain.model.state().values(), strict=True)
    )
