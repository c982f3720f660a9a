"""GPT-2's published format in our own model: logits as transformers computes them, tokens as tokenizers has them."""

import json
import re

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from course_lib import gpt2, progress, run, stories, tuning
from course_lib.model import GPT, GPTConfig
from course_lib.tokenizer import END_OF_TEXT, Tokenizer, TokenizerError

TEXT = "\n".join(stories.write(3, 60))
STRANGE = "Zoë's naïve café — 東京 🦔\tand 12,345 more…\n\n   it'll 'stop'? " + "".join(chr(n) for n in range(32, 400))


def write_tokenizer(folder, vocab_size=400):
    """vocab.json and merges.txt as GPT-2 has them, of merges learned from stories."""
    learned = Tokenizer.train(TEXT, vocab_size)
    tokenizer = Tokenizer(learned.merges, byte_order="gpt2")
    names = {tokenizer.visible(token): token for token in range(tokenizer.vocab_size)}
    (folder / "vocab.json").write_text(json.dumps(names, ensure_ascii=False))
    lines = json.loads(tokenizer.to_json())["merges"]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *lines]) + "\n")
    return tokenizer


def write_model(folder, vocab_size, **changes):
    """config.json and model.safetensors by our own hand: without transformers there are no others."""
    config = GPTConfig(2, 3, 48, 32, vocab_size, head_bias=False)
    settings = {
        "model_type": "gpt2",
        "n_layer": 2,
        "n_head": 3,
        "n_embd": 48,
        "n_positions": 32,
        "vocab_size": vocab_size,
    }
    (folder / "config.json").write_text(json.dumps(settings | {"activation_function": "gelu_new"} | changes))
    model = GPT(config, seed=5)
    theirs = {ours: (name, turned) for name, (ours, turned) in gpt2.IN_BLOCK.items()}
    theirs |= {ours: (name, False) for name, ours in gpt2.OUTSIDE.items()}
    weights = {}
    for name, values in model.state().items():
        block = re.match(r"blocks\.(\d+)\.(.*)", name)
        their, turned = theirs[block[2] if block else name]
        weights[f"h.{block[1]}.{their}" if block else their] = np.ascontiguousarray(values.T if turned else values)
    save_file(weights, folder / "model.safetensors")
    return model


@pytest.fixture
def folder(tmp_path):
    tokenizer = write_tokenizer(tmp_path)
    write_model(tmp_path, tokenizer.vocab_size)
    return tmp_path


def test_the_smallest_gpt2_has_its_published_size():
    config = GPTConfig.preset("gpt2")
    assert sum(count for _, count in config.parameter_table()) == 124_439_808


@pytest.mark.peers
@pytest.mark.parametrize(
    "heads, channels, saved", [(3, 48, "whole"), (2, 128, "whole"), (3, 48, "half"), (3, 48, "inner")]
)
def test_logits_equal_those_of_transformers(tmp_path, heads, channels, saved):
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = write_tokenizer(tmp_path)
    torch.manual_seed(1)
    settings = GPT2Config(
        vocab_size=tokenizer.vocab_size, n_positions=40, n_embd=channels, n_layer=3, n_head=heads, initializer_range=0.2,
        layer_norm_epsilon=2e-5,
    )  # fmt: skip
    theirs = GPT2LMHeadModel(settings).eval()
    for parameter in theirs.parameters():  # norms and biases too say something
        parameter.data += 0.05 * torch.randn_like(parameter)
    if saved == "half":
        theirs = theirs.half()
    (theirs.transformer if saved == "inner" else theirs).save_pretrained(tmp_path)
    model, _ = gpt2.read(tmp_path)
    idx = np.random.default_rng(0).integers(0, tokenizer.vocab_size, (2, 37))
    with torch.no_grad():
        expected = theirs.float()(torch.tensor(idx)).logits.numpy()
    assert np.abs(model(idx).numpy() - expected).max() < 1e-4
    assert abs(expected).max() > 1


