"""The blocks "The same in PyTorch" at the end of the lectures: each runs as it stands, and gives what the course gives."""

import ast
import functools
import math
import re

import nbformat
import numpy as np
import pytest

from course_lib import Tensor, bpe, functional, nn, no_grad, optim, sampling, stories
from course_lib.coach import catalogue
from course_lib.devices import ops
from course_lib.model import GPT, GPTConfig
from course_lib.paths import ROOT
from course_lib.tokenizer import Tokenizer
from course_lib.tuning import lora, policy, reward

torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
pytestmark = pytest.mark.peers

OURS = ops("reference")
BLOCK = re.compile(r"^## The same (?:in PyTorch|with a library)\n.*?^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@functools.cache
def blocks() -> dict[str, str]:
    """Chapter -> the code of its block."""
    found = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        for block in BLOCK.findall(text):
            assert path.name.partition("_")[0] not in found, f"{path.name} has two blocks"
            found[path.name.partition("_")[0]] = block
    return found


def run(chapter: str, **given):
    """Run a block with the names that it takes from its lecture. Returns all names, and the value of each expression by its text.

    On any machine: without a GPU the CPU takes its part, and `torch.compile` follows the code, but writes no kernels.
    """
    text = blocks()[chapter]
    if not torch.cuda.is_available():
        text = text.replace('"cuda"', '"cpu"')
    names, said = {"torch": torch, **given}, {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
        for statement in ast.parse(text).body:
            if isinstance(statement, ast.Expr):
                code = compile(ast.Expression(statement.value), chapter, "eval")
                said[ast.get_source_segment(text, statement.value)] = eval(code, names)
            else:
                exec(compile(ast.Module([statement], []), chapter, "exec"), names)
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    said[ast.get_source_segment(text, statement.value)] = names[statement.targets[0].id]
    return names, said


def normal(*shape: int, gradient: bool = False):
    return torch.tensor(np.random.default_rng(sum(shape)).normal(size=shape), requires_grad=gradient)


def array(tensor) -> np.ndarray:
    return tensor.detach().numpy()


def agree(theirs, ours, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(array(theirs), ours, rtol=tolerance, atol=tolerance)


def test_every_block_has_a_test():
    assert set(blocks()) == {name.removeprefix("test_block_") for name in globals() if name.startswith("test_block_")}


def test_block_22a():
    said, _ = run("22a")
    weight = said["weight"].numpy()
    scale = np.abs(weight.reshape(64, -1, 32)).max(-1, keepdims=True) / 7
    codes = np.clip(np.round(weight.reshape(64, -1, 32) / scale) + 8, 0, 15)
    agree(said["codes"], codes.astype(np.uint8))
    assert np.array_equal(said["again"].numpy(), codes)
    agree(said["y"], said["x"].numpy() @ ((codes - 8) * scale).reshape(64, 512).T, 1e-3)


def test_block_01():
    _, said = run("01")
    x = Tensor(np.arange(12.0).reshape(3, 4))
    assert said["x.stride(), x.T.stride()"] == (x.strides, x.T.strides) == ((4, 1), (1, 4))
    assert said["x[1:, ::2].storage_offset()"] == x[1:, ::2].offset == 4
    assert said["x[0].expand(3, 4).stride()"] == (0, 1) and said["x.T.view(2, 2, 3).stride()"] == (2, 1, 4)
    agree(said["x.T.reshape(12)"], x.T.reshape(12).numpy())
    agree(said["x @ x.T"], (x @ x.T).numpy())
    with pytest.raises(RuntimeError):
        torch.arange(12.0).reshape(3, 4).T.view(12)


def test_block_02():
    names, said = run("02")
    w = Tensor(3.0, requires_grad=True)
    loss = (w * 2 - 1 - 7) ** 2
    loss.backward()
    assert said["w.grad"].item() == w.grad.item() == -8
    with no_grad():
        assert names["w"].item() == pytest.approx((w - 0.2 * w.grad).item())
    assert names["w"].grad is None and said[next(text for text in said if "gradcheck" in text)] is True


class RememberingAdamW(torch.optim.AdamW):
    """Knows what its parameters were before the first step."""

    def __init__(self, parameters, **settings):
        parameters = list(parameters)
        self.before = [array(p).copy() for p in parameters]
        super().__init__(parameters, **settings)


def leaves(arrays):
    return [Tensor(values, requires_grad=True) for values in arrays]


def step(parameters, rate: float, **settings) -> None:
    """A step of our AdamW along the gradients that the parameters have."""
    optim.AdamW([(str(i), p) for i, p in enumerate(parameters)], **settings).step(rate)


def test_block_03(monkeypatch):
    monkeypatch.setattr(torch.optim, "AdamW", RememberingAdamW)
    names, _ = run("03")
    assert abs(names["loss"].item() - math.log(17)) < 0.5, "of logits; untrained, all 17 are about equally likely"
    table, w1, b1, w2, b2 = ours = leaves(names["optimiser"].before)
    x = functional.embedding(table, names["contexts"].numpy()).reshape(64, 60)
    x = functional.linear(x, w1, b1).tanh()
    loss = functional.linear_cross_entropy(x, w2, b2, names["targets"].numpy())
    loss.backward()
    agree(names["loss"], loss.item(), 1e-5)
    step(ours, 0.005, max_norm=None)
    for theirs, p in zip(names["model"].parameters(), ours, strict=True):
        agree(theirs.grad, p.grad.numpy(), 1e-5)
        if p.ndim == 2:  # theirs decays biases too
            agree(theirs, p.numpy(), 1e-4)


def test_block_04():
    names, _ = run("04")
    agree(names["y"].cpu(), OURS.multiply(np.arange(16.0, dtype=np.float32), np.float32(0.5)))


def silu(x: np.ndarray) -> np.ndarray:
    """SwiGLU, with x as the gates and 1 as the ups."""
    return OURS.swiglu_forward(np.concatenate([x, np.ones_like(x)], axis=-1))


def test_block_05():
    x, bias, stream = normal(6, 8), normal(8), normal(6, 8) + 1
    names, said = run("05", x=x, bias=bias, stream=stream)
    fused = array(stream) + silu(array(x) + array(bias))
    agree(said["F.silu(x)"], silu(array(x)))
    agree(names["y"], fused)
    agree(names["bias_silu_add"](x, bias, stream), fused)


def test_block_06():
    x = normal(5, 7)
    names, _ = run("06", x=x)
    softmax = OURS.softmax_forward(array(x))
    for name, ours in (("total", OURS.sum(array(x))), ("largest", OURS.max(array(x), 1)), ("y", softmax)):
        agree(names[name], ours)
    agree(names["lse"], OURS.cross_entropy_forward(array(x), np.zeros(5, np.int64))[1])


def test_block_07():
    x, weight, bias = normal(3, 384, gradient=True), normal(384, gradient=True), normal(384, gradient=True)
    dy = normal(3, 384) + 1
    _, said = run("07", x=x, weight=weight, bias=bias, dy=dy)
    rms, layer = (said[text] for text in said if text.startswith("F."))
    agree(rms, OURS.rmsnorm_forward(array(x), array(weight), 1e-5)[0])
    y, mean, rstd = OURS.layernorm_forward(array(x), array(weight), array(bias), 1e-5)
    agree(layer, y)
    gradients = OURS.layernorm_backward(array(dy), array(x), array(weight), mean, rstd, True)
    for leaf, ours in zip((x, weight, bias), gradients, strict=True):
        agree(leaf.grad, ours)


def test_block_08a():
    A, B, X, Y = normal(5, 4), normal(4, 6), normal(7, 3), normal(8, 3)
    names, _ = run("08a", A=A, B=B, X=X, Y=Y)
    agree(names["C"], OURS.matmul(array(A), array(B)))
    agree(names["G"], OURS.matmul(array(X), array(X).T))
    agree(names["D"], ((array(X)[:, None] - array(Y)) ** 2).sum(-1))


def test_block_08b():
    x, W, dy = normal(5, 4, gradient=True), normal(6, 4, gradient=True), normal(5, 6)
    names, _ = run("08b", x=x, W=W, dy=dy)
    agree(names["y"], OURS.linear_forward(array(x), array(W), None))
    dx, dweight, _ = OURS.linear_backward(array(dy), array(x), array(W), False)
    agree(x.grad, dx)
    agree(W.grad, dweight)


def test_block_08c():
    A, B = normal(9, 33), normal(33, 7)
    names, _ = run("08c", A=A, B=B)
    wide = [array(x.bfloat16().double()) for x in (A, B)]
    assert names["C"].dtype == torch.bfloat16
    agree(names["C"].double(), OURS.matmul(*wide), 2**-7)  # half a last digit of bfloat16, and the order of the sum


def test_block_09():
    x, W, bias = normal(5, 4), normal(6, 4), normal(6)
    names, _ = run("09", x=x, W=W, bias=bias)
    ours = OURS.bias_gelu_forward(OURS.linear_forward(array(x), array(W), None), array(bias))
    agree(names["y"], ours)
    agree(names["fused"](x), ours)


def test_block_10a():
    q, k, v = (normal(2, 3, 5, 4 + 2 * i)[..., :4] for i in range(3))  # (B, H, T, D)
    names, _ = run("10a", q=q, k=k, v=v, hidden=torch.ones(5, 5, dtype=torch.bool).triu(1))
    y, _ = OURS.attention_forward(*(np.ascontiguousarray(array(x).transpose(0, 2, 1, 3)) for x in (q, k, v)), True)
    for name in ("naive", "y"):
        agree(names[name].transpose(1, 2), y)


def test_block_10b():
    q, k, v = (normal(2, 3, 5, 4 + 2 * i)[..., :4].clone().requires_grad_() for i in range(3))  # (B, H, T, D)
    dy = normal(2, 3, 5, 4) + 1
    names, _ = run("10b", q=q, k=k, v=v, dy=dy)
    ours_q, ours_k, ours_v, ours_dy = (np.ascontiguousarray(array(x).transpose(0, 2, 1, 3)) for x in (q, k, v, dy))
    y, logsumexp = OURS.attention_forward(ours_q, ours_k, ours_v, True)
    agree(names["y"].transpose(1, 2), y)
    gradients = OURS.attention_backward(ours_dy, ours_q, ours_k, ours_v, y, logsumexp, True)
    for leaf, ours in zip((q, k, v), gradients, strict=True):
        agree(leaf.grad.transpose(1, 2), ours)


def test_block_11():
    names, said = run("11")
    ids, targets = (names[name].numpy() for name in ("ids", "targets"))
    table = Tensor(array(names["table"]), requires_grad=True)
    loss = functional.linear_cross_entropy(functional.embedding(table, ids), table, None, targets)
    loss.backward()
    agree(names["loss"], loss.item(), 1e-4)
    scale = np.abs(array(names["table"].grad)).max()
    agree(names["table"].grad / scale, table.grad.numpy() / scale, 1e-4)
    logsumexp, sums = said["torch.logsumexp(logits, dim=1), torch.cumsum(targets, dim=0)"]
    agree(logsumexp, OURS.cross_entropy_forward(array(names["logits"]), targets)[1], 1e-4)
    assert np.array_equal(array(sums), targets.cumsum())


def test_block_12(monkeypatch):
    monkeypatch.setattr(torch.optim, "AdamW", RememberingAdamW)
    names, _ = run("12")
    clipped = OURS.global_norm([array(p.grad) for p in names["model"].parameters()])[0]
    assert clipped == pytest.approx(min(1.0, names["norm"].item()), rel=1e-3)
    assert all(p.dtype == torch.float32 for p in names["model"].parameters())
    ours = leaves(names["optimiser"].before)
    for p, theirs in zip(ours, names["model"].parameters(), strict=True):
        p.grad = Tensor(array(theirs.grad))  # clipped already
    step(ours, 3e-4, betas=(0.9, 0.999), max_norm=None)
    agree(names["model"].weight, ours[0].numpy(), 1e-6)


def test_block_13():
    pytest.importorskip("tokenizers", reason="compares with HuggingFace's tokenizers, which are not installed")
    corpus = list(stories.write(0, 200))
    _, said = run("13", corpus=corpus)
    ((text, tokens),) = ((text, value) for text, value in said.items() if text.endswith(".tokens"))
    ours = Tokenizer.train(corpus, 512)
    ids = ours.encode(ast.literal_eval(ast.parse(text, mode="eval").body.value.args[0]))
    assert tokens == ["".join(bpe.VISIBLE[byte] for byte in ours.token_bytes(token)) for token in ids]


def made_of_torch(vocabulary: int):
    return torch.nn.Sequential(torch.nn.Embedding(vocabulary, 8), torch.nn.Linear(8, vocabulary))


def test_block_14():
    names, _ = run("14")
    state = {name: array(value) for name, value in names["block"].state_dict().items()}
    ours = GPT(GPTConfig(layers=1, heads=6, channels=384, context=32, vocab_size=2)).blocks[0]
    here_and_there = {"attention.qkv.": "self_attn.in_proj_", "attention.out.": "self_attn.out_proj.", "mlp.up.": "linear1.",
                      "mlp.down.": "linear2.", "norm1.": "norm1.", "norm2.": "norm2."}  # fmt: skip
    ours.load_state({a + part: state[b + part] for a, b in here_and_there.items() for part in ("weight", "bias")})
    stream, branch = ours(Tensor(array(names["x"])), None, None, None)
    agree(names["y"], (stream + branch).numpy(), 1e-4)


def test_block_15(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    batches = [(torch.randint(9, (2, 5)), torch.randint(9, (2, 5)))] * 12
    names, _ = run("15", model=made_of_torch(9), batches=batches)
    rates = [0.01 * names["rate"].lr_lambdas[0](step) for step in range(300)]
    assert rates == pytest.approx([optim.warmup_linear(step, 300, 0.01, 0.0, 30) for step in range(300)])
    assert torch.load("last.pt")["step"] == 12


def test_block_16():
    def loss_of(model, idx, targets):
        return torch.nn.functional.cross_entropy(model(idx).flatten(0, 1), targets.flatten())

    idx, targets = torch.randint(9, (2, 5)), torch.randint(9, (2, 5))
    names, _ = run(
        "16", model=made_of_torch(9), idx=idx, targets=targets, loss_of=loss_of, held_out=[(idx, targets)] * 2
    )
    logits = array(names["model"](idx).flatten(0, 1))
    agree(names["validation"], OURS.cross_entropy_forward(logits, targets.flatten().numpy())[0], 1e-5)
    assert names["loss"].item() == pytest.approx(names["validation"].item(), rel=0.02), "its products are in bfloat16"


def test_block_17():
    names, _ = run("17")
    probabilities = sampling.softmax(array(names["logits"]), 0.7)
    agree(names["probabilities"], probabilities, 1e-5)
    kept, order = array(names["kept"]), array(names["index"])
    theirs = np.zeros_like(kept)
    np.put_along_axis(theirs, order, kept / kept.sum(), -1)
    np.testing.assert_allclose(theirs, sampling.top_p_filter(probabilities, 0.95), atol=1e-5)
    assert theirs[0, names["token"].item()] > 0


def test_block_18():
    names, said = run("18")
    x = array(names["x"].cpu())
    for text, ours in (('torch.nn.functional.gelu(x, approximate="tanh")', OURS.gelu_forward(x)),
                       ("torch.softmax(x, dim=-1)", OURS.softmax_forward(x)), ("x @ x", OURS.matmul(x, x))):  # fmt: skip
        agree(said[text].cpu(), ours, 1e-5)


def test_block_19():
    names, _ = run("19")
    linear = names["model"].module
    assert names["total"].tolist() == [1.0, 1.0, 1.0], "the sum over one rank"
    assert all(parameter.grad is not None for parameter in linear.parameters())


def test_block_20():
    names, _ = run("20")
    layer, x = names["layer"], torch.randn(3, 64)
    agree(layer(x), array(layer.frozen(x)), 1e-6)  # at the start it is what was frozen
    torch.nn.init.normal_(layer.b)
    ours = lora.LoRALinear(nn.Linear(64, 192), 8, np.random.default_rng(0))
    pairs = [
        (ours.weight, layer.frozen.weight),
        (ours.own_bias, layer.frozen.bias),
        (ours.a, layer.a),
        (ours.b, layer.b),
    ]
    for mine, theirs in pairs:
        mine.storage.array[...] = array(theirs).reshape(mine.storage.array.shape)
    agree(layer(x), ours(Tensor(array(x))).numpy(), 1e-4)
    assert ours.factor == layer.factor and not any(p.requires_grad for p in layer.frozen.parameters())
    logits, targets = array(names["logits"]), array(names["targets"])
    rows = [catalogue.load("answer_log_probabilities").reference(logits, np.where(targets < 0, -1, targets))]
    agree(names["answers"], rows[0], 1e-4)
    four = [np.array([value]) for value in (*array(names["answers"]), *array(names["before"]))]
    expected = catalogue.load("dpo_loss").reference(*four, 0.1)
    assert names["loss"].item() == pytest.approx(expected, abs=1e-5)


def test_block_21():
    names, _ = run("21")
    value = {
        name: array(names[name]) for name in ("logits", "log_p", "before", "start", "advantage", "ratio", "reward")
    }
    tokens = array(names["tokens"])
    ours = policy.log_probabilities(Tensor(value["logits"].reshape(40, 64).astype(np.float64), "float64"), tokens)
    agree(names["log_p"], ours.numpy().reshape(8, 5), 1e-5)
    credit = reward.group_credit(value["reward"], [5] * 8, 5).reshape(-1)
    agree(names["clipped"], policy.clipped(ours, value["before"].reshape(-1), credit).numpy(), 1e-5)
    agree(names["k3"], policy.kl_to_start(ours, value["start"].reshape(-1), np.ones(40, bool)).numpy(), 1e-5)
    assert names["logits"].grad.abs().sum() > 0


def test_block_23():
    names, _ = run("23")
    parts = (Tensor(array(names[name]).astype(np.float64), "float64") for name in ("q", "k", "v", "g", "beta"))
    y, state = functional.gated_delta(*parts)
    agree(names["y"], y.numpy(), 1e-5)
    agree(names["state"], state.numpy(), 1e-5)
    agree(names["sums"], np.cumsum(array(names["v"]), 2), 1e-5)
