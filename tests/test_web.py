"""A run as a web page: what is written, what is refused, how it is served, and its JavaScript beside Python."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from web_page import CLEAR, CONFIGS, PROMPTS, greedy, save, tokenizer

from course_lib import checkpoint, sampling, whose
from course_lib.checkpoint import CheckpointError
from course_lib.cuda.source import KERNELS
from course_lib.model import GPTConfig
from course_lib.paths import ROOT
from course_lib.run import load
from course_lib.tensor import no_grad
from course_lib.tokenizer import Tokenizer
from course_lib.tuning import chat
from course_lib.web import export as exporting
from course_lib.web import serve as serving
from course_lib.web.export import PAGE, ExportError, export


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return save(tmp_path_factory.mktemp("runs") / "modern", GPTConfig(**CONFIGS["modern"]), tokenizer())


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    return export(run, tmp_path_factory.mktemp("pages") / "modern")


# What is written


def test_the_page_holds_the_weights_and_the_kernels(run, page):
    weights = load(run)[0].state()
    written = load_file(page / "weights.safetensors")
    assert written.keys() == weights.keys()
    assert all(np.array_equal(written[name], weights[name]) for name in weights)
    kernels = sorted((page / "kernels").rglob("*.wgsl"))
    assert len(kernels) > 12
    for path in kernels:
        assert path.read_bytes() == (KERNELS / path.relative_to(page / "kernels")).read_bytes()
        for name in re.findall(r'// include "(.+)"', path.read_text()):
            assert (page / "kernels/include" / name).exists()
    described = json.loads((page / "model.json").read_text())
    assert described["config"] == GPTConfig(**CONFIGS["modern"]).to_dict()
    assert described["facts"]["parameters"] == sum(values.size for values in weights.values())


def test_a_web_server_may_read_every_file(page):
    modes = {path.name: path.stat().st_mode & 0o777 for path in page.rglob("*") if path.is_file()}
    assert modes["weights.safetensors"] == modes["index.html"] == modes["style.css"], modes


def test_the_page_keeps_private_paths_to_itself(page):
    facts = json.loads((page / "model.json").read_text())["facts"]
    assert facts["source"] == "letters.txt"
    assert not any(b"/home/me" in path.read_bytes() for path in page.rglob("*") if path.is_file())


def test_the_page_says_whose_code_trained_and_which_kernels_are_the_learners(run, tmp_path):
    assert json.loads((export(run, tmp_path / "ours") / "model.json").read_text())["facts"]["whose"] == ""
    saved = checkpoint.load(run / "last.safetensors")
    answers = {"attend": {"calls": 1200, "seconds": 2.0}, "merge": {"calls": 4, "seconds": 0.0}}
    record = whose.NOTHING | {"operations": 75, "steps": 7, "seconds": 8.0, "yours": 2.0, "answers": answers}
    (tmp_path / "run").mkdir()
    checkpoint.save(tmp_path / "run/last.safetensors", saved.weights, {}, saved.facts | {"whose": record})

    texts = {"gemm": '// include "philox.wgsl"\n// mine', "strided_copy": "// mine", "bias_gelu": "// mine"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    kernels = {("gemm.wgsl", "gemm"): tmp_path / "gemm", ("strided_copy.wgsl", "strided_copy"): tmp_path / "strided_copy",
               ("bias_gelu.wgsl", "bias_gelu_backward"): tmp_path / "bias_gelu"}  # fmt: skip
    page = export(tmp_path / "run", tmp_path / "page", kernels=kernels)
    assert json.loads((page / "model.json").read_text())["facts"]["whose"] == (
        "2 of 75 operations were yours; they were called 1,204 times, 25 % of the time. "
        "On a GPU the page runs kernels of yours: gemm."
    )
    assert (page / "kernels/gemm.wgsl").read_text() == texts["gemm"]
    assert (page / "kernels/include/philox.wgsl").exists(), "what the learner's text includes comes along"
    for name in ("strided_copy.wgsl", "bias_gelu.wgsl"):  # of these the page launches another function, or not this one
        assert (page / "kernels" / name).read_bytes() == (KERNELS / name).read_bytes()


def test_float16_halves_the_weights(run, page, tmp_path):
    half = export(run, tmp_path / "half", dtype="float16")
    weights = load(run)[0].state()
    for name, values in load_file(half / "weights.safetensors").items():
        assert values.dtype == np.float16 and np.array_equal(values, weights[name].astype(np.float16))
    sizes = [(folder / "weights.safetensors").stat().st_size for folder in (half, page)]
    assert sizes[0] < 0.6 * sizes[1]


def test_a_page_is_written_over_and_what_else_lies_there_stays(run, tmp_path):
    out = export(run, tmp_path / "page", dtype="float16")
    (out / "CNAME").write_text("mine")
    (out / "page.js").write_text("old")
    export(run, out)
    assert (out / "CNAME").read_text() == "mine" and (out / "page.js").read_text() != "old"
    assert json.loads((out / "model.json").read_text())["dtype"] == "float32"
    assert os.listdir(tmp_path) == ["page"]


# What is refused


def test_a_folder_with_something_else_is_left_alone(run, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters/a.txt").write_text("dear")
    with pytest.raises(ExportError, match=r"letters already holds something.*new folder"):
        export(run, tmp_path / "letters")
    with pytest.raises(ExportError, match=r"a\.txt is a file"):
        export(run, tmp_path / "letters/a.txt")
    assert [path.name for path in (tmp_path / "letters").iterdir()] == ["a.txt"]


def test_what_does_not_exist_is_named(run, tmp_path):
    with pytest.raises(CheckpointError, match=r"There is no run in .*nowhere"):
        export(tmp_path / "nowhere", tmp_path / "page")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointError, match="There is no checkpoint"):
        export(tmp_path / "empty", tmp_path / "page")
    with pytest.raises(ValueError, match=r"exported to 'web'.*not to 'phone'"):
        export(run, tmp_path / "page", to="phone")
    with pytest.raises(ValueError, match="dtype is 'float8', but must be one of float32, float16"):
        export(run, tmp_path / "page", dtype="float8")
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


@pytest.mark.parametrize("where", ["save_file", "_move"])
def test_a_full_disk_leaves_nothing_behind(run, tmp_path, monkeypatch, where):
    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(exporting, where, full)
    with pytest.raises(ExportError, match=r"could not be written: No space left on device\. It takes 0\.1 MB"):
        export(run, tmp_path / "page")
    assert not list(tmp_path.iterdir())


def test_weights_that_float16_cannot_hold(tmp_path):
    large = save(tmp_path / "run", GPTConfig(**CONFIGS["rope"]), tokenizer(), lively=1e7)
    with pytest.raises(ExportError, match=r"tokens\.weight reach [\d,]+, more than float16 holds.*--dtype float32"):
        export(large, tmp_path / "page", dtype="float16")


# How it is served


def test_serve_answers_this_machine_and_stops_at_ctrl_c(page):
    """Types that browsers run, nothing kept, and no traceback at the end."""
    line = [sys.executable, "-m", "course_lib.cli", "serve", str(page), "--no-browser"]
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())[0]
            expected = {"": "text/html", "page.js": "text/javascript", "style.css": "text/css", "model.json": "application/json",
                        "kernels/gemm.wgsl": "text/plain", "weights.safetensors": "application/octet-stream",
                        "icon.svg": "image/svg+xml"}  # fmt: skip
            for name, kind in expected.items():
                with urllib.request.urlopen(address + name, timeout=20) as answer:
                    assert answer.headers.get_content_type() == kind and answer.headers["Cache-Control"] == "no-store"
                    assert answer.read() == (page / (name or "index.html")).read_bytes()
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.communicate(timeout=20)[0]
    assert process.returncode == 0 and rest.endswith("Stopped.\n") and "Traceback" not in rest


def test_serve_listens_on_loopback_alone(page):
    with serving.server(page) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_serve_refuses_a_folder_without_a_page(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ExportError, match=r"holds no page of this course.*course export --run DIR --to web"):
            serving.serve(folder)


# Its JavaScript


@pytest.fixture(scope="module")
def node(page, tmp_path_factory):
    """Runs a script beside a page's modules; what it prints last is read as JSON. It finds `input` given."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("there is no node on PATH to run the page's JavaScript with")

    def evaluate(script: str, given: object = None, folder: Path = page):
        here = tmp_path_factory.mktemp("node")
        shutil.copytree(folder, here, dirs_exist_ok=True)
        (here / "package.json").write_text('{"type": "module"}')
        (here / "input.json").write_text(json.dumps(given))
        (here / "run.js").write_text(
            "import fs from 'node:fs'; const input = JSON.parse(fs.readFileSync('input.json', 'utf8'));\n" + script
        )
        done = subprocess.run([program, "run.js"], cwd=here, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return evaluate


@pytest.fixture(scope="module")
def typescript():
    if shutil.which("tsc") is None:
        pytest.skip("there is no TypeScript compiler (tsc) on PATH")

    def check(folder: Path) -> str:
        return subprocess.run(["tsc", "-p", folder], capture_output=True, text=True, timeout=300).stdout

    return check


@pytest.mark.slow
def test_types_hold(typescript):
    assert typescript(PAGE.parent) == ""


@pytest.mark.slow
def test_a_wrong_type_is_found(typescript, tmp_path):
    shutil.copytree(PAGE.parent, tmp_path / "web")
    path = tmp_path / "web/page/generate.js"
    text = path.read_text()
    assert "model.forget()" in text
    path.write_text(text.replace("model.forget()", "model.forgets()"))
    assert "Property 'forgets' does not exist on type 'Model'" in typescript(tmp_path / "web")


TEXTS = [
    "", " ", "  ", "Once upon a time", "it's  they'll WE'RE 'tis", "a\n\n b\t\tc \r\n", "\u00a0\u2003\u3000x\ufeffy\u0085z",
    "süß Ünïcödé", "e\u0301 n\u0303", "🙂👩‍👩‍👧‍👦🇪🇺", "一二三 日本語 テスト", "½ ² ١٢٣ Ⅷ", "<|endoftext|>", "1234 5,678.90",
    "\x00\x1c\x7f", "ﬀ Ǆ ẞ", "the cat sat on the mat; the dog – süß 🙂 – ran.", "the" * 300,
]  # fmt: skip


def varied_tokenizer(words: list[str]) -> Tokenizer:
    """Learned from these words, with further merges that spell what another has spelled."""
    learned = Tokenizer.train(" ".join(words), 600)
    symbols = {learned.token_bytes(id): id for id in range(learned.end_id)}
    pairs = [(symbols[text[:at]], symbols[text[at:]]) for text in symbols for at in range(1, len(text))
             if text[:at] in symbols and text[at:] in symbols]  # fmt: skip
    again = [pair for pair in pairs if pair not in learned.merges]
    assert len(again) > 50
    return Tokenizer([*learned.merges, *again])


def test_the_tokenizer_is_the_same(node, page, tmp_path):
    """Words of few letters in many orders, and signs that are white space to one of Python and JavaScript alone."""
    draw = random.Random(0)
    words = [
        "".join(draw.choices(pool, k=draw.randrange(1, 9))) for pool in ("ab", "\ufeff!\u0085") for _ in range(400)
    ]
    own = varied_tokenizer([*words, *TEXTS])
    signs = "the cats'llre don    \n\t\u00a0\u0085\ufeff.,!?–’\"0123½٣éüßñÅøλЖяאبहिन्दी日本🙂🇪‍\u0301"
    pools = signs, "ab ", "\ufeff!\u0085 a"
    texts = [*TEXTS, " ".join(words)]
    texts += ["".join(draw.choices(pool, k=draw.randrange(1, 40))) for pool in pools for _ in range(700)]
    shutil.copytree(page, tmp_path / "page")
    own.save(tmp_path / "page/tokenizer.json")
    said = node(
        """import {Tokenizer} from './tokenizer.js';
        const tokenizer = new Tokenizer(fs.readFileSync('tokenizer.json', 'utf8'));
        const encoded = input.map((text) => tokenizer.encode(text));
        const bytes = Array.from({length: tokenizer.size}, (_, id) => [...tokenizer.bytes(id)]);
        console.log(JSON.stringify({encoded, bytes, endId: tokenizer.endId}));""",
        texts,
        tmp_path / "page",
    )
    for text, ids in zip(texts, said["encoded"], strict=True):
        assert ids == own.encode(text), repr(text)
    assert [bytes(spelling) for spelling in said["bytes"]] == [own.token_bytes(id) for id in range(own.vocab_size)]
    assert said["endId"] == own.end_id


READ = """import {CpuModel} from './cpu.js';
    import {readSafetensors} from './safetensors.js';
    const {config} = JSON.parse(fs.readFileSync('model.json', 'utf8'));
    const file = fs.readFileSync('weights.safetensors');
    const buffer = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
    const model = new CpuModel(config, readSafetensors(buffer, 'weights.safetensors'));\n"""


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("config", CONFIGS)
def test_plain_javascript_computes_the_same_logits(node, tmp_path, config, dtype):
    """Token by token and many at once, after each other, and again from the start."""
    saved = save(tmp_path / "run", GPTConfig(**CONFIGS[config]), tokenizer())
    page = export(saved, tmp_path / "page", dtype=dtype)
    parts = [[5, 250, 7, 0, 3], [9], [289], [1, 2, 3]]
    said = node(
        READ + "const twice = [0, 1].map(() => { model.forget(); return input.map((part) => [...model.read(part)]); });"
        "console.log(JSON.stringify(twice));",
        parts,
        page,
    )
    model = load(saved)[0]
    model.load_state({name: values.astype(dtype).astype(np.float32) for name, values in model.state().items()})
    with no_grad():
        logits = model(np.array([[id for part in parts for id in part]])).numpy()[0]  # (T, V)
    ends = np.cumsum([len(part) for part in parts]) - 1
    assert logits.std() > 1
    for once in said:
        np.testing.assert_allclose(once, logits[ends], atol=1e-5 * np.abs(logits).max())


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["micro", "small", "12m", "modern-12m"])
def test_every_preset_in_plain_javascript(node, tmp_path, preset):
    saved = save(tmp_path / "run", GPTConfig.preset(preset), tokenizer(), lively=3.0)
    page = export(saved, tmp_path / "page")
    ids = [3, 1000, 200, 77, 5]
    said = node(READ + "model.read(input.slice(0, 3)); model.read([input[3]]);"
                "console.log(JSON.stringify([...model.read([input[4]])]));", ids, page)  # fmt: skip
    with no_grad():
        logits = load(saved)[0](np.array([ids])).numpy()[0, -1]
    np.testing.assert_allclose(said, logits, atol=1e-5 * np.abs(logits).max())


