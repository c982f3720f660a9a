"""The exported page in a Chromium: the tokens of Python on both ways to compute, what it says of damage, and how it behaves."""

from __future__ import annotations

import json
import os
import shutil
import threading

import numpy as np
import pytest
from contrast import lowest_contrast
from web_page import CLEAR, CONFIGS, PROMPTS, greedy, save, tokenizer

from course_lib import progress, training
from course_lib.model import GPTConfig
from course_lib.run import load
from course_lib.serving import quantised
from course_lib.tensor import no_grad
from course_lib.tuning import chat
from course_lib.web import serve
from course_lib.web.export import export

pytestmark = pytest.mark.slow
PATIENCE = 180_000  # ms: the machine may be busy
STORIES = ("Once upon a time", "The little", "Mia was", "")


class Visit:
    """A page over a folder, and everything that it complained of or asked for elsewhere."""

    def __init__(self, chromium, folder, **settings):
        self.server = serve.server(folder)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        self.page = chromium.new_page(**settings)
        self.page.set_default_timeout(PATIENCE)
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: request.url.startswith(self.address) or self.said.append(request.url))

    def open(self, gpu: bool = False):
        """gpu: the test needs WebGPU, and is skipped without."""
        self.page.goto(self.address)
        self.settled()
        if gpu and "WebGPU: none" in self.text("device"):
            pytest.skip("this Chromium has no WebGPU adapter, not even in software")
        return self.page

    def settled(self) -> None:
        self.page.locator("#write:enabled, #problem:not(:empty)").first.wait_for()

    def compute_by(self, device: str) -> None:
        if self.page.locator("#device").input_value() != device:
            self.page.select_option("#device", device)
            self.settled()

    def write(self, prompt: str, tokens: int, temperature: float = 0) -> list[int]:
        self.page.fill("#prompt", prompt)
        self.page.fill("#tokens", str(tokens))
        self.page.locator("#temperature").fill(str(temperature))
        self.page.click("#write")
        self.settled()
        return [int(one.get_attribute("data-id")) for one in self.page.locator("#text [data-id]").all()]

    def text(self, id: str) -> str:
        return self.page.locator(f"#{id}").inner_text()

    def close(self) -> None:
        self.page.close()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def visit(chromium):
    visits = []

    def begin(folder, **settings) -> Visit:
        visits.append(Visit(chromium, folder, **settings))
        return visits[-1]

    yield begin
    for one in visits:
        one.close()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a micro run that has learned a little."""
    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_CACHE", str(folder / "cache"))
        training.train(
            "micro", out=folder / "run", device="cpu", steps=50, stories=1500, seed=0, display=progress.Quiet()
        )
    return folder / "run"


@pytest.fixture(scope="module")
def page(trained, tmp_path_factory):
    return export(trained, tmp_path_factory.mktemp("pages") / "micro")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A page whose model writes nonsense at once."""
    saved = save(tmp_path_factory.mktemp("tiny") / "run", GPTConfig(**CONFIGS["learned positions"]), tokenizer())
    return export(saved, saved.parent / "page")


def compare(visit: Visit, run, prompts, tokens: int, rounded: str = "float32") -> int:
    """Write from each prompt on both ways and compare with Python where its choices are clear; returns how many prompts were."""
    expected = {prompt: greedy(run, prompt, tokens, rounded) for prompt in prompts}
    clear = [prompt for prompt in prompts if expected[prompt][1] > CLEAR]
    for device in ("cpu", "gpu"):
        visit.compute_by(device)
        assert visit.text("problem") == ""
        for prompt in clear:
            assert visit.write(prompt, tokens) == expected[prompt][0], f"{device}, {prompt!r}"
    assert visit.said == []
    return len(clear)


def test_a_trained_model_writes_what_python_writes(visit, page, trained):
    shown = visit(page)
    shown.open(gpu=True)
    assert compare(shown, trained, STORIES, 20) >= 3
    assert "swiftshader" in shown.text("why") or "computes." in shown.text("why")
    assert "166,656 parameters in float32, 2 layers, trained for 50 steps on stories" in shown.text("facts")


def test_float16_weights_write_what_python_writes_with_rounded_ones(visit, trained, tmp_path):
    shown = visit(export(trained, tmp_path / "half", dtype="float16"))
    shown.open(gpu=True)
    assert compare(shown, trained, STORIES[:2], 10, rounded="float16") >= 1


