"""Answers in the library: every target can be replaced and is called, a fault falls back to ours, everything comes back."""

import ast
import inspect
import re
from collections import Counter
from itertools import cycle

import numpy as np
import pytest

from course_lib import Tensor, clock, devices, paths, recipes
from course_lib.coach import answering, answers, catalogue, milestone, state, swapping, verify
from course_lib.coach.verdict import Verdict
from course_lib.model import GPTConfig

from .conftest import piece

TARGETS = [name for name in catalogue.names() if catalogue.load(name).target]


@pytest.fixture(autouse=True)
def back(monkeypatch):
    """Answers here are taken at their word; that they are judged again is the matter of test_rechecking.py."""
    monkeypatch.setattr(answering, "recheck", lambda *_: "")
    yield
    swapping.remove()


def passed(name: str, text: str = "") -> None:
    state.save(name, text or piece(name).solution, Verdict(name, "", "python", True))


def use_everything() -> None:
    """Training steps, a tokenizer, samples, a gradcheck: whatever a target is, something here calls it."""
    from course_lib import bpe, functional, generation, gradcheck, nn, optim, progress, training
    from course_lib.parallel.ring import Ring
    from course_lib.parallel.virtual import virtual
    from course_lib.serving import speculative
    from course_lib.serving.drafts import NGrams
    from course_lib.serving.engine import Engine, Request
    from course_lib.tokenizer import Tokenizer
    from course_lib.tuning import lora, reward

    text = "the cat sat on the mat and the dog ran under the tree " * 20
    tokenizer = Tokenizer.train(text, 270)
    assert tokenizer.decode(tokenizer.encode(text, allow_special=True)) == text
    bpe.learn_merges({b"aab": 2}, 1)  # what trains a tokenizer where there is no compiler
    for recipe in ("reference", "best"):  # they share no schedule
        trained = training.train(
            "micro", device="cpu", steps=3, accumulate=2, stories=300, recipe=recipe, display=progress.Quiet()
        )
    for more in ({"temperature": 0.7, "top_k": 5}, {"top_p": 0.5}, {"use_cache": False}):
        "".join(generation.generate(trained.model, trained.tokenizer, "Once", 4, **more))
    engine = Engine(trained.model, trained.tokenizer)
    engine.submit(Request([], 4, generation.Choice(), [0, 1]))
    while engine.busy:
        engine.step()
    grams = NGrams([[5, 6, 7, 8]], trained.tokenizer.vocab_size, order=2)
    list(speculative.speculate(trained.model, trained.tokenizer, grams, [5], 4, generation.Choice()))
    gradcheck(lambda a, b: ((a + b) * b).max(axis=0).sum(), [np.ones((2, 1)), np.arange(6.0).reshape(2, 3)])
    layer = nn.Linear(4, 3)
    out = layer(Tensor(np.arange(24.0, dtype=np.float32).reshape(3, 2, 4).transpose(1, 0, 2)[:, ::-1].copy()))
    functional.softmax(out).T.reshape(-1)[1:].sum().backward()
    optim.AdamW(list(layer.named_parameters())).step(1e-3)
    virtual(2, lambda communicator: Ring(communicator).all_reduce(np.ones(3)))
    changed = lora.add(trained.model, rank=2)
    changed(np.zeros((1, 3), np.int32))
    lora.merged_state(changed)
    reward.fault_credit([None, 1], [2, 3], 3)


@pytest.mark.slow
def test_every_target_is_replaced_and_called():
    wanted = [name for name in TARGETS if not catalogue.load(name).is_kernel]
    for name in wanted:
        passed(name)
    swaps = swapping.use(steps=0)
    assert {swap.exercise.name for swap in swaps.swapped} == set(wanted) and swaps.yours == len(wanted)
    use_everything()
    assert {swap.exercise.name: swap.why for swap in swaps.swapped if swap.why} == {}
    assert [swap.exercise.name for swap in swaps.swapped if not swap.calls] == [], "in their places and never called"


def test_no_module_keeps_a_function_that_an_answer_replaces():
    """`from x import f` would keep ours: the answer is put into x."""
    replaced = {}
    for name in TARGETS:
        kind, _, path = catalogue.load(name).target.rpartition(":")
        if not kind:
            holder, attribute = answers.resolve(path)
            if inspect.ismodule(holder):
                replaced[holder.__name__, attribute] = name
    kept = []
    for file in sorted(paths.LIBRARY.rglob("*.py")):
        if "coach" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and not node.level:
                kept += [(file.name, a.name) for a in node.names if (node.module, a.name) in replaced]
    assert len(replaced) > 20 and kept == []