@pytest.mark.parametrize("config", ["learned positions", "modern"])
def test_greedy_tokens_are_the_same_beyond_the_context(node, tmp_path, config):
    saved = save(tmp_path / "run", GPTConfig(**CONFIGS[config]), tokenizer())
    page = export(saved, tmp_path / "page")
    said = node(
        READ
        + """import {generate} from './generate.js';
        import {Tokenizer} from './tokenizer.js';
        const tokenizer = new Tokenizer(fs.readFileSync('tokenizer.json', 'utf8'));
        const aside = {config, read: async (ids) => model.read(ids), forget: () => model.forget(), close: () => {}};
        const written = [];
        for (const prompt of input) {
          const steps = [];
          for await (const step of generate(aside, tokenizer, prompt, {tokens: 60, temperature: 0, topK: null})) steps.push(step);
          written.push(steps);
        }
        console.log(JSON.stringify(written));""",
        PROMPTS,
        page,
    )
    compared = 0
    for prompt, steps in zip(PROMPTS, said, strict=True):
        ids, margin = greedy(saved, prompt, 60)
        if margin > CLEAR:
            assert [step["id"] for step in steps] == ids
            compared += len(ids)
        for step in steps:
            chances = [other["chance"] for other in step["likeliest"]]
            assert chances == sorted(chances, reverse=True) and len(chances) == 8 and sum(chances) <= 1 + 1e-9
            assert step["likeliest"][0] == {"id": step["id"], "chance": step["chance"]}
    assert compared > 60  # more than one text, and longer than the context