def test_a_model_that_was_taught_to_answer_is_asked(visit, tmp_path):
    turned = chat.with_turns(tokenizer())
    config = GPTConfig(**CONFIGS["rope"])
    shown = visit(export(save(tmp_path / "run", config, turned), tmp_path / "page"))
    shown.open()
    assert shown.text("write") == "Ask" and shown.text("asked").startswith("Ask for a story")
    assert "brave hedgehog" in shown.page.locator("#prompt").input_value()
    model = load(tmp_path / "run")[0]
    with no_grad():
        logits = model(np.array([chat.prompt_ids(turned, "the cat")])).numpy()[0, -1, : turned.vocab_size]  # (V)
    assert shown.write("the cat", 1) == [int(logits.argmax())]
    assert shown.text("text").startswith("the cat\n")


@pytest.mark.parametrize("to", quantised.FORMATS)
def test_quantised_weights_write_what_python_writes_with_them(visit, trained, tmp_path, to):
    shown = visit(export(trained, tmp_path / "small", dtype=to))
    shown.open(gpu=True)
    assert compare(shown, trained, STORIES, 20, to) >= 3
    assert f"166,656 parameters in {to}, 2 layers" in shown.text("facts")


@pytest.mark.parametrize("to", quantised.FORMATS)
@pytest.mark.parametrize("config", ["learned positions", "modern"])
def test_quantised_rows_of_any_length(visit, tmp_path, config, to):
    """24 and 37 weights in a row, neither whole groups nor, in 8 bits, whole words."""
    saved = save(tmp_path / "run", GPTConfig(**CONFIGS[config]), tokenizer())
    shown = visit(export(saved, tmp_path / "page", dtype=to))
    shown.open(gpu=True)
    assert compare(shown, saved, PROMPTS, 14, to) >= 2


@pytest.mark.parametrize("config", ["learned positions", "modern"])
def test_both_ways_write_the_same_beyond_the_context(visit, tmp_path, config):
    saved = save(tmp_path / "run", GPTConfig(**CONFIGS[config]), tokenizer())
    shown = visit(export(saved, tmp_path / "page"))
    shown.open(gpu=True)
    assert compare(shown, saved, PROMPTS, 14) >= 2


COMPUTE = """async (parts) => {
  const [{loadGpuModel}, {fetchDescription, fetchWeights}, {findAdapter}] =
    await Promise.all(['./gpu.js', './files.js', './adapter.js'].map((name) => import(name)));
  const description = await fetchDescription();
  const weights = await fetchWeights(description, () => {});
  const model = await loadGpuModel(description.config, weights, (await findAdapter()).adapter, () => {});
  const logits = [];
  for (const again of [0, 1]) {
    model.forget();
    for (const part of parts) logits.push([...(await model.read(part))]);
  }
  model.close();
  return logits;
}"""


@pytest.mark.parametrize("config", CONFIGS)
def test_webgpu_computes_the_same_logits(visit, tmp_path, config):
    """Many tokens at once and one by one, after each other, and again from the start."""
    saved = save(tmp_path / "run", GPTConfig(**CONFIGS[config]), tokenizer())
    shown = visit(export(saved, tmp_path / "page"))
    shown.open(gpu=True)
    parts = [
        [5, 250, 7, 0, 3, 8, 8, 1, 77, 9, 200, 6, 5, 4, 3, 2, 1],
        [9],
        [28],
        [1, 2, 3],
    ]  # 17: more than a group's queries
    said = shown.page.evaluate(COMPUTE, parts)
    with no_grad():
        logits = load(saved)[0](np.array([[id for part in parts for id in part]])).numpy()[0]  # (T, V)
    expected = logits[np.cumsum([len(part) for part in parts]) - 1]
    np.testing.assert_allclose(said, [*expected, *expected], atol=1e-4 * np.abs(logits).max())
    assert shown.said == []


# What goes wrong


