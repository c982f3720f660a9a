// What every page loads: it is small, and brings the rest when it is wanted.
//
// An exercise is a coloured text in the page. The first touch, by pointer or by key, or a press of a button loads the editor;
// the compiler follows while the reader types.
import { glossary } from "./glossary.js";
import { keepOffline } from "./offline.js";

export const ROOT = new URL(document.documentElement.dataset.content_root || "./", location.href);

for (const box of document.querySelectorAll(".exercise")) prepare(box);
const storage = document.querySelector("[data-storage]");
if (storage) import("./storage.js").then(({ show }) => show(storage, ROOT));
tables();
glossary(ROOT);
keepOffline(ROOT);

function prepare(box) {
  const kind = "first" in box.dataset ? "first" : "play" in box.dataset ? "play" : "exercise";
  const { language } = box.dataset;
  if (kind === "exercise" && (language === "python" || (language === "wgsl" && !navigator.gpu))) {
    const note = document.createElement("p");
    note.className = "exercise-note";
    note.append(`${language === "wgsl" ? "In WGSL, which your browser does not run here (it has no WebGPU)" : "In Python"}, so it is judged where the course is installed: `, code("make lab"), ", then this cell in JupyterLab, or ",
      code(`.venv/bin/course check ${box.dataset.exercise}`), " in a terminal.");
    box.append(note);
    return;
  }
  const bar = document.createElement("div");
  bar.className = "exercise-bar";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "go";
  button.textContent = kind === "exercise" ? "Check" : "Run";
  bar.append(button);
  box.append(bar);
  const text = box.querySelector(".exercise-text");
  let opened;
  const open = (then, at) => {
    opened ??= import("./exercise.js").then(({ open }) => open(box, kind, ROOT));
    opened.then((exercise) => exercise[then]?.(at), (error) => { opened = undefined; failed(box, error); });
  };
  // The pointer that comes near loads the editor, the one that presses puts the cursor where it is and loads the compiler.
  text.addEventListener("pointerenter", () => open(), { once: true });
  text.addEventListener("click", (event) => open("focus", { x: event.clientX, y: event.clientY }), { once: true });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); open("focus"); }
  });
  button.addEventListener("click", () => open("run"), { once: true });
}

function failed(box, error) {
  const note = document.createElement("p");
  note.setAttribute("role", "alert");
  note.textContent = `The editor could not be loaded (${error.message}). Reload the page, with a network if there is one.`;
  box.append(note);
}

function code(text) {
  const made = document.createElement("code");
  made.textContent = text;
  return made;
}

// What may scroll sideways must be reached by Tab.
function tables() {
  for (const one of document.querySelectorAll(".table-wrapper, .highlight pre, .output pre, .output.text_html"))
    if (one.scrollWidth > one.clientWidth + 1 && !one.hasAttribute("tabindex")) {
      one.tabIndex = 0;
      if (!one.hasAttribute("role")) { one.setAttribute("role", "region"); one.setAttribute("aria-label", "scrolls sideways"); }
    }
}
