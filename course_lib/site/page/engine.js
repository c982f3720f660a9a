// The engine that compiles and judges CUDA C++, one for the page: loaded when an editor is first touched.

let engine, listeners = new Set(), last;

export function engineOf(root) {
  const base = new URL("engine/", root).href;
  engine ??= import(`${base}engine.mjs`).then(({ Engine }) => new Engine({ base, onProgress }), (error) => {
    engine = undefined; // the network may come back
    throw new Error(`The compiler could not be loaded: ${error.message}`);
  });
  return engine;
}

// What runs WGSL: small, and without a compiler of ours.
export const shadersOf = (root) => import(new URL("engine/shaders.mjs", root).href).then(({ shaders }) => shaders);

function onProgress(progress) {
  last = progress;
  for (const one of listeners) one(progress);
}

// Shows how the compiler loads, in a box, until `ready` settles.
export function progressIn(box, ready) {
  const line = document.createElement("div"), bar = document.createElement("progress"), words = document.createElement("span");
  line.className = "loading";
  bar.setAttribute("aria-label", "Loading the compiler");
  line.append(bar, words);
  words.textContent = "Loading the compiler …";
  const show = ({ what, done, total, secondsLeft }) => {
    if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
    const left = secondsLeft > 0 ? `, ${duration(secondsLeft)} left` : "";
    const size = total > 1e5 ? ` ${(done / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} MB` : "";
    words.textContent = `${what}${size}${left}`;
  };
  const timer = setTimeout(() => { box.append(line); if (last) show(last); }, 150); // not where it is there at once
  listeners.add(show);
  const end = () => { clearTimeout(timer); listeners.delete(show); line.remove(); };
  ready.then(end, end);
}

function duration(seconds) {
  return seconds < 90 ? `about ${Math.ceil(seconds)} s` : `about ${Math.ceil(seconds / 60)} minutes`;
}