ASK = """import {generate} from './generate.js';
    import {Tokenizer} from './tokenizer.js';
    const tokenizer = new Tokenizer(fs.readFileSync('tokenizer.json', 'utf8'));
    const read = [];
    const model = {config: {context: 24, vocab_size: 400}, forget() {}, close() {},
                   async read(ids) { read.push(ids); return new Float32Array(400); }};
    let problem = '';
    try {
      for await (const step of generate(model, tokenizer, input, {tokens: 1, temperature: 0, topK: null}));
    } catch (error) { problem = error.message; }
    console.log(JSON.stringify({read, problem, answers: tokenizer.answers}));"""


def test_a_model_that_learned_turns_reads_what_is_asked_between_its_marks(node, page, tmp_path):
    turned = chat.with_turns(tokenizer())
    shutil.copytree(page, tmp_path / "page")
    turned.save(tmp_path / "page/tokenizer.json")
    for asked in ("the cat", "<|assistant|>", ""):
        said = node(ASK, asked, tmp_path / "page")
        assert said == {"read": [chat.prompt_ids(turned, asked)], "problem": "", "answers": True}
    long = node(ASK, "the dog ran " * 20, tmp_path / "page")
    assert long["read"] == [] and "this model reads 24 at most: ask a shorter one" in long["problem"]
    plain = node(ASK, "the cat")
    assert not plain["answers"] and plain["problem"] == "" and len(plain["read"]) == 1