SERVED = {
    "cpu": "release page_for_next next_in_line share_budget paged_attention_forward",
    "simulator": "paged_append paged_gather linear_int8_kernel",
}


@pytest.mark.parametrize("device", ["cpu", pytest.param("simulator", marks=pytest.mark.slow)])
def test_a_server_stands_on_your_answers_and_writes_the_same(device):
    """Answers that are not our code: pages, queue and attention on the cpu, kernels on the simulator, under a model of 8 bits."""
    from course_lib.generation import Choice
    from course_lib.model import GPT
    from course_lib.serving import quantised
    from course_lib.serving.engine import Engine, Request
    from course_lib.tokenizer import Tokenizer

    if device not in devices.available_devices():
        pytest.skip("there is no C++ compiler, so no kernel can be launched")
    config = GPTConfig(layers=1, heads=2, channels=32, context=24, vocab_size=270)
    held = quantised.weights({name: 9 * values for name, values in GPT(config).state().items()}, "int8")

    def written() -> list[list[int]]:
        engine = Engine(quantised.QuantisedGPT(config, held, device), Tokenizer.train("the cat sat on the mat", 265), 2)
        requests = [Request([5, 6, 7], 6, Choice(1.0), [0, 1]), Request([8], 3, Choice(0.0), [0])]
        for request in requests:
            engine.submit(request)
        while engine.busy:
            engine.step()
        return [text for request in requests for text in request.written]

    ours = written()
    for name in SERVED[device].split():
        passed(name, verify.answer_text(verify.variants(name)[0], piece(name).solution))
    swaps = swapping.use(steps=0, device=device)
    assert written() == ours and len({tuple(text) for text in ours}) == 3
    assert all(swap.calls and not swap.why for swap in swaps.swapped) and len(swaps.swapped) == len(
        SERVED[device].split()
    )


def test_everything_comes_back():
    holder, attribute = answers.resolve("course_lib.tensor.shapes.repeated_axes")
    ours = getattr(holder, attribute)
    passed("repeated_axes")
    swaps = swapping.use(steps=0)
    assert getattr(holder, attribute) is not ours
    swaps.remove()
    assert getattr(holder, attribute) is ours


def test_an_answer_that_raises_gives_way_to_ours_and_it_is_said():
    passed("repeated_axes", "def repeated_axes(shape, to):\n    raise RuntimeError('tired')")
    swaps = swapping.use(steps=0)
    x = Tensor([1.0, 2.0], requires_grad=True)
    (x + Tensor(np.zeros((3, 2), np.float32))).sum().backward()
    assert x.grad.numpy().tolist() == [3.0, 3.0]
    assert swaps.yours == 0 and "yours raised RuntimeError: tired" in str(swaps)


LINEAR = """class Linear(Module):
    def __init__(self, inputs, outputs, bias=True, std=0.02, rng=None, device="cpu", dtype="float32"):
        if inputs > LARGEST:
            raise MemoryError("too many")
        rng = rng or np.random.default_rng()
        self.weight = parameter(rng.normal(0.0, std, (outputs, inputs)), device, dtype)
        if bias:  # else there is no such attribute, where ours has None
            self.bias = parameter(np.zeros(outputs), device, dtype)

    def forward(self, x):
        if x.shape[-2] > 10:
            raise ValueError("too long")
        return functional.linear(x, self.weight, getattr(self, "bias", None))
"""


def loss_of_20_tokens(bias: bool = True) -> float:
    from course_lib.model import GPT

    config = GPTConfig(layers=1, heads=2, channels=32, context=24, vocab_size=270, bias=bias)
    idx = np.arange(20, dtype=np.int32)[None]
    return GPT(config, seed=0).loss(idx, idx).item()