@pytest.mark.parametrize(
    ("name", "damage", "sentence"),
    [
        ("weights.safetensors", lambda content: content[:-100], "weights.safetensors is damaged: it has"),
        ("weights.safetensors", lambda content: content + b"more", "weights.safetensors is damaged: it has"),
        (
            "weights.safetensors",
            lambda content: content[:-1] + b"\x55",
            "weights.safetensors is damaged: its checksum does not fit",
        ),
        ("weights.safetensors", lambda content: None, "weights.safetensors is not there (404"),
        ("tokenizer.json", lambda content: content.replace(b"merges", b"marges"), "tokenizer.json is damaged"),
        ("model.json", lambda content: content[:50], "model.json is damaged, or of another version"),
        (
            "model.json",
            lambda content: content.replace(b"page 1", b"page 0"),
            "model.json is damaged, or of another version",
        ),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_damaged_file_shows_a_sentence(visit, tiny, tmp_path, name, damage, sentence, device):
    shutil.copytree(tiny, tmp_path / "page")
    path = tmp_path / "page" / name
    content = damage(path.read_bytes())
    path.unlink() if content is None else path.write_bytes(content)
    shown = visit(tmp_path / "page")
    if device == "gpu":  # as with a real GPU, which is taken without being chosen
        shown.page.add_init_script("Object.defineProperty(GPUAdapterInfo.prototype, 'isFallbackAdapter', {value: false});"
                                   "for (const name of ['vendor', 'architecture', 'device', 'description'])"
                                   "Object.defineProperty(GPUAdapterInfo.prototype, name, {value: 'real'});")  # fmt: skip
    shown.open()
    assert shown.text("problem").startswith(sentence) and "course export" in shown.text("problem")
    assert shown.page.locator("#write").is_disabled() and shown.text("status") == ""
    assert all("404" in line for line in shown.said)


def test_without_webgpu_the_processor_computes_and_the_page_says_so(visit, tiny):
    shown = visit(tiny)
    shown.page.add_init_script("Object.defineProperty(Navigator.prototype, 'gpu', {value: undefined})")
    shown.open()
    assert shown.text("why") == "The processor computes, in plain JavaScript. This browser has no WebGPU."
    assert len(shown.write("the cat", 10)) == 10 and shown.said == []


def test_a_gpu_that_is_lost_is_replaced_by_the_processor(visit, tiny):
    shown = visit(tiny)
    shown.page.add_init_script(
        """const request = GPUAdapter.prototype.requestDevice;
        GPUAdapter.prototype.requestDevice = async function (...wanted) {
          const device = await request.apply(this, wanted);
          Object.defineProperty(device, 'lost', {value: new Promise((resolve) => (globalThis.lose = resolve))});
          return device;
        };"""
    )
    shown.open(gpu=True)
    shown.compute_by("gpu")
    assert len(shown.write("the cat", 3)) == 3
    shown.page.evaluate("() => globalThis.lose({reason: 'unknown', message: 'the cable came off'})")
    shown.page.get_by_text("The GPU was lost: the cable came off. The processor goes on.").wait_for()
    shown.page.locator("#write:enabled").wait_for()
    assert shown.page.locator("#device").input_value() == "cpu"
    assert len(shown.write("the cat", 10)) == 10 and shown.said == []


def test_a_kernel_that_does_not_compile_is_named(visit, tiny, tmp_path):
    shutil.copytree(tiny, tmp_path / "page")
    kernel = tmp_path / "page/kernels/gemm.wgsl"
    kernel.write_text(kernel.read_text().replace("sums[0] += column.x * row;", "sums[0] += no_such_thing;"))
    shown = visit(tmp_path / "page")
    shown.open(gpu=True)
    shown.compute_by("gpu")
    shown.page.locator("#write:enabled").wait_for()
    problem = shown.text("problem")
    line = 1 + kernel.read_text()[: kernel.read_text().index("no_such_thing")].count("\n")
    assert (
        f"does not compile gemm of gemm.wgsl: kernels/gemm.wgsl, line {line}: " in problem
        and "no_such_thing" in problem
    )
    assert problem.endswith("The processor goes on.") and len(shown.write("the cat", 5)) == 5


def test_opened_as_a_file_it_says_what_to_do(chromium, tiny):
    page = chromium.new_page()
    page.goto(f"file://{tiny}/index.html")
    later = page.locator(".later")
    later.wait_for(timeout=PATIENCE)
    assert "opened as a file" in later.inner_text() and "course serve" in later.inner_text()
    page.close()


# How it behaves


def test_stop_and_what_was_written_stays(visit, tiny):
    shown = visit(tiny)
    shown.open()
    shown.page.fill("#prompt", "the cat")
    shown.page.fill("#tokens", "5000")
    shown.page.locator("#temperature").fill("0")  # this model then never ends
    shown.page.locator("#write").press("Enter")
    shown.page.locator("#token20").wait_for()
    assert shown.text("status") == "Writing." and shown.page.locator("#write").is_disabled()
    shown.page.keyboard.press("Enter")  # the focus went to the button that can be pressed now
    shown.settled()
    assert shown.page.evaluate("() => document.activeElement.id") == "write"
    count = shown.page.locator("#text [data-id]").count()
    assert shown.text("status") == f"Stopped: {count} tokens." and 20 < count < 5000
    assert "tokens a second" in shown.text("pace")
    assert len(shown.write("the cat", 5)) == 5 and shown.said == []  # and it writes again, from the start


def test_each_token_shows_its_probabilities_to_pointer_and_keyboard(visit, page):
    shown = visit(page)
    shown.open()
    ids = shown.write("Once upon a time", 20)
    rows = shown.page.locator("#chances li")
    assert rows.count() == 8
    shown.page.locator("#prompt").focus()
    for _ in range(20):  # by the keyboard alone
        shown.page.keyboard.press("Tab")
        if shown.page.evaluate("() => document.activeElement.id") == "text":
            break
    shown.page.keyboard.press("Home")
    for place in range(3):
        chosen = shown.page.locator('#text [aria-selected="true"]')
        assert int(chosen.get_attribute("data-id")) == ids[place]
        assert shown.page.locator("#text").get_attribute("aria-activedescendant") == f"token{place}"
        assert shown.text("chancesof") == f"What could have come as token {place + 1}"
        shares = [
            float(text.split()[-2 if "(taken)" not in text else -3].lstrip("<")) for text in rows.all_inner_texts()
        ]
        assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 100.5
        assert "(taken)" in rows.first.inner_text()  # at temperature 0 the likeliest
        shown.page.keyboard.press("ArrowRight")
    shown.page.locator("#token7").hover()
    assert shown.text("chancesof") == "What could have come as token 8"
    assert shown.said == []


def test_screen_readers_hear_whole_sentences(visit, page):
    shown = visit(page)
    shown.open()
    shown.write("Once upon a time", 60)
    spoken = shown.page.locator("#spoken")
    assert spoken.get_attribute("aria-live") == "polite"
    heard = spoken.evaluate("box => [...box.children].map((line) => line.textContent)")
    text = (
        shown.page.locator("#text")
        .evaluate("box => box.textContent")
        .removeprefix("Once upon a time")
        .replace(" ■", "")
    )
    assert "".join(heard) == text and 1 <= len(heard) < 20
    for control in shown.page.locator("textarea, input, select").all():
        assert control.evaluate("one => one.labels.length") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1100])