def test_sampling_is_the_same(node):
    random_ = np.random.default_rng(0)
    rows = [random_.normal(0, 3, size).astype(np.float32).tolist() for size in (1, 2, 7, 50)]
    rows += [[1.0, 2.0, 2.0, 0.0, 2.0], [3.0, 3.0]]
    cases = [
        (row, t, k, u)
        for row in rows
        for t in (0, 0.3, 1, 1.7)
        for k in (None, 1, 3, 99)
        for u in (0.0, 0.31, 0.5, 0.77, 0.999999)
    ]
    said = node(
        """import {draw, softmax, topK} from './sampling.js';
        console.log(JSON.stringify(input.map(([row, temperature, k, uniform]) => {
          const chances = k === null ? softmax(row, temperature) : topK(softmax(row, temperature), k);
          return [[...chances], draw(chances, uniform)];
        })));""",
        cases,
    )
    for (row, temperature, k, uniform), (chances, token) in zip(cases, said, strict=True):
        own = sampling.softmax(np.array([row]), temperature)
        own = own if k is None else sampling.top_k_filter(own, k)
        np.testing.assert_allclose(chances, own[0], rtol=1e-9, atol=1e-300)
        assert token == sampling.draw(own, np.array([uniform]))[0]


def test_halves_become_floats(node):
    said = node("import {fromHalf} from './safetensors.js'; console.log(JSON.stringify("
                "Array.from({length: 65536}, (_, bits) => String(fromHalf(bits)))));")  # fmt: skip
    own = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
    assert np.array_equal(np.array(said, np.float64), own, equal_nan=True)