@pytest.mark.parametrize(("largest", "why"), [(999, "ValueError: too long"), (50, "MemoryError: too many")])
def test_a_class_that_raises_gives_way_to_our_methods_and_its_objects_go_on(largest, why):
    ours = loss_of_20_tokens()
    passed("linear_layer", LINEAR.replace("LARGEST", str(largest)))
    swaps = swapping.use(steps=0)
    assert loss_of_20_tokens() == ours
    assert swaps.yours == 0 and swaps.swapped[0].why == f"yours raised {why}"
    assert loss_of_20_tokens() == ours


def test_a_class_whose_objects_ours_cannot_take_over_ends_with_a_sentence():
    passed("linear_layer", LINEAR.replace("LARGEST", "999"))
    swapping.use(steps=0)
    with pytest.raises(RuntimeError, match=r"linear_layer: yours raised ValueError\('too long'\), .* no 'bias'"):
        loss_of_20_tokens(bias=False)


def test_a_mistake_of_the_caller_is_not_held_against_the_answer():
    passed("repeated_axes", "def repeated_axes(shape, to):\n    return shape + None")
    swaps = swapping.use(steps=0)
    holder, attribute = answers.resolve("course_lib.tensor.shapes.repeated_axes")
    with pytest.raises(TypeError):
        getattr(holder, attribute)(None, None)
    assert swaps.yours == 1


def test_only_passed_answers_are_used_and_some_may_be_left_out():
    assert swapping.use(steps=0).swapped == []
    state.save("repeated_axes", "no", Verdict("repeated_axes", "", "python", False))
    assert swapping.use(steps=0).yours == 0
    passed("repeated_axes")
    passed("topological_order")
    assert swapping.use(steps=0).yours == 2
    assert swapping.use(steps=0, without=["topological_order"]).yours == 1


@pytest.mark.slow
def test_the_table_says_whose_code_runs_and_how_long_a_run_takes():
    passed("topological_order", verify.variants("topological_order")[0])
    assert str(swapping.use(steps=0)).splitlines()[1].split()[-1] == "code"  # nothing was measured
    swaps = swapping.use(preset="micro", steps=2)
    said = str(swaps)
    assert "topological_order  autograd.topological_order  yours" in said
    assert "steps of micro will take about" in said and swaps.prediction.step_seconds > 0 < swaps.our_step_seconds
    assert "with your code and" in said
    assert swaps.swapped[0].calls_per_step == 1 and "<strong>1 of" in swaps._repr_html_()


def test_a_run_is_predicted_from_a_mean_step_and_code_is_compared_by_the_shortest(monkeypatch):
    """Two turns of one step each, 1 and 3 seconds long, each after one of 9 that warms up: the clock is turned by hand."""
    now, seconds = [0.0], cycle([9.0, 1.0, 9.0, 3.0])
    for module in (clock, swapping.time):
        monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    run = clock.rehearsal(recipes.settings("micro"), "cpu")
    monkeypatch.setattr(run, "step", lambda: now.append(now.pop() + next(seconds)))
    monkeypatch.setattr(clock, "rehearsal", lambda *_: run)
    swaps = swapping.use(preset="micro", steps=2)
    assert swaps.prediction == clock.predicted(run, 2.0)
    assert f"A training step of micro takes 1000 ms. {swaps.prediction}." in str(swaps)


@pytest.mark.slow
def test_what_no_step_calls_is_not_compared():
    passed("sample_tokens")
    swaps = swapping.use(preset="micro", steps=1)
    (row,) = swaps.rows()
    assert row[3:6] == ("0", "", "")
    assert "ms; it calls none of your operations on cpu." in str(swaps) and "with ours" not in str(swaps)


