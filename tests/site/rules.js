// axe over a page, without the parts that are made as a part before was, here or on an earlier page: of those one is looked at.
//
// Made alike: the same tags, classes, roles, styles and names of attributes, holding the same kinds of parts, with text or without,
// on the same backgrounds, with the same colours in light and in dark, and both too wide for their place or both not. What points
// at another part by its id is looked at each time, as is what concerns a page as a whole.

const KEPT = "looked at", COLOURS = "colours", POINTS = ["for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "headers"];
const FREE = /^(href|src|alt|title|aria-label|content|value|d|x|y|points|transform|viewBox|width|height)$/; // with any value
const HOLDS = "body, div, section, article, main, aside, nav, header, footer, ul, ol, blockquote"; // what a part may be taken out of

// A coloured word of a program looks like all others of its class; a page has some thousand.
function oneWordOfEach() {
  const seen = new Set();
  for (const pre of document.querySelectorAll(".highlight pre")) {
    const { backgroundColor } = getComputedStyle(pre);
    for (const word of pre.querySelectorAll("span")) {
      const kind = `${word.parentElement.className} ${word.className} ${backgroundColor}`;
      if (seen.has(kind)) word.replaceWith(...word.childNodes); else seen.add(kind);
    }
  }
}

oneWordOfEach();
const all = [...document.documentElement.querySelectorAll("*")], looks = new Map(all.map((one) => [one, ""])), texts = [];

// Note the colours as they are now, light or dark.
function look() {
  const behind = new Map([[document.documentElement, ""]]);
  for (const one of all) {
    const { color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight, textShadow, display, visibility } = getComputedStyle(one);
    const own = [backgroundColor === "rgba(0, 0, 0, 0)" ? "" : backgroundColor, backgroundImage === "none" ? "" : backgroundImage, opacity === "1" ? "" : opacity];
    behind.set(one, behind.get(one.parentElement) + own.join(""));
    looks.set(one, `${looks.get(one)}|${[color, fontSize, fontWeight, textShadow, display, visibility, behind.get(one)]}`);
  }
}

// Take the parts out that are known, the largest first, and note what is new.
function takeOut() {
  const known = new Map(JSON.parse(sessionStorage.getItem(KEPT) ?? "[]")), before = known.size, kinds = new Map(), here = new Set();
  const aims = new Set(POINTS.flatMap((name) => all.flatMap((one) => one.getAttribute(name)?.split(/\s+/) ?? [])));
  for (const one of all.toReversed()) { // a part before what holds it
    const alone = aims.has(one.id) || POINTS.some((name) => one.hasAttribute(name));
    const attributes = [...one.attributes].filter(({ name }) => name !== "id" && name !== "data-exercise")
      .map(({ name, value }) => (FREE.test(name) ? `${name} ${value.trim() === ""}` : `${name}=${value}`));
    const parts = new Set([...one.childNodes].map((node) => kinds.get(node) ?? (node.nodeType === 3 && node.data.trim() ? "text" : "")));
    const made = [one.localName, ...attributes, looks.get(one), ...[...parts].sort(), one.scrollWidth > one.clientWidth, alone ? `${location} ${kinds.size}` : ""].join(" ");
    if (!known.has(made)) known.set(made, known.size);
    kinds.set(one, known.get(made));
  }
  sessionStorage.setItem(KEPT, JSON.stringify([...known]));
  const walk = (one) => {
    const kind = kinds.get(one);
    if (kind < before || here.has(kind)) return one.remove();
    here.add(kind);
    if (one.matches(HOLDS)) [...one.children].forEach(walk);
  };
  walk(document.body);
  const seen = new Set(JSON.parse(sessionStorage.getItem(COLOURS) ?? "[]"));
  for (const one of all) {
    const isText = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!isText || seen.has(looks.get(one)) || !one.isConnected || !one.checkVisibility({ visibilityProperty: true })) continue;
    seen.add(looks.get(one));
    texts.push(one);
  }
  sessionStorage.setItem(COLOURS, JSON.stringify([...seen]));
}

// What is left breaks of these rules, as it is shown now.
const complaints = (runOnly) => broken(document, runOnly);

// Of contrast alone, in colours that no text had before.
const pale = async () => (texts.length ? broken({ include: texts }, ["color-contrast"]) : []);

async function broken(where, runOnly) {
  const { violations } = await axe.run(where, { runOnly, resultTypes: ["violations"], preload: false });
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 150)}`));
}

globalThis.rules = { look, takeOut, complaints, pale };
