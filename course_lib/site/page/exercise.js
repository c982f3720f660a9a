// An exercise that was touched: editor, buttons, verdict, hints. The same box holds the kernel of the first screen and of free play.
import * as answers from "./answers.js";
import { button, element } from "./elements.js";
import { editor } from "./editor.js";
import { engineOf, progressIn, shadersOf } from "./engine.js";
import { first } from "./first.js";
import { play } from "./play.js";
import { playButton } from "./player.js";
import { failure, verdict } from "./verdict.js";

const RUNS = {
  async exercise(engine, name, text) {
    const judged = await engine.judge(name, text), shown = verdict(judged, "Passed.");
    return judged.passed || judged.compileErrors?.length ? shown : { ...shown, play: (engine) => engine.play(name, text, judged.case) };
  },
  first, play,
};

// A newline at the end would be an empty line with a number.
const withoutEnd = (text) => text.replace(/\n+$/, "");

export async function open(box, kind, root) {
  const { exercise: name, language = "cuda" } = box.dataset, load = language === "wgsl" ? shadersOf : engineOf;
  const place = box.querySelector(".exercise-text"), blank = withoutEnd(place.textContent);
  const bar = box.querySelector(".exercise-bar"), run = bar.querySelector(".go");
  const kept = name ? answers.load(root, name) : {};
  const result = element("div", { class: "exercise-result", role: "status", "aria-live": "polite" });
  const stopping = button("Stop", () => stop());
  const note = element("span", { class: "exercise-state" });
  let running = false, stopped = false, hints = kept.hints ?? 0, judged, passed = Boolean(kept.passed);

  place.replaceChildren();
  const text = editor(place, withoutEnd(kept.text ?? blank), box.getAttribute("aria-label"), language, { run: () => start(), changed: () => { text.mark([]); keep(); } });
  stopping.hidden = true;
  bar.append(stopping, button("Start again", () => reset()), note);
  box.append(result);
  run.addEventListener("click", () => start());
  place.addEventListener("focusin", () => warm(), { once: true });
  state();
  if (kept.hints) showHints();

  // The compiler begins to load now; how far it is stands in the box.
  function warm() {
    const ready = load(root).then((engine) => engine.ready());
    progressIn(box, ready);
    ready.catch((error) => { if (!running) result.replaceChildren(failure(error.message)); });
  }

  async function start() {
    if (running) return;
    running = true; stopped = false;
    run.disabled = true; stopping.hidden = false;
    result.replaceChildren(element("p", {}, "Running …"));
    text.mark([]);
    try {
      const engine = await load(root);
      progressIn(box, engine.ready());
      const shown = await RUNS[kind](engine, name, text.text());
      judged = shown.judged;
      result.replaceChildren(shown.box);
      if (shown.play && language === "cuda") shown.box.append(playButton(load, root, shown.play));
      text.mark(shown.marks);
      for (const link of result.querySelectorAll("[data-line]")) link.addEventListener("click", () => text.show(Number(link.dataset.line)));
      passed ||= judged.passed && kind !== "play"; // the last that passed counts; free play has nothing to pass
      keep();
      if (name && !judged.passed) showHints();
    } catch (error) {
      result.replaceChildren(failure(stopped ? "Stopped. Your text is kept." : error.message));
    } finally {
      running = false;
      run.disabled = false; stopping.hidden = true;
      state();
    }
  }

  async function stop() {
    stopped = true;
    (await load(root)).stop();
  }

  function keep() {
    const now = text.text();
    if (!name || (now === blank && answers.load(root, name).text === undefined)) return;
    if (!answers.save(root, name, { text: now, language, hints, passed })) note.textContent = "This browser keeps nothing: copy what you want to keep.";
  }

  function state() {
    note.textContent = passed ? "passed" : "";
    box.classList.toggle("passed", passed);
  }

  function reset() {
    if (text.text() !== blank && !confirm("Put the blank back in the place of what you wrote?")) return;
    text.set(blank);
    if (name) answers.forget(root, name);
    passed = false; hints = 0; judged = undefined;
    result.replaceChildren();
    state();
  }

  function showHints() {
    const all = judged?.hints ?? [];
    const list = element("div", { class: "hints" });
    const more = button("", () => { hints += 1; keep(); draw(); });
    const draw = () => {
      list.replaceChildren(...all.slice(0, hints).map((hint, number) => element("p", {}, element("b", {}, `Hint ${number + 1} `), hint)));
      more.textContent = hints ? "Next hint" : "Hint";
      if (hints < all.length) list.append(more);
    };
    draw();
    if (all.length) result.append(list);
  }

  return { run: start, focus: (at) => text.focus(at) };
}