def test_time_inside_of_answers_counts_once_however_they_call_each_other(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(swapping.time, "perf_counter", lambda: now[0])
    watch = swapping.Stopwatch()
    inner, outer = (swapping.Swap(catalogue.load("repeated_axes"), watch) for _ in range(2))

    def work():
        now[0] += 1.0

    watched = swapping._watched(inner, lambda: work(), work)
    around = swapping._watched(outer, lambda: (work(), watched(), watched()), work)
    around()
    watched()
    assert (inner.calls, inner.seconds, outer.calls, outer.seconds) == (3, 3.0, 1, 3.0)
    assert watch.seconds == 4.0


def test_a_corpus_is_prepared_apart_by_the_learners_tokenizer(tmp_path, monkeypatch):
    """An answer may encode in another way: its corpus is its own, and ours stays as it was."""
    from course_lib import data

    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "words.txt").write_text("the cat sat on the mat and the dog ran under the tree " * 60)

    def prepare():
        return data.prepare(text=tmp_path / "words.txt", vocab_size=290, context=16)

    ours = prepare()
    passed("apply_merges", "def apply_merges(piece, ranks):\n    return list(piece)")  # the bytes, never merged
    swaps = swapping.use(steps=0)
    theirs = prepare()
    assert swaps.swapped[0].calls > 0 and len(theirs.train.tokens) > len(ours.train.tokens)
    assert "The text was tokenized by code of yours: apply_merges." in theirs.describe()
    passed("apply_merges", piece("apply_merges").solution)
    swapping.use(steps=0)
    assert prepare().train.tokens.tolist() == ours.train.tokens.tolist()
    swapping.remove()
    assert prepare().train.tokens.tolist() == ours.train.tokens.tolist() and "yours" not in prepare().describe()
    assert len([path for path in (tmp_path / "cache/data").iterdir() if path.is_dir()]) == 3


@pytest.mark.slow
def test_stories_for_several_processes_are_encoded_by_the_answer_too(tmp_path, monkeypatch):
    from course_lib import data
    from course_lib.data import story_tokens

    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(story_tokens, "EACH", 40)
    passed("apply_merges", "def apply_merges(piece, ranks):\n    return list(piece)")
    swapping.use(steps=0)
    corpus = data.prepare("stories", vocab_size=512, context=64, stories=90)
    assert corpus.train.tokens.max() <= corpus.tokenizer.end_id and set(corpus.train.tokens.tolist()) <= {
        *range(256),
        corpus.tokenizer.end_id,
    }


@pytest.mark.slow
def test_without_answers_one_time_is_told():
    swaps = swapping.use(preset="micro", steps=1)
    assert str(swaps).startswith(f"0 of {swaps.targets} operations are yours.\nA training step of micro takes ")
    steps = recipes.settings("micro").steps
    assert "with ours" not in str(swaps) and f"{steps:,} steps of micro will take about" in str(swaps)


@pytest.mark.slow
def test_a_slow_answer_is_used_unless_the_learner_says_otherwise():
    slow = "import time\n" + piece("topological_order").solution.replace(
        "order: list[Node] = []", "time.sleep(0.2)\n    order = []"
    )
    assert "sleep" in slow
    passed("topological_order", slow)
    swaps = swapping.use(preset="micro", steps=1)
    said = re.search(r"topological_order is slow: ([\d,.]+) ms per step against", str(swaps))
    assert swaps.yours == 1 and said and float(said[1].replace(",", "")) >= 200
    swaps = swapping.use(preset="micro", steps=1, slow=False)
    assert swaps.yours == 0 and "times as long" in str(swaps)


def test_an_op_is_replaced_on_the_cpu_and_nowhere_else(monkeypatch):
    import dataclasses

    exercise = dataclasses.replace(catalogue.load("repeated_axes"), target="op:gelu_forward", defines="gelu")
    one = swapping.Swap(exercise)
    undo = swapping.install(one, lambda x: x * 0)
    try:
        x = np.ones(3, np.float32)
        assert not devices.ops("cpu").gelu_forward(x).any() and one.calls == 1
        assert devices.ops("reference").gelu_forward(x).all()
    finally:
        undo()
    assert devices.ops("cpu").gelu_forward(np.ones(3, np.float32)).all()


@pytest.fixture(params=["gelu"])
def gelu(monkeypatch, request):
    """An exercise whose answer takes the place of a kernel of the library: a template, with includes."""
    import dataclasses

    if "simulator" not in devices.available_devices():
        pytest.skip("there is no C++ compiler, so no kernel can be launched")
    named = dict(catalogue.files())
    fields = {"target": f"kernel:{request.param}.cu", "defines": f"{request.param}_forward", "language": "cuda"}
    made = dataclasses.replace(catalogue.load("scale"), name="gelu", **fields)
    load = catalogue.load
    monkeypatch.setattr(catalogue, "files", lambda: {**named, "gelu": named["scale"]})
    monkeypatch.setattr(catalogue, "load", lambda name: made if name == "gelu" else load(name))