def test_checksums_are_those_of_zlib(node):
    import zlib

    data = [list(random.Random(seed).randbytes(size)) for seed, size in enumerate((0, 1, 2, 100, 5000))]
    said = node("import {crc32} from './files.js';"
                "console.log(JSON.stringify(input.map((bytes) => crc32(Uint8Array.from(bytes)))));", data)  # fmt: skip
    assert said == [zlib.crc32(bytes(one)) for one in data]


def test_a_file_of_weights_cut_anywhere_is_refused_in_a_sentence(node, tmp_path):
    path = tmp_path / "weights.safetensors"
    save_file({"a": np.ones((3, 5), np.float32), "b": np.ones(3, np.float16)}, path)
    whole = path.read_bytes()
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])

    def changed(**entries) -> bytes:
        text = json.dumps(header | entries).encode()
        return len(text).to_bytes(8, "little") + text + whole[8 + int.from_bytes(whole[:8], "little") :]

    wrong = [whole[:size] for size in range(len(whole))] + [
        whole + b"\0",
        b"\xff" * 100,
        changed(c={}),
        changed(b=None),
    ]
    wrong += [changed(a=header["a"] | part) for part in ({"dtype": "I64"}, {"shape": [3, 4]}, {"shape": [-3, -5]}, {"shape": "x"},
                                                         {"data_offsets": [4, 64]}, {"data_offsets": [0, 1e9]})]  # fmt: skip
    said = node(
        """import {readSafetensors} from './safetensors.js';
        import {Problem} from './problem.js';
        console.log(JSON.stringify(input.map((bytes) => {
          try {
            return [...readSafetensors(Uint8Array.from(bytes).buffer, 'w').keys()].join();
          } catch (error) {
            return error instanceof Problem ? 'refused' : String(error);
          }
        })));""",
        [list(one) for one in [whole, *wrong]],
    )
    assert said == ["a,b"] + ["refused"] * len(wrong)


