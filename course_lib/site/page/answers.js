// The reader's answers, in this browser: what was written last, and what of it passed. As files they have the names of
// exercises/mine/answers, so that a folder of the installed course can be taken in here, and the other way round.
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";

const SUFFIX = { cuda: "cu", wgsl: "wgsl", python: "py" };
const FILE = /(?:^|\/)(\w+)\.(cu|wgsl|py)$/;

// Several courses may be served from one host: the path of the site is part of each key.
const prefix = (root) => `course ${new URL(root).pathname} `;

export function load(root, name) {
  try { return JSON.parse(localStorage.getItem(prefix(root) + name)) ?? {}; } catch { return {}; }
}

// Returns whether it could be kept: a private window may have no room.
export function save(root, name, answer) {
  try { localStorage.setItem(prefix(root) + name, JSON.stringify(answer)); return true; } catch { return false; }
}

export function forget(root, name) {
  try { localStorage.removeItem(prefix(root) + name); } catch { /* then there is nothing */ }
}

export function all(root) {
  const start = prefix(root), found = {};
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(start)) found[key.slice(start.length)] = load(root, key.slice(start.length));
  } catch { /* then there is nothing */ }
  return found;
}

export function zip(root) {
  const files = {};
  for (const [name, { text, language }] of Object.entries(all(root)))
    if (text !== undefined && SUFFIX[language]) files[`answers/${name}.${SUFFIX[language]}`] = strToU8(text.replace(/\n*$/, "\n"));
  return zipSync(files);
}

// Takes files of answers, or a .zip of them; returns [names taken, names of files that are none].
export async function take(root, files) {
  const taken = [], refused = [];
  const one = (path, bytes) => {
    const [, name, suffix] = FILE.exec(path) ?? [];
    if (!name || /(^|\/)tries\//.test(path)) { if (!path.endsWith("/")) refused.push(path); return; }
    const language = Object.keys(SUFFIX).find((key) => SUFFIX[key] === suffix);
    const text = strFromU8(bytes);
    const kept = load(root, name);
    if (!save(root, name, { ...kept, text, language, passed: kept.text === text && kept.passed })) throw new Error("This browser keeps nothing here: it may be a private window, or full.");
    taken.push(name);
  };
  for (const file of files) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (!file.name.endsWith(".zip")) { one(file.name, bytes); continue; }
    let inside;
    try { inside = unzipSync(bytes); } catch { refused.push(file.name); continue; }
    for (const [path, content] of Object.entries(inside)) one(path, content);
  }
  return [taken, refused];
}