def two_launches() -> list[float]:
    """GELU of arrays that take both instances: 4 neighbours at once, and one."""
    ops = devices.ops("simulator")
    x = ops.from_numpy(np.arange(8, dtype=np.float32))
    return [*ops.to_numpy(ops.gelu_forward(x)), *ops.to_numpy(ops.gelu_forward(ops.view(x, (7,), 1)))]


def test_a_kernel_is_launched_in_the_place_of_ours(gelu):
    """All answers in use; the text is that of kernels/gelu.cu, which is a template and includes our headers."""
    from course_lib.cuda.source import KERNELS

    ours = two_launches()
    passed("gelu", (KERNELS / "gelu.cu").read_text().replace("gelu(p.item[j])", "-gelu(p.item[j])"))
    passed("topological_order")
    swaps = swapping.use(steps=0)
    yours = two_launches()
    assert yours == [-y for y in ours]
    assert [swap.calls for swap in swaps.swapped if swap.exercise.name == "gelu"] == [2]
    assert swaps.yours == 2 and "gelu_forward in gelu.cu" in str(swaps)
    swaps.remove()
    assert two_launches() == ours


@pytest.mark.slow
@pytest.mark.parametrize("gelu", ["bias_gelu"], indirect=True)  # the form that the model calls
def test_a_training_step_on_the_simulator_launches_the_learners_kernel(gelu):
    from course_lib.cuda.source import KERNELS

    passed("gelu", (KERNELS / "bias_gelu.cu").read_text() + "// mine")
    swaps = swapping.use(preset="micro", steps=1, device="simulator")
    layers = GPTConfig.preset("micro").layers
    assert [swap.calls_per_step for swap in swaps.swapped] == [layers] and swaps.yours == 1
    assert swaps.swapped[0].compared, "a launch on the simulator is timed, yours and ours"


def launch_everything() -> None:
    """One training step of each kind of model on the simulator, and what only other uses of the library launch."""
    import functools

    from course_lib import data, functional, optim, recipes
    from course_lib.devices.gpu import products
    from course_lib.model import GPT
    from course_lib.run import Run

    small = {"layers": 1, "heads": 2, "channels": 32, "context": 24, "vocab_size": 270, "dropout": 0.1}
    modern = {"heads": 4, "kv_heads": 2, "hidden": 40, "norm": "rmsnorm", "activation": "swiglu", "bias": False}
    corpus = data.prepare("stories", None, small["vocab_size"], small["context"], 0, 300, progress=False)
    for model in (small, small | modern | {"positions": "rope"}, small | {"positions": "learned"}):
        settings = recipes.settings("micro", "simulator", model=model)
        run = Run(settings, corpus, GPT(GPTConfig.preset("micro", **model), device="simulator", seed=0))
        run.step()
    run.validation = run.validation.head(1)
    run.validate()
    make = functools.partial(Tensor, device="simulator", requires_grad=True)
    x = make(np.arange(24, dtype=np.float32).reshape(4, 6))
    for function in (functional.softmax, functional.gelu, lambda x: x.max(axis=-1), lambda x: x.T.reshape(-1)[1:]):
        function(x).sum().backward()
    wide = make(np.zeros((1, 17000), np.float32))
    functional.softmax(wide).sum().backward()  # a row that does not fit into registers
    long = make(np.zeros((2, 8192), np.float32))
    (long @ long.T).sum().backward()  # a product whose terms are shared by several blocks
    ops, weight = devices.ops("simulator"), make(np.zeros((5, 6), np.float32)).array()
    ops.argmax(x.array(), 0)
    products.linear_residual(x.array(), weight, None, ops.zeros((4, 5), "float32"))
    products.linear_row_scale(x.array(), weight, ops.zeros((4,), "float32"))
    optim.AdamW([("x", x)]).step(1e-3)
    x, row, rows = x.array(), weight[0], np.arange(300, dtype=np.int64) % 4
    ops.where(ops.less(x, row), ops.exp(x), ops.cast(ops.cast(x, "int32"), "float32"))
    ops.copy(x)
    ops.scatter_add(
        ops.gather(x, ops.from_numpy(rows)), ops.from_numpy(rows), 4
    )  # more places than each row looks through
    ops.strided_write(ops.full((6, 4), 1.0), x, (1, 4))  # a view that no rows are found in
    launch_of_serving_and_recurrences(ops)