def test_weights_of_another_shape_are_refused(node):
    said = node(
        """import {take} from './safetensors.js';
        const weights = new Map([['a', {shape: [2, 3], values: new Float32Array(6)}]]);
        const message = (...wanted) => {
          try { return take(weights, ...wanted).length; } catch (error) { return error.message; }
        };
        console.log(JSON.stringify([message('a', 2, 3), message('a', 3, 2), message('b', 1)]));"""
    )
    assert said[0] == 6
    assert "a is of the shape (2, 3), and should be of the shape (3, 2)" in said[1] and "b is not there" in said[2]


def test_constants_and_structs_are_as_in_python(node):
    """The text that is compiled and the bytes of the numbers, for every kernel that the page may launch."""
    from course_lib.devices.webgpu import source

    files = [name for name in exporting.kernel_files() if "/" not in name]
    constants = {"T": "f32", "D": 64, "CAUSAL": True}
    fields = [
        ("batch", "vec4<u32>"),
        ("n", "u32"),
        ("scale", "f32"),
        ("at", "i32"),
        ("sizes", "array<vec4<i32>, 2>"),
        ("end", "u32"),
    ]
    values = {"batch": [1, 2, 3, 4], "n": 7, "scale": 0.25, "at": -3, "sizes": [5, -6, 7], "end": 9}
    said = node(
        """import {pack, readSource} from './wgsl.js';
        globalThis.fetch = async (name) => ({ok: true, text: async () => fs.readFileSync(name, 'utf8')});
        const view = new DataView(new ArrayBuffer(80));
        pack(input.fields.map(([name, kind]) => ({name, kind})), input.values, view, 0);
        const sources = [];
        for (const file of input.files) {
          const {text, buffers, structs} = await readSource(file, input.constants);
          sources.push([text, [...buffers], structs]);
        }
        console.log(JSON.stringify([[...new Uint8Array(view.buffer)], sources]));""",
        {"files": files, "constants": constants, "fields": fields, "values": values},
    )
    assert bytes(said[0]) == source.pack(fields, values)
    for file, (text, buffers, structs) in zip(files, said[1], strict=True):
        own = source.read(file, tuple(constants.items()))
        assert text == own.text
        assert dict(buffers) == {name: binding for name, (binding, _) in own.buffers.items()}
        assert [(one["binding"], [(f["name"], f["kind"]) for f in one["fields"]]) for one in structs] == list(
            own.structs.values()
        )
