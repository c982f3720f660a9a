// The page about what this browser keeps: how much, answers in and out as files, and buttons that erase.
import * as answers from "./answers.js";
import { button, element } from "./elements.js";

export async function show(box, root) {
  const said = element("p", { role: "status" });
  const refresh = async () => box.replaceChildren(...(await content(root, refresh, (text) => { said.textContent = text; })), said);
  await refresh();
}

async function content(root, refresh, say) {
  const kept = Object.entries(answers.all(root)).filter(([, answer]) => answer.text !== undefined);
  const passed = kept.filter(([, answer]) => answer.passed).length;
  const pages = await files(root);
  const act = (what) => async () => {
    const done = await Promise.resolve().then(what).catch((error) => error.message);
    await refresh();
    say(done ?? "");
  };

  const choose = element("input", { type: "file", id: "take", multiple: "", accept: ".zip,.cu,.wgsl,.py" });
  choose.addEventListener("change", act(async () => {
    const [taken, refused] = await answers.take(root, choose.files);
    const not = refused.length ? ` Not taken, since they are no answers: ${refused.join(", ")}.` : "";
    return `${taken.length === 1 ? "1 answer was" : `${taken.length} answers were`} taken.${not}`;
  }));
  return [
    element("h2", {}, "Your answers"),
    element("p", {}, kept.length ? `${kept.length} kept, ${passed} of them passed: ` : "None so far.", ...listed(kept, await places(root), root)),
    element("p", {}, button("Save as files", () => download(answers.zip(root)), !kept.length), " ",
      button("Erase the answers", act(async () => {
        if (!confirm(`Erase ${kept.length} answers? They cannot be brought back.`)) return "";
        for (const name of Object.keys(answers.all(root))) answers.forget(root, name);
        return "The answers are erased.";
      }), !kept.length)),
    element("p", {}, element("label", { for: "take" }, "Take answers from files (.cu, .wgsl, .py, or a .zip of them): "), choose),
    element("p", {}, "The files are those of ", element("code", {}, "exercises/mine/answers"), " in the installed course."),
    element("h2", {}, "The site"),
    element("p", {}, pages.count ? `${pages.count} files are kept, ${(pages.bytes / 1e6).toFixed(1)} MB, so that the course can be read without a network. ` +
      (pages.compiler ? "The compiler is among them." : "The compiler is not among them yet.") : "No files are kept: this browser does not offer that here, or they were erased."),
    element("p", {}, button("Keep everything, the compiler too", act(keepAll)), " ", button("Erase the site's files", act(() => erase(root)), !pages.count)),
  ];
}

function listed(kept, where, root) {
  return kept.sort().flatMap(([name, answer], index) => [index ? ", " : "",
    where[name] ? element("a", { href: new URL(where[name], root).href }, name) : name, answer.passed ? " ✓" : ""]);
}

async function places(root) {
  try { return await (await fetch(new URL("exercises.json", root))).json(); } catch { return {}; }
}

async function files(root) {
  const found = { count: 0, bytes: 0, compiler: false };
  if (!globalThis.caches) return found;
  const start = new URL("kept/", root).href;
  const cache = await caches.open("course-site " + new URL(root).pathname);
  for (const request of await cache.keys()) {
    if (!request.url.startsWith(start)) continue;
    found.count += 1;
    found.bytes += (await (await cache.match(request)).blob()).size;
    if (/\/engine\/.*\.wasm/.test(request.url)) found.compiler = true;
  }
  return found;
}

async function keepAll() {
  const worker = (await navigator.serviceWorker?.getRegistration())?.active;
  if (!worker) throw new Error("This browser does not offer it here.");
  const said = await new Promise((resolve) => {
    navigator.serviceWorker.addEventListener("message", ({ data }) => resolve(data), { once: true });
    navigator.serviceWorker.startMessages();
    worker.postMessage("fill all");
  });
  return said === "filled" ? "All of it is kept." : `Not all could be kept: ${said}`;
}

async function erase(root) {
  for (const one of await navigator.serviceWorker?.getRegistrations() ?? []) if (one.scope === root.href) await one.unregister();
  await caches.delete("course-site " + new URL(root).pathname);
  return "The site's files are erased. The next page that you open keeps them again.";
}

function download(bytes) {
  const link = element("a", { href: URL.createObjectURL(new Blob([bytes], { type: "application/zip" })), download: "answers.zip" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