def launch_of_serving_and_recurrences(ops) -> None:
    """Weights in 8 and 4 bits, a cache in pages, and a linear recurrence there and back."""
    ones, whole = (lambda *shape: ops.full(shape, 1.0)), (lambda *shape: ops.zeros(shape, "int32"))
    ops.linear_int8_forward(ones(1, 32), ops.zeros((5, 8), "uint32"), ones(5), None)
    ops.linear_int4_forward(ones(1, 32), ops.zeros((5, 4), "uint32"), ones(5, 1), None, None)
    pages = ones(3, 4, 2, 8), ones(3, 4, 2, 8)  # (P, N, G, D) each
    ops.paged_append(ones(1, 2, 8), ones(1, 2, 8), *pages, whole(1))
    ops.paged_gather(pages[0], whole(1), 3)
    words = ops.zeros((3, 4, 2, 3), "uint32"), ops.zeros((3, 4, 2, 3), "uint32")  # (P, N, G, W) each
    ops.paged_append_int8(ones(1, 2, 8), ones(1, 2, 8), *words, whole(1))
    ops.paged_attention_int8_forward(ones(1, 2, 8), *words, whole(1, 1), whole(1))
    given = (
        *(ones(1, 2, 5, 8) for _ in range(4)),
        ones(1, 2, 5),
        None,
    )  # q, k, v, g (B, H, T, D), beta (B, H, T), no state
    y, last, kept = ops.gated_delta_forward(*given)
    ops.gated_delta_backward(y, last, *given, kept)


@pytest.mark.slow
def test_every_kernel_that_an_exercise_replaces_is_launched():
    """All of them at once: none is put where nobody launches it, and none fails where ours does not."""
    if "simulator" not in devices.available_devices():
        pytest.skip("there is no C++ compiler, so no kernel can be launched")
    wanted = [name for name in TARGETS if catalogue.load(name).target.startswith("kernel:")]
    for name in wanted:
        passed(name)
    parts = [name for name in wanted if name.startswith(("bias_gelu", "cross_entropy"))]
    calls, faults = Counter(), {}
    for without in ([], parts):  # a fused kernel is launched where none of its parts is the learner's
        swaps = swapping.use(steps=0, without=without)
        launch_everything()
        calls.update({swap.exercise.name: swap.calls for swap in swaps.swapped})
        faults |= {swap.exercise.name: swap.why for swap in swaps.swapped if swap.why}
    assert faults == {}
    assert [name for name in wanted if not calls[name]] == []


def test_a_kernel_that_cannot_be_launched_gives_way_to_ours(gelu):
    ours = two_launches()
    passed("gelu", "__global__ void gelu_forward(const float* x, float* y, int n) { y[0] = 1; }")
    swaps = swapping.use(steps=0)
    assert two_launches() == ours
    assert swaps.yours == 0 and "yours failed with" in str(swaps)


def test_a_milestone_on_a_device_that_is_not_there_is_a_sentence(monkeypatch, capsys):
    import course_lib
    from course_lib import course

    monkeypatch.setattr(course_lib, "available_devices", lambda: ["cpu", "reference"])
    course.milestone(device="simulator")
    assert "This machine has no device 'simulator'; it has cpu, reference." in capsys.readouterr().out


@pytest.mark.slow
def test_a_milestone_is_a_real_run_with_the_learners_pieces(capsys):
    passed("topological_order")
    said = milestone.reach(steps=30)
    assert said.startswith("30 steps of micro") and "A bigram model has" in said
    told = capsys.readouterr().out + said
    assert len(re.findall(r"1 of \d+ operations was yours; it was called 30 times", told)) == 1
    holder, attribute = answers.resolve("course_lib.autograd.topological_order")
    assert "watched" not in getattr(holder, attribute).__code__.co_name


def test_an_ops_result_may_lie_transposed_in_memory():
    """The numbers are right, and AdamW's loops in C++ take only arrays that lie row after row."""
    text = piece("linear_backward").solution
    lines = text.rstrip().split("\n")
    assert lines[-1].startswith("    return ")
    results = lines[-1].removeprefix("    return ")
    text = "\n".join([*lines[:-1], f"    return tuple(np.asfortranarray(one) for one in ({results}))"]) + "\n"
    passed("linear_backward", text)
    swaps = swapping.use(steps=0)
    use_everything()
    (one,) = swaps.swapped
    assert one.calls > 0 and one.why == ""