def test_it_is_readable_light_and_dark_on_a_phone_and_on_a_desk(visit, page, scheme, width):
    shown = visit(page, viewport={"width": width, "height": 900}, color_scheme=scheme)
    shown.open()
    shown.write("Once upon a time", 60, temperature=1)
    shown.page.locator("#token1").hover()
    ratio, text = lowest_contrast(shown.page.locator("body"))
    assert ratio >= 4.5 or text in ("Stop",), f"contrast {ratio:.1f} at {text!r}"  # a switched-off button may be pale
    assert shown.page.evaluate("() => document.documentElement.scrollWidth") <= width
    small = shown.page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, textarea')]
          .filter((one) => one.offsetHeight < 40).map((one) => one.id)"""
    )
    assert small == []  # a thumb finds them
    shown.page.locator("#write").focus()
    shown.page.keyboard.press("Shift+Tab")
    shown.page.keyboard.press("Tab")
    outline = shown.page.locator("#write").evaluate("one => getComputedStyle(one).outlineWidth")
    assert outline == "3px"
    if folder := os.environ.get("COURSE_SCREENSHOTS"):
        shown.page.screenshot(path=f"{folder}/web-{scheme}-{width}.png", full_page=True)


def test_the_page_asks_no_other_host_and_runs_no_foreign_code(visit, tiny):
    shown = visit(tiny)
    shown.open()
    blocked = shown.page.evaluate(
        """() => new Promise((resolve) => {
          document.addEventListener('securitypolicyviolation', (event) => resolve(event.blockedURI), {once: true});
          fetch('http://localhost:9/').catch(() => {});
        })"""
    )
    assert blocked.startswith("http://localhost:9")
    assert json.loads((tiny / "model.json").read_text())["format"] == "course page 1"