@pytest.mark.peers
def test_tokens_equal_those_of_tokenizers_and_tiktoken(tmp_path):
    import tiktoken
    from tokenizers import ByteLevelBPETokenizer

    write_tokenizer(tmp_path, 700)
    ours = gpt2.read_tokenizer(tmp_path / "merges.txt", tmp_path / "vocab.json")
    theirs = ByteLevelBPETokenizer.from_file(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    ranks = {ours.token_bytes(token): token for token in range(ours.vocab_size - 1)}
    from course_lib.tokenizer import PATTERN

    third = tiktoken.Encoding("ours", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={END_OF_TEXT: ours.end_id})
    for text in (STRANGE, next(stories.write(9, 1)), "", " ", "\n\n\n a"):
        ids = ours.encode(text)
        assert ids == theirs.encode(text).ids == third.encode(text)
        assert ours.decode(ids) == text


def test_a_saved_tokenizer_keeps_the_order_of_its_bytes(folder):
    tokenizer = gpt2.read_tokenizer(folder / "merges.txt", folder / "vocab.json")
    again = Tokenizer.from_json(tokenizer.to_json())
    assert again.encode(STRANGE) == tokenizer.encode(STRANGE) != Tokenizer(tokenizer.merges).encode(STRANGE)
    assert again.decode(again.encode(STRANGE)) == STRANGE and again.checksum == tokenizer.checksum
    assert tokenizer.encode("!") == [0] and Tokenizer(tokenizer.merges).encode("!") == [ord("!")]


def test_an_imported_model_is_a_run_that_writes(folder, tmp_path):
    path = gpt2.make_run(folder, tmp_path / "run")
    model, tokenizer, facts = run.load(tmp_path / "run")
    theirs, _ = gpt2.read(folder)
    idx = np.arange(12)[None]
    assert (model(idx).numpy() == theirs(idx).numpy()).all() and facts["step"] == 0
    assert tokenizer.byte_order == "gpt2" and path.is_file()
    with pytest.raises(gpt2.WeightsError, match="holds a run already"):
        gpt2.make_run(folder, tmp_path / "run")


def test_the_page_does_not_take_it_and_says_so(folder, tmp_path):
    from course_lib.web import export

    gpt2.make_run(folder, tmp_path / "run")
    with pytest.raises(export.ExportError, match="GPT-2's tokens"):
        export.export(tmp_path / "run", tmp_path / "page")


def test_it_can_be_fine_tuned_by_lora_on_a_text(folder, tmp_path):
    gpt2.make_run(folder, tmp_path / "run")
    (tmp_path / "mine.txt").write_text(TEXT)
    settings = {"lora": 2, "steps": 12, "batch": 4, "device": "cpu", "display": progress.Quiet()}
    tuned = tuning.train(start=tmp_path / "run", text=str(tmp_path / "mine.txt"), out=tmp_path / "tuned", **settings)
    assert tuned.records[-1]["loss"] < tuned.records[0]["loss"] and tuned.tokenizer.byte_order == "gpt2"
    assert run.load(tmp_path / "tuned")[1].checksum == tuned.tokenizer.checksum


def cut(path):
    path.write_bytes(path.read_bytes()[:-5000])


def exchange_lines(path):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *reversed(lines[1:])]))


def other_vocabulary(path):
    names = json.loads(path.read_text())
    names["!"], names['"'] = names['"'], names["!"]
    path.write_text(json.dumps(names))


def another_layer(path):
    arrays = load_file(path)
    save_file(arrays | {"h.0.attn.rotary": np.zeros(3, np.float32)}, path)


def fewer(path):
    arrays = load_file(path)
    del arrays["h.1.ln_2.bias"]
    save_file(arrays, path)


@pytest.mark.parametrize(
    "file, damage, says",
    [
        ("model.safetensors", lambda path: path.unlink(), "lacks model.safetensors"),
        ("model.safetensors", cut, "damaged"),
        ("model.safetensors", another_layer, "h.0.attn.rotary"),
        ("model.safetensors", fewer, "blocks.1.norm2.bias"),
        ("config.json", lambda path: path.write_text("{"), "not valid JSON"),
        ("config.json", lambda path: path.write_text('{"model_type": "llama"}'), "'llama'"),
        ("config.json", lambda path: path.write_text("{}"), "n_layer"),
        ("vocab.json", other_vocabulary, "different models"),
        ("vocab.json", lambda path: path.write_text("[1]"), "must hold an object"),
        ("merges.txt", exchange_lines, "no list of merges"),
    ],
    ids=["missing", "cut", "more", "fewer", "no json", "another model", "no config", "exchanged", "a list", "reversed"],
)
def test_bad_files_are_refused_with_a_sentence(folder, file, damage, says):
    damage(folder / file)
    with pytest.raises((gpt2.WeightsError, TokenizerError, ValueError), match=re.escape(says)):
        gpt2.read(folder)


def test_a_name_that_nobody_knows():
    with pytest.raises(gpt2.WeightsError, match="Give the folder that holds"):
        gpt2.read("gpt5")
